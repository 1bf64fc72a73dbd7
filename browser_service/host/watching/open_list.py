"""The drop-down list that a person's hand has pressed. Browsers draw its options outside the page, where no picture of
the page shows them."""

from typing import Final

from playwright.async_api import ElementHandle, Page
from playwright.async_api import Error as PlaywrightError

from browse_together.contract.background import AtMost
from browse_together.contract.errors import ValidationFailed
from browse_together.contract.frames import ShownList
from browse_together.contract.strokes import Stroke
from browser_service.host import world
from browser_service.host.record.record import PageRecord
from browser_service.host.scripts import script
from browser_service.host.scripts.results import bounded, read

_LIST_UNDER: Final = script("list_under")
_OPTIONS: Final = bounded(script("list_options"))
_CHOSEN_WITHIN_MS: Final = 2_000
_SAYS_WITHIN_S: Final = 1.0


class OpenList:
    """The list that is open on one page, if one is."""

    def __init__(self, record: PageRecord) -> None:
        self._record = record
        self._list: ElementHandle | None = None
        self._pressed = False

    async def takes(self, page: Page, stroke: Stroke) -> bool:
        """Return whether a press of the main button is for a list; if so, show the list's options. The page itself gets
        neither that press nor its release."""
        if stroke.button != "left" or stroke.do not in {"down", "up"}:
            return False
        if stroke.do == "up":
            took, self._pressed = self._pressed, False
            return took
        self.close()
        async with AtMost(_SAYS_WITHIN_S, PlaywrightError):  # the page navigates or is busy: it gets the press
            self._pressed = await self._open(page, stroke)
        return self._pressed

    async def _open(self, page: Page, stroke: Stroke) -> bool:
        pressed = await world.element(page, _LIST_UNDER, {"x": stroke.x, "y": stroke.y})
        if pressed is None:
            return False
        self._record.shown_list = read(ShownList, await world.evaluate(pressed, _OPTIONS))
        self._list = pressed
        return True

    async def choose(self, index: int | None) -> None:
        """Choose an option; None leaves the list as it is. Raises ValidationFailed if no list is open any more."""
        chosen_from = self._list
        self.close()
        if index is None:
            return
        if chosen_from is None:
            raise ValidationFailed("No list is open on the page now.", hint="Press the list again.")
        await chosen_from.select_option(index=index, timeout=_CHOSEN_WITHIN_MS)

    def close(self) -> None:
        self._list = self._record.shown_list = None
        self._pressed = False
