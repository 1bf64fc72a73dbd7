"""Opens and closes the page of `browser_launch`, by calls of the same client."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from browse_together.contract.errors import BrowseError, NoBrowser
from browse_together.contract.model import Json
from browse_together.contract.pages import PageState
from browse_together.contract.wire import DEFAULT_SESSION
from browser_service.sessions.directory import LAUNCHED, Directory
from browser_service.sessions.records import Browser


@dataclass(eq=False)
class LaunchedBrowser:
    directory: Directory
    client_id: str
    perform: Callable[[Json], Awaitable[Json]]
    tell: Callable[[str], None]
    """Tells the client something beside the reply, whose text is fixed."""

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
                await self.perform(closing_call(page_id))
            raise
        if own_session:
            self.directory.sessions.record(page_id).of_page = True

    async def quit(self) -> Json:
        """Close what `launch` opened, but not the shared browser, and tell how its logins come back. Raises
        NoBrowser."""
        page = self._page()
        if page is None:
            raise NoBrowser("No browser instance found. Call browser_launch first.")
        closing: Json = {"action": "close_page", "pageId": page.page_id}
        ended = await self.perform(closing_call(page.session_id) if page.session_id == page.page_id else closing)
        if "kept" in ended:
            self.tell(str(ended["observed"]))
        return {"closed": page.page_id, "text": "Browser closed successfully"}

    def _page(self) -> PageState | None:
        return self.directory.launched(self.client_id)


def closing_call(session_id: str) -> Json:
    return {"action": "close_session", "sessionId": session_id}
