"""Attaches to the browser in which a person lives, and shares tabs of it, for the account's owner alone."""

from dataclasses import dataclass

import structlog

from browser_service.clients.inbox import HumanInbox
from browser_service.host.seam import PersonsBrowser
from browser_service.security.auth import Identity
from browser_service.sessions.lifecycle import SessionLifecycle
from shared.attached import AttachmentState, AttachTarget, PersonTab, TabShare
from shared.pages import PageState

log = structlog.get_logger(__name__)


@dataclass(eq=False)
class Attached:
    """The one place that the routes, the wall, the command line and the extension ask. Whoever calls it has checked
    that the caller is the account's owner."""

    browser: PersonsBrowser
    lifecycle: SessionLifecycle
    requests: HumanInbox

    async def attach(self, target: AttachTarget) -> AttachmentState:
        return await self.browser.attach(target)

    async def detach(self) -> AttachmentState:
        return await self.browser.detach()

    async def state(self) -> AttachmentState:
        return await self.browser.attachment()

    async def tabs(self) -> list[PersonTab]:
        return await self.browser.tabs()

    async def share(self, share: TabShare, by: Identity) -> PageState:
        """Share a tab. One that an agent asked for is for that agent alone."""
        if share.request_id is not None:
            asked = self.requests.asking_for_tab(share.request_id)
            share = share.model_copy(update={"client_id": asked.asker_id, "label": asked.holder_label})
        page = await self.browser.share_tab(share)
        await self.requests.on_answered()
        log.info("a person shared a tab", page=page.page_id, access=share.access, by=by.label)
        return page

    async def unshare(self, tab_id: str, by: Identity) -> None:
        await self.browser.unshare_tab(tab_id)
        log.info("a person took a tab back", by=by.label)
