"""The listeners to a session's pages, and to the session itself."""

from typing import Protocol, TypeVar

from playwright.async_api import Dialog, Page

from browse_together.contract.events import HostEvent

Session_contra = TypeVar("Session_contra", contravariant=True)


class PageEvents(Protocol[Session_contra]):
    """A listener to the pages that arrive, and to their dialogs."""

    def foreign_page(self, session: Session_contra, page: Page) -> None:
        """Note a page that came without a call of ours: a popup, or a person's tab."""

    def popup_coming(self, opener_target: str, linked: int) -> None:
        """Note that a page is opening another one, which follows as a foreign page. `linked` is 1 if that page can send
        messages to its opener, else 0."""

    def window_asked(self, session: Session_contra, opener_target: str, url: str) -> None:
        """Note that a page asked for a window that is held back, and open its URL behind the person's tabs."""

    async def pages_found(self, session: Session_contra, pages: list[Page]) -> None:
        """Take on the pages that an attached browser had before we came."""

    def browser_ended(self, session: Session_contra) -> None:
        """Note that the session's browser has ended, or that the session has let go of it, with all its tabs."""

    def browser_found(self, session: Session_contra) -> None:
        """Note that the session has a browser again: the tabs of one that had kept running are there."""

    def dialog(self, session: Session_contra, page: Page | None, dialog: Dialog) -> None:
        """Note a dialog that opened."""

    def dialog_closed(self, dialog: Dialog) -> None: ...


class SessionEvents(Protocol):
    """A listener to the session itself."""

    elsewhere: bool
    """True if the host may be lost without the front, which is therefore told the logins of all sessions."""

    async def at_rest(self) -> None:
        """Let the calls on pages end, and save all logins, because the browser is about to close."""

    def opened(self) -> None:
        """Note that the session's context was opened, in a browser that may be new."""

    def emit(self, event: HostEvent) -> None:
        """Tell the front: a call's new place in the queue, a notice, or logins that changed or were saved."""
