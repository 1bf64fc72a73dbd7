"""Attaches to the browser in which a person lives, and shares tabs of it, for the account's owner alone."""

import asyncio
import re
import secrets
import unicodedata
from dataclasses import dataclass, field
from typing import Final

import structlog

from browse_together.contract import catalogue
from browse_together.contract.attached import AttachmentState, AttachTarget, PersonTab, TabShare, is_stand_in
from browse_together.contract.background import Background
from browse_together.contract.calls import Notice, Outcome
from browse_together.contract.errors import InvalidRequest, ValidationFailed, field_details
from browse_together.contract.installation import command
from browse_together.contract.model import Json
from browse_together.contract.pages import PageState
from browse_together.contract.wire import ATTACHED_SESSION, DEFAULT_SESSION, RESERVED_IDS
from browser_service.clients.inbox import HumanInbox
from browser_service.clients.names import Names
from browser_service.clients.presence import Clients
from browser_service.host.seam import PersonsBrowser
from browser_service.observability.activity import Activity
from browser_service.security.auth import Identity
from browser_service.sessions.lifecycle import SessionLifecycle

log = structlog.get_logger(__name__)


_WORDS: Final = 4
_CHARACTERS: Final = 30
_UNTITLED: Final = "shared"
"""What a tab without a title is called."""


def name_of(title: str) -> str:
    """Return what a tab with this title is called: its first words, as far as they are letters and digits of ASCII."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode()
    words, name = re.findall(r"[a-z0-9]+", plain.lower())[:_WORDS], ""
    for word in words:
        name = name if len(f"{name}-{word}") > _CHARACTERS else f"{name}-{word}".strip("-")
    name = name or "".join(words)[:_CHARACTERS]
    is_ours = is_stand_in(name) or name in {*RESERVED_IDS, DEFAULT_SESSION, ATTACHED_SESSION}
    return f"{_UNTITLED}-{name}" if is_ours else name or _UNTITLED


@dataclass(eq=False)
class Attached:
    """The one place that the routes, the wall, the command line and the extension ask. Whoever calls it has checked
    that the caller is the account's owner."""

    browser: PersonsBrowser
    lifecycle: SessionLifecycle
    requests: HumanInbox
    clients: Clients
    names: Names
    activity: Activity
    refusal: str
    """Why the settings let no other browser be attached to; empty if they do."""
    _taking: Background = field(default_factory=Background, init=False)

    async def begin(self, wanted: AttachTarget | None) -> None:
        """Take up what the settings name, else what was attached to before the restart. Nobody is asked yet."""
        former = {} if self.refusal else self.lifecycle.attached
        if wanted is not None and not self.refusal:
            others = {name: each for name, each in former.items() if not each.same_browser(wanted)}
            targets = {**others, wanted.session_id: wanted}
        else:
            targets = former
        for name, target in self.lifecycle.attached.items():
            if name not in targets or not target.same_browser(targets[name]):
                await self.lifecycle.detach(name)
        for target in targets.values():
            try:
                await self.lifecycle.attach(target)
                self.browser.choose(target)
            except InvalidRequest as error:
                log.warning("no browser is attached to", reason=error.message)

    async def attach(self, target: AttachTarget) -> AttachmentState:
        """Attach, to the same browser as before if none is named. Return how it stands: the browser may ask its person.

        Raises ValidationFailed, InvalidRequest, and BrowserLaunchFailed, which says why it cannot be attached to.
        """
        session_id, attached = target.session_id, self.lifecycle.attached
        former = attached.get(session_id)
        if self.refusal:
            raise InvalidRequest(self.refusal)
        if not (target.browser or target.profile_dir):
            if former is None:
                raise ValidationFailed(
                    "The request names no browser.", hint=command("attach", "chrome"), details=field_details("browser")
                )
            target = former.model_copy(update={"default": target.default or former.default})
        if other := next(
            (each for each in attached.values() if each is not former and each.same_browser(target)), None
        ):
            raise InvalidRequest(
                f"It is attached to already, as session {other.session_id!r}.",
                hint=f"First: {command('detach', other.session_id)}",
            )
        self.lifecycle.check_attachable(session_id)
        if former is not None and not former.same_browser(target):
            state = await self.state(session_id)
            if state.state in {"asking", "attached"}:
                beside = command("attach", *target.model_copy(update={"session_id": "NAME"}).arguments)
                raise InvalidRequest(
                    f"{state.browser} is attached to.", hint=f"First: {command('detach')}; or beside it: {beside}"
                )
            await self.detach(session_id)
        await self.browser.attach(target)
        await self.lifecycle.attach(target)
        return await self.state(session_id)

    async def detach(self, session_id: str = "") -> AttachmentState:
        """Close what agents opened in a person's browser, and let it go with all tabs of the person's as they are.
        Without a session it is the only one. Raises InvalidRequest, ValidationFailed."""
        if self.lifecycle.shared_attached_to is not None:
            raise InvalidRequest(
                "BROWSE_CDP_URL says which browser this service attaches to.",
                hint="Unset it, then restart the service.",
            )
        names = [*self.lifecycle.attached]
        if (session_id and session_id not in names) or (not session_id and len(names) > 1):
            raise ValidationFailed(
                f"The sessions of your browsers are: {', '.join(names) or 'none'}.",
                hint=f"Name one: {command('detach', names[0])}" if names else command("attach", "chrome"),
                details=field_details("sessionId"),
            )
        for name in [session_id] if session_id else names or [ATTACHED_SESSION]:
            await self.lifecycle.detach(name)
            await self.browser.detach(name)
        return AttachmentState()

    async def state(self, session_id: str) -> AttachmentState:
        return await self.browser.attachment(session_id)

    async def states(self) -> list[AttachmentState]:
        """Return how it stands with each browser of the person's that has a session."""
        return [await self.state(each) for each in self.lifecycle.directory.sessions.attached]

    async def put(self, agent: str, session_id: str) -> str:
        """Let a chat work in a browser of the person's, as they say, and tell it. Returns what was done, in words."""
        client_id, name = self.names.find(agent)
        await self.lifecycle.put(client_id, session_id)
        self.clients.on_presence()
        where = f"session {session_id}" if session_id else "where you began"
        text = f"The person chose where your new pages open: {where}. Those that you have stay where they are."
        self.clients.notify(client_id, Notice(text=text))
        return f"{name} works in {session_id} now." if session_id else f"{name} works where it began."

    async def tabs(self) -> list[PersonTab]:
        return await self.browser.tabs()

    async def share(self, share: TabShare, by: Identity) -> PageState:
        """Share a tab: with all agents, with the client that has this label or handle, or with the one that asked."""
        if share.request_id is not None:
            asked = self.requests.asking_for_tab(share.request_id)
            share = share.model_copy(update={"client_id": asked.asker_id, "label": asked.holder_label})
        elif share.label and share.client_id is None:
            client = self.clients.find(share.label, besides="")
            share = share.model_copy(update={"client_id": client.client_id, "label": client.label})
        share, directory = self._as_answer(share), self.lifecycle.directory
        stand_in = self.requests.asking_for_tab(share.request_id) if share.request_id is not None else None
        name = share.page_id or await self._name_for(share.tab_id)
        with directory.reserve(name, by.client_id):
            page = await self.browser.share_tab(share.model_copy(update={"page_id": name}))
        if stand_in is not None and stand_in.asker_id is not None:
            directory.note_given(stand_in.asker_id, stand_in.page_id, page.page_id)
        await self.requests.on_answered()
        access = share.access if share.client_id is None else "private"
        self._note(by, {"action": "share_page", "pageId": page.page_id, "access": access}, page)
        log.info("a person shared a tab", page=page.page_id, access=access, by=by.label)
        return page

    async def _name_for(self, tab_id: str) -> str:
        """Return a free name for a tab's page, made of its title."""
        found = next((tab for tab in await self.browser.tabs() if tab.tab_id == tab_id), PersonTab(tab_id=tab_id))
        return self.lifecycle.directory.new_name(found.session_id or DEFAULT_SESSION, name_of(found.title))

    def _as_answer(self, share: TabShare) -> TabShare:
        """Return the share as the answer to the one request for a tab that it meets, if a person did not say so."""
        asked = [
            page.person
            for page in self.requests.all_asking_for_tabs()
            if page.person is not None and share.client_id in {None, page.asker_id}
        ]
        if share.request_id is not None or len(asked) != 1:
            return share
        return share.model_copy(update={"request_id": asked[0].request_id})

    async def unshare(self, tab_id: str, by: Identity) -> None:
        """Take a tab back, even if who asked for it has gone meanwhile."""
        for page in await asyncio.shield(self._taking.spawn(self.browser.unshare_tab(tab_id))):
            self._note(by, {"action": "take_over", "pageId": page.page_id}, page)
            log.info("a person took a tab back", page=page.page_id, by=by.label)

    def _note(self, by: Identity, did: Json, page: PageState) -> None:
        """Record what a person did, as the call that comes nearest to it."""
        call_id = f"tab-{secrets.token_hex(6)}"
        self.activity.note(by, catalogue.parse(did), Outcome(call_id=call_id, page=page), call_id, 0)
