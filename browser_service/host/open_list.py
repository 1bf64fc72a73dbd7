"""Has the drop-down list that a person's hand has pressed: browsers draw its options outside of the page, where no
picture of the page shows them."""

from typing import Final

from playwright.async_api import ElementHandle, Page

from browser_service.host.page.record import PageRecord
from browser_service.host.results import bounded, read
from browser_service.host.scripts import script
from shared.errors import ValidationFailed
from shared.frames import ShownList
from shared.strokes import Stroke

_LIST_UNDER: Final = script("list_under")
_OPTIONS: Final = bounded(script("list_options"))
_CHOSEN_WITHIN_MS: Final = 2_000


class OpenList:
    """Is the list that is open on one page, if one is."""

    def __init__(self, record: PageRecord) -> None:
        self._record = record
        self._list: ElementHandle | None = None
        self._pressed = False

    async def takes(self, page: Page, stroke: Stroke) -> bool:
        """Return whether a press of the main button is for a list, whose options are shown then. The page itself gets
        neither that press nor the release after it."""
        if stroke.button != "left" or stroke.do not in {"down", "up"}:
            return False
        if stroke.do == "up":
            took, self._pressed = self._pressed, False
            return took
        self.close()
        handle = await page.evaluate_handle(_LIST_UNDER, {"x": stroke.x, "y": stroke.y})
        self._list = handle.as_element()
        if self._list is None:
            await handle.dispose()
            return False
        self._pressed = True
        self._record.shown_list = read(ShownList, await self._list.evaluate(_OPTIONS))
        return True

    async def choose(self, index: int | None) -> None:
        """Choose an option; None leaves the list as it is. Raises ValidationFailed where no list is open any more."""
        chosen_from = self._list
        self.close()
        if index is None:
            return
        if chosen_from is None:
            raise ValidationFailed("No list is open on the page now.", hint="Press the list again.")
        await chosen_from.select_option(index=index, timeout=_CHOSEN_WITHIN_MS)

    def close(self) -> None:
        self._list = self._record.shown_list = None
