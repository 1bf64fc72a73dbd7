"""Declares the listeners to a session's pages, and to the session itself."""

from typing import Protocol, TypeVar

from playwright.async_api import Dialog, Page

from shared.events import HostEvent

Session_contra = TypeVar("Session_contra", contravariant=True)


class PageEvents(Protocol[Session_contra]):
    """A listener to the pages that arrive, and to their dialogs."""

    def foreign_page(self, session: Session_contra, page: Page) -> None:
        """Note a page that came and that nobody asked for here: a popup, or a person's tab."""

    def popup_coming(self, opener_target: str, linked: int) -> None:
        """Note that a page is opening another one, which will follow as a foreign page. `linked` is 1 if that can tell
        it something."""

    async def pages_found(self, session: Session_contra, pages: list[Page]) -> None:
        """Take on pages that were there before us, in a browser that was attached to."""

    def dialog(self, page: Page | None, dialog: Dialog) -> None:
        """Note a dialog that opened."""

    def dialog_closed(self, dialog: Dialog) -> None:
        """Note a dialog that is closed."""


class SessionEvents(Protocol):
    """A listener to the session itself."""

    async def at_rest(self) -> None:
        """Let what runs on pages come to its end, and save all logins: the browser is going to be closed."""

    def opened(self) -> None:
        """Note that its context was opened, in a browser that may be new."""

    def emit(self, event: HostEvent) -> None:
        """Tell the front: another place of a call in the line, a notice, logins that changed or were saved."""
