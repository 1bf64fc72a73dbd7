"""Lets a tab of a person's browser draw and run behind what the person looks at, and keeps it there."""

import asyncio
import time
from typing import Final

from playwright.async_api import CDPSession, Page

from browse_together.contract.errors import HumanInControl
from browse_together.contract.next_calls import next_call
from browser_service.host import world
from browser_service.host.scripts.results import of_kind
from browser_service.host.world.ties import open_session

SEEM_IN_FRONT: Final = "Emulation.setFocusEmulationEnabled"
_ONE_PIXEL: Final = {"format": "jpeg", "quality": 1, "maxWidth": 1, "maxHeight": 1, "everyNthFrame": 1_000}
_PLACE: Final = "() => [document.visibilityState === 'visible', document.hasFocus()]"
_WAITS_S: Final = 3.0
"""How long a click waits until the person looks at the tab that it would bring up."""
_LOOKS_EVERY_S: Final = 0.1


class Behind:
    """A tab in a person's browser, which may be behind another tab or another window."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._session: CDPSession | None = None
        self._seems_in_front = False
        self.person_away = False
        """True once an act gave input while its window had not the person's keys: from then on the page says that it
        has them, until the window loses them anew (measured on Chromium 156)."""

    async def draw(self) -> None:
        """Have pictures of the page taken while it is hidden, of which it learns nothing: without a screencast, which
        asks for one frame of one pixel, one takes 15 s (measured on Chromium 156)."""
        self._session = await open_session(self._page)
        await self._session.send("Page.startScreencast", _ONE_PIXEL)

    async def seem_in_front(self, *, gives_input: bool = False) -> None:
        """Let the page run as if it were in front, if it is hidden: Chromium gives a hidden page no frames, for which
        acts wait. The page learns of it, as if its person came."""
        if self._session is None or self._seems_in_front:
            return
        visible, has_keys = await self._place()
        if not visible:
            self._seems_in_front = True
            await self._session.send(SEEM_IN_FRONT, {"enabled": True})
        elif gives_input and not has_keys:
            self.person_away = True

    async def rest(self) -> None:
        """Let the page be hidden again."""
        if self._session is not None and self._seems_in_front:
            self._seems_in_front = False
            await self._session.send(SEEM_IN_FRONT, {"enabled": False})

    async def check_click(self) -> None:
        """Wait until the mouse may be pressed in the page. In a tab that is the selected one of its window, that
        brings up the window, be it pressed by a mouse or a finger; so it has to be the one that has the person's keys.
        Raises HumanInControl."""
        until = time.monotonic() + _WAITS_S
        while self._session is not None and not self._seems_in_front and not await self._may_press():
            if time.monotonic() > until:
                raise HumanInControl(
                    "The person may be at another window, and a press of the mouse here would bring this one up: it "
                    "did not happen.",
                    hint="Keys do not: focus an element, then "
                    f"{next_call('press', selector='...', key='Enter')}. Or repeat it later.",
                )
            await asyncio.sleep(_LOOKS_EVERY_S)  # nothing tells when its person comes

    async def _may_press(self) -> bool:
        visible, has_keys = await self._place()
        if not visible:  # another tab was selected meanwhile
            await self.seem_in_front()
            return True
        return has_keys and not self.person_away

    async def _place(self) -> tuple[bool, bool]:
        """Return whether the page is visible, and whether it has the keys."""
        visible, keys = of_kind(list[object], await world.evaluate(self._page, _PLACE))
        return bool(visible), bool(keys)
