"""A page as one call sees it: all that an action's handler gets of the page."""

from collections.abc import Awaitable, Callable
from functools import cached_property
from typing import TYPE_CHECKING

from playwright.async_api import Page

from browse_together.contract.actions.base import Action
from browse_together.contract.model import Json
from browse_together.contract.named_secrets import NamedSecret
from browse_together.contract.pages import Access
from browser_service.host.calls import CallRun
from browser_service.host.elements.filled_fields import Field, Lasting
from browser_service.host.files import Files
from browser_service.host.handle.elements import Elements, lasting_selectors
from browser_service.host.handle.looks import Looks
from browser_service.host.tabs.observer import Observer
from browser_service.host.tabs.tab import Tab

if TYPE_CHECKING:
    from browser_service.host.pages.entry import PageEntry

PartRunner = Callable[["BrowserPage", Action], Awaitable[Json]]
"""The function that runs one action of a call that carries several."""


class BrowserPage:
    """A page as one call, or one part of it, sees it."""

    def __init__(
        self,
        entry: "PageEntry",
        run: CallRun,
        perform_part: PartRunner,
        *,
        reply_shares: int = 1,
        quiet: bool = False,
        is_last: bool = True,
        follows: bool = False,
    ) -> None:
        self._entry = entry
        self.call, self._run, self.perform_part = run.call, run, perform_part
        self.record, self.session, self.queue = entry.record, entry.session, entry.queue
        self.tab_life, self.recovery, self.settings = entry.tab_life, entry.recovery, entry.settings
        self.console, self.recorder, self.filled_fields = entry.console, entry.recorder, entry.filled_fields
        self.screencast, self.thumbnails = entry.screencast, entry.thumbnails
        self.dialogs = entry.common.dialogs
        self.human_requests, self.act_rules = entry.common.people, entry.common.limits.act_rules
        self.reply_shares = reply_shares
        """How many parts of a call share the room for text in its reply."""
        self.quiet = quiet
        """Further acts of the same call follow; the last one reports what all did to the page."""
        self.is_last = is_last
        """No further step of the same call follows: what it led to may be outlined."""
        self.follows = follows
        """Acts of the same call came before; their effects may still arrive."""
        self.files = Files(entry.common.artifacts, self.call, self.record.page_id, reply_shares)
        self.looks = Looks(self.record, self.call.client_id)

    def for_part(
        self, step: CallRun, perform_part: PartRunner, *, reply_shares: int, quiet: bool, is_last: bool, follows: bool
    ) -> "BrowserPage":
        """Return the page as one part of the call sees it."""
        place = {"quiet": quiet, "is_last": is_last, "follows": follows}
        return BrowserPage(self._entry, step, perform_part, reply_shares=reply_shares, **place)

    @property
    def came(self) -> list[str]:
        """Return where goes what appeared by the call."""
        return self._run.came

    def take_logins(self, logins: Json) -> None:
        """Note logins that the call took."""
        self._run.taken_logins.append(logins)

    @cached_property
    def elements(self) -> Elements:
        """Return the way to the page's elements."""
        return Elements(self.record, self.looks, self.screencast)

    @property
    def page_id(self) -> str:
        return self.record.page_id

    @property
    def observer(self) -> Observer:
        """Return the observer of the page's tab; without a tab, one that sees nothing."""
        return self.record.observer

    def pending(self, *, whole: bool = False) -> list[str]:
        """Return the URLs of the page's pending requests, without those that it repeats. With `whole`, a request is
        pending until its whole response is there."""
        polling = self.observer.polling
        waits = [
            sent for sent in self.settings.network.traffic.pending(whole=whole) if not polling.includes(sent.request)
        ]
        return [sent.url(self.call.client_id) for sent in waits]

    async def do(self, action: Action) -> Json:
        """Do an action that the call carries, and return its result."""
        return await self.perform_part(self, action)

    def tell(self, client_id: str, text: str) -> None:
        """Give a client a notice about the page."""
        self.record.tell(client_id, text)

    def set_access(self, access: Access) -> None:
        """Set what clients other than the holder may do with the page."""
        self.record.ownership.share(access)
        for notice in self.session.tracing.check_page(self.record):
            self.record.emit(notice)

    @property
    def playwright(self) -> Page:
        return self.record.open_tab.page

    @property
    def tab(self) -> Tab:
        """Return the tab behind the pageId. Raises BrowserCrashed if there is none."""
        return self.record.open_tab

    @property
    def url(self) -> str:
        """Return the page's URL as replies show it."""
        return self.record.open_tab.url

    def secret(self, name: str) -> NamedSecret:
        """Return a secret that the call names; the front sent it with the call."""
        return self.call.secrets[name]

    def remember_field(self, selector: str, frame: str | None, found: Field | None, *, strict: bool = True) -> None:
        """Remember what an act left in a field, so that it can be filled again if the page dies. FIELD read `found`."""
        if found is not None:
            if self.filled_fields.note(self.call.client_id, selector, frame, strict, found):
                self._run.secret_fields.append(selector)
            self.note_target(selector, frame, found["lasting"])

    def note_tool(self, takes: Json | None) -> None:
        """Note what a tool of the page that is about to be called has to take when it is called again."""
        self._run.page_tools.append(takes or {})

    def note_target(self, selector: str, frame: str | None, found: Lasting | None = None) -> None:
        """Note how the element of a selector is found again: as `found` by a script, and as the client was shown it."""
        again = lasting_selectors(self.looks.view, selector, frame, found)
        self._run.targets[selector] = again or self._run.targets.get(selector, [])
