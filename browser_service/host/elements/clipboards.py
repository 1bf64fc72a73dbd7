"""A clipboard for each client of a session, for what its keys and the buttons of pages copied. The browser's own is
shared by all pages and clients, and in a window with the person's programs: one would paste what another copied."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Final, NamedTuple

from playwright.async_api import ElementHandle, Locator
from pydantic import StringConstraints

from browse_together.contract.actions.arguments import LONG_TEXT
from browser_service.host.elements.frames import origin_of_frame
from browser_service.host.elements.locators import none_if_gone
from browser_service.host.events import well_formed
from browser_service.host.files import Files
from browser_service.host.scripts import results, script
from browser_service.host.world.handles import taken
from browser_service.rules.bounded import Bounded

_LISTEN: Final = script("copied")
_HEARD: Final = results.bounded("heard => heard()")
_MOST_CLIENTS: Final = 200
_MOST_CHARACTERS: Final = 20_000_000
_Text = Annotated[str, StringConstraints(max_length=LONG_TEXT)]
"""The most that `paste` takes, whatever a page makes our script return."""


class Copied(NamedTuple):
    """A client's copied text and HTML, and the origin that they come from."""

    text: str
    html: str | None
    origin: str


class Clipboards:
    """The last copy of each client."""

    def __init__(self) -> None:
        self._copied = Bounded[str, Copied](
            _MOST_CLIENTS,
            weigh=lambda copied: len(copied.text) + len(copied.html or ""),
            most_weight=_MOST_CHARACTERS,
        )

    def of(self, client_id: str) -> Copied | None:
        return self._copied.get(client_id)

    async def keep(self, files: Files, text: str, origin: str) -> None:
        """Store what a page copied at an act of the client of these files, without secrets."""
        self._copied[files.client_id] = Copied(await files.conceal(well_formed(text)), None, origin)

    async def copy(
        self, files: Files, element: Locator | ElementHandle, press_keys: Callable[[], Awaitable[None]]
    ) -> Copied | None:
        """Press the keys that copy, and store the copied text without secrets for the client of these files; return
        None if nothing was copied. Raises BadResult for a result that no script of ours returns."""
        handle = element if isinstance(element, ElementHandle) else taken(await element.element_handle())
        frame = await handle.owner_frame()
        origin = origin_of_frame(frame) if frame is not None else ""
        listening = taken(await handle.evaluate_handle(_LISTEN))
        await press_keys()
        heard = await none_if_gone(listening.evaluate(_HEARD))
        text, html = results.read(tuple[_Text, _Text | None], heard) if heard is not None else ("", None)
        if not text and not html:
            return None
        copied = Copied(await files.conceal(text), html and await files.conceal(html), origin)
        self._copied[files.client_id] = copied
        return copied
