"""What the few actions that are no Playwright are given: the service itself, as one client may see it."""

from typing import TYPE_CHECKING

from browser_service.clients.listing import listing
from browser_service.clients.work import Work
from browser_service.observability.search import answer
from browser_service.security.auth import Identity
from browser_service.sessions.lifecycle import Keeper
from browser_service.spine.directory import LAUNCHED
from browser_service.spine.register import Record
from browser_service.spine.undo import TakingBack
from shared.actions.activity import GetActivity
from shared.actions.base import Action
from shared.actions.seven import BrowserLaunch
from shared.actions.undoing import Undo
from shared.calls import Undoable
from shared.errors import BrowseError, NoBrowser
from shared.model import Json
from shared.pages import PageState

if TYPE_CHECKING:
    from browser_service.spine.dispatch import Dispatcher


class Service:
    def __init__(self, dispatcher: "Dispatcher", caller: Identity, record: Record) -> None:
        self._dispatcher = dispatcher
        self._caller = caller
        self._client_id = caller.client_id
        self.who = caller.ref
        self.record = record
        self.page: PageState | None = None
        """The page that the call came to, where it did."""
        self.undo_of: list[Undoable] = []
        """What of the call can be taken back."""
        self._steps = 0

    @property
    def work(self) -> Work:
        return self._dispatcher.work

    async def list_pages(self, session_id: str | None, *, whole: bool) -> Json:
        """Those that matter to the client; `whole`: all."""
        found = [page for page in await self._dispatcher.host.describe() if session_id in {None, page.session_id}]
        seen = [self._dispatcher.directory.seen_by(page, self._client_id) for page in found]
        return listing(seen, self._client_id, whole=whole)

    def list_downloads(self) -> Json:
        return {"downloads": [*self._dispatcher.downloads.listed(None if self._caller.operator else self._client_id)]}

    async def get_call(self, call_id: str, wait_ms: int) -> Json:
        """The outcome of a call, in its own words; or that it still runs."""
        record = self._dispatcher.register.find(self._client_id, call_id)
        if self._asked(record) is None:
            await record.until_done(wait_ms / 1000)
        if asked := self._asked(record):
            return {"callId": call_id, "state": "suspended", **asked}
        if not record.done:
            return {"callId": call_id, "state": "running", "stillRunning": True, "elapsedMs": record.elapsed_ms}
        return {"callId": call_id, "state": "done", **record.reply.result()}

    async def undo(self, asked: Undo) -> Json:
        taking = TakingBack(self._dispatcher, self._caller, self.record)
        if asked.only_list:
            return taking.listed()
        try:
            return await taking.run(asked)
        finally:
            self.page = taking.page

    def undoable(self, action: Action, what: str, state: Json) -> None:
        self.undo_of.append(Undoable(body=action.wire_body(), what=what, state=state))

    async def get_activity(self, asked: GetActivity) -> Json:
        return await answer(self._dispatcher.activity, asked, self._client_id)

    async def cancel_call(self, call_id: str) -> Json:
        state = await self._dispatcher.cancel(self._client_id, call_id)
        return {"callId": call_id, "state": state}

    @property
    def sessions(self) -> Keeper:
        return self._dispatcher.keeper

    def session_of(self, named: str) -> str:
        """The session of that name, or the one that the page of that name is in."""
        directory = self._dispatcher.directory
        page = None if named in directory.sessions else directory.get(named)
        return page.session_id if page else named

    async def launch(self, asked: BrowserLaunch) -> Json:
        """A page of the client's own, in place of the one that it launched before: in the shared browser, or where
        another kind is asked for in a session that is made for it."""
        directory = self._dispatcher.directory
        shared = directory.sessions.shared_browser
        browser = shared.asked(asked)
        if self._launched() is not None:
            await self.quit()
        page_id = directory.mint(LAUNCHED)
        own = browser != shared
        if own:
            size: Json = dict(zip(("width", "height"), browser.viewport, strict=True))
            options: Json = {"browserType": browser.engine, "viewport": size, "headless": browser.headless}
            await self._perform({"action": "create_session", "sessionId": page_id, **options})
        opening: Json = {"action": "open_page", "pageId": page_id}
        try:
            await self._perform({**opening, "sessionId": page_id} if own else opening)
        except BrowseError:
            if own:
                await self._perform({"action": "close_session", "sessionId": page_id})
            raise
        if own:
            directory.sessions.record(page_id).of_page = True
        return {"pageId": page_id, "text": f"Browser launched successfully ({browser})"}

    async def quit(self) -> Json:
        """Close what `launch` opened; the shared browser stays."""
        page = self._launched()
        if page is None:
            raise NoBrowser("No browser instance found. Call browser_launch first.")
        if page.session_id == page.page_id:
            await self._perform({"action": "close_session", "sessionId": page.session_id})
        else:
            await self._perform({"action": "close_page", "pageId": page.page_id})
        return {"closed": page.page_id, "text": "Browser closed successfully"}

    def _launched(self) -> PageState | None:
        return self._dispatcher.directory.launched(self._client_id)

    async def _perform(self, body: Json) -> Json:
        """As a call of its own, so that all rules hold for it."""
        self._steps += 1
        return await self._dispatcher.perform(self._caller, body, f"{self.record.call_id}.{self._steps}")

    def _asked(self, record: Record) -> Json | None:
        """What a call replied that a dialog keeps from its end, as long as that dialog is open: waiting is in vain."""
        asked = None if record.done or not record.task.done() else record.reply.body["result"]
        if not isinstance(asked, dict) or not isinstance(asked["dialog"], dict):
            return None
        page = self._dispatcher.directory.get(asked["dialog"]["pageId"])
        return asked if page is not None and page.dialog else None
