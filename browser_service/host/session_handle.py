"""Gives the handlers of actions on a whole session the session as their call sees it."""

from playwright.async_api import BrowserContext

from browser_service.host.call_run import Undoes
from browser_service.host.files import ArtifactPort, Files
from browser_service.host.session import SessionEntry
from shared.calls import Call


class BrowserSession:
    """Is a session as one call sees it. Handlers are given it."""

    def __init__(self, entry: SessionEntry, call: Call, artifacts: ArtifactPort, undoable: Undoes) -> None:
        self.entry = entry
        self.call = call
        self.undoable = undoable
        """Notes what it takes to take the act back."""
        self.files = Files(artifacts, call.client_id, inline_text=call.inline_text)

    @property
    def session_id(self) -> str:
        return self.entry.session_id

    @property
    def attached(self) -> bool:
        """True where its browser is somebody else's."""
        return self.entry.attached

    async def context(self) -> BrowserContext:
        """Return Playwright's context."""
        return await self.entry.context()
