"""Runs the calls that consist of several, and what is left to do after some calls."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from browser_service.clients.presence import Clients
from browser_service.sessions.directory import LAUNCHED, Directory
from browser_service.sessions.records import Browser
from browser_service.spine.addressing import Address
from browser_service.spine.feed import Feed
from browser_service.spine.front_call import FrontCall, Perform
from shared.actions.traits import Closing, Scope, Unaddressed
from shared.calls import Notice, Outcome
from shared.catalogue import ACTIONS
from shared.errors import BrowseError, Forbidden, JournalFailed, NoBrowser, field_details
from shared.model import Json
from shared.next_calls import next_call
from shared.pages import PageState
from shared.wire import DEFAULT_SESSION


@dataclass(eq=False)
class Workflows:
    """Calls that consist of several. `perform` runs each of these under all rules for calls."""

    directory: Directory
    clients: Clients
    feed: Feed
    perform: Perform

    async def in_new_session(self, call: FrontCall, go: Callable[[FrontCall], Awaitable[Outcome]]) -> Outcome:
        """Create a session and go there. Close it again if no page opened."""
        session = await self.perform(call.caller, {"action": "create_session"}, f"{call.call_id}.1")
        session_id = str(session["sessionId"])
        outcome = None
        try:
            outcome = await go(replace(call, action=call.action.model_copy(update={"session_id": session_id})))
        finally:
            if outcome is None or outcome.page is None:
                await self.perform(call.caller, _closing(session_id), f"{call.call_id}.2")
        if outcome.result is not None:
            description = f"in {session_id}, a new session, which is not logged in anywhere: name it by sessionId"
            outcome.result["observed"] = f"{outcome.result.get('observed', 'done')}; {description}"
        return outcome

    async def after(self, call: FrontCall, address: Address, outcome: Outcome) -> Outcome:
        """Do what remains after a host has run the action."""
        closed = any(ACTIONS[str(step.body["action"])].closes == Closing(Scope.PAGE) for step in outcome.undo)
        if closed and outcome.result is not None:
            await self._end_with_page(call, address.session_id or "", outcome.result)
        page_id, page = call.action.addressed.page, outcome.page
        if (
            call.action.unaddressed is Unaddressed.ANOTHER_PAGE
            and page_id
            and page is not None
            and page.page_id != page_id
        ):
            text = f"{page_id} is open already, and yours: this is another page, {page.page_id}."
            self.clients.notify(call.client_id, Notice(text=text, page_id=page.page_id))
        return outcome

    async def check_saved(self, call: FrontCall, outcome: Outcome) -> Outcome:
        """Return an error instead of a success if the logins that the call saved are not on disk, or if another client
        had saved some under that name."""
        stored = call.action.stored_logins
        if stored is None or stored.restores or outcome.error is not None:
            return outcome
        session_id, name = call.action.addressed.session or "", stored.name
        error: BrowseError | None = None
        if self.feed.owes_logins(session_id, name):
            error = JournalFailed(
                f"The logins of {session_id!r} could not be saved because nothing can be written to the disk."
            )
        elif await self.feed.journal.saved_by(session_id, name) not in {"", call.client_id}:
            error = Forbidden(
                f"Another client has saved logins of {session_id!r} as {name!r}, which stay as they are. Nothing was "
                "saved.",
                hint=f"Take another name: {next_call('save_session_state', session_id=session_id, name='...')}.",
                details=field_details("name"),
            )
        return outcome if error is None else Outcome(call_id=call.call_id, error=error.body())

    async def _end_with_page(self, call: FrontCall, session_id: str, result: Json) -> None:
        """Close a session that was made for a page, once its last page is closed."""
        await self.feed.catch_up()
        sessions = self.directory.sessions
        if sessions.owner(session_id) != call.client_id or not sessions.record(session_id).of_page:
            return
        if not self.directory.pages_of(session_id):
            await self.perform(call.caller, _closing(session_id), f"{call.call_id}.1")
            result["observed"] = f"{result.get('observed', 'done')}; so is session {session_id}, which was made for it"


@dataclass(eq=False)
class LaunchedBrowser:
    """The page that browser_launch opens for a client. `perform` runs a call for that client."""

    directory: Directory
    client_id: str
    perform: Callable[[Json], Awaitable[Json]]

    @property
    def shared(self) -> Browser:
        return self.directory.sessions.shared_browser

    async def launch(self, browser: Browser) -> Json:
        """Open the page in place of the previous one: in the shared browser, or in a new session for another kind of
        browser."""
        if self._page() is not None:
            await self.quit()
        name = self.directory.new_name(DEFAULT_SESSION, LAUNCHED)
        with self.directory.reserve(name, self.client_id) as page_id:
            await self._open(page_id, browser, own_session=browser != self.shared)
        return {"pageId": page_id, "text": f"Browser launched successfully ({browser})"}

    async def _open(self, page_id: str, browser: Browser, *, own_session: bool) -> None:
        """Open the page, in its own session or in the shared login. If that fails, close the session again."""
        if own_session:
            size: Json = dict(zip(("width", "height"), browser.viewport, strict=True))
            options: Json = {"browserType": browser.engine, "viewport": size, "headless": browser.headless}
            await self.perform({"action": "create_session", "sessionId": page_id, **options})
        opening: Json = {"action": "open_page", "pageId": page_id}
        try:
            await self.perform({**opening, "sessionId": page_id} if own_session else opening)
        except BrowseError:
            if own_session:
                await self.perform(_closing(page_id))
            raise
        if own_session:
            self.directory.sessions.record(page_id).of_page = True

    async def quit(self) -> Json:
        """Close what `launch` opened, but not the shared browser. Raises NoBrowser."""
        page = self._page()
        if page is None:
            raise NoBrowser("No browser instance found. Call browser_launch first.")
        closing: Json = {"action": "close_page", "pageId": page.page_id}
        await self.perform(_closing(page.session_id) if page.session_id == page.page_id else closing)
        return {"closed": page.page_id, "text": "Browser closed successfully"}

    def _page(self) -> PageState | None:
        return self.directory.launched(self.client_id)


def _closing(session_id: str) -> Json:
    return {"action": "close_session", "sessionId": session_id}
