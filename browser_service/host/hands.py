"""Does what a person's hand does, on a page that they have taken: nobody observes it, and no reply tells of it."""

import asyncio
from typing import Final

from playwright.async_api import Error as PlaywrightError

from browser_service.host.page.current_tab import CurrentTab
from browser_service.host.page.record import PageRecord
from browser_service.host.page.tab import Tab
from browser_service.rules.bounded import Bounded
from shared.errors import BrowseError, DialogOpen, HumanInControl, TimedOut, ValidationFailed
from shared.strokes import Stroke, Strokes

_WITHIN_S: Final = 3.0
_BATCHES: Final = 200
_BUTTONS: Final = {"left": 1, "right": 2, "middle": 4}
_EVENTS: Final = {"move": "mouseMoved", "down": "mousePressed", "up": "mouseReleased", "wheel": "mouseWheel"}


class Hand:
    """Is a person's hand on one page."""

    def __init__(self, record: PageRecord, current: CurrentTab) -> None:
        self._record, self._current = record, current
        self._done = Bounded[str, None](_BATCHES)
        self._pressed = 0
        self._turn = asyncio.Lock()

    async def do(self, strokes: Strokes) -> None:
        """Do some strokes. Raises HumanInControl unless the page is in a person's hands, and what keeps it from being
        done."""
        if strokes.batch_id in self._done:
            return
        self._done[strokes.batch_id] = None
        tab = self._check()
        try:
            async with asyncio.timeout(_WITHIN_S), self._turn:
                for stroke in strokes.made:
                    await self._do(tab, stroke)
        except TimeoutError:
            raise TimedOut("The page does not answer; what you did may come late.") from None
        except PlaywrightError as error:
            raise self._wrong(tab, error) from error

    def _check(self) -> Tab:
        person, tab = self._record.person, self._current.tab
        if person is None or person.question.kind == "stopped":
            raise HumanInControl(f"{self._record.page_id} is not in your hands.", hint="Take it over first.")
        if self._record.dialog is not None:
            raise DialogOpen(f'The page shows a dialog: "{self._record.dialog}".', hint="Its agent answers that.")
        if tab is None or not self._current.live:
            raise ValidationFailed(f"{self._record.page_id} has no window now.", hint="It comes back when it is used.")
        person.note_presence()
        self._record.has_leave = True  # the owner's rules leave to a person what the page sends now
        return tab

    def _wrong(self, tab: Tab, error: PlaywrightError) -> BrowseError:
        if not tab.usable:
            return ValidationFailed(f"{self._record.page_id} has no window any more.", hint="Look at it anew.")
        return ValidationFailed(str(error).splitlines()[0], hint="Nothing else was done.")

    async def _do(self, tab: Tab, stroke: Stroke) -> None:
        tab.acted_on = True
        if stroke.do == "key":
            await tab.page.keyboard.press(stroke.key)
        elif stroke.do == "text":
            await self._type(tab, stroke.text)
        elif tab.cdp is not None:
            await self._point(tab, stroke)
        else:
            await _point_by_playwright(tab, stroke)

    async def _type(self, tab: Tab, text: str) -> None:
        """Type a sign as a key, which scripts of the page hear; put in as a whole what no key writes, or what is
        pasted."""
        if len(text) == 1 and text.isascii() and text.isprintable():
            await tab.page.keyboard.press(text)
        else:
            await tab.page.keyboard.insert_text(text)

    async def _point(self, tab: Tab, stroke: Stroke) -> None:
        """Move, press or turn by Chromium's protocol: Playwright's own moves wait for a picture each."""
        button = _BUTTONS[stroke.button]
        self._pressed = {"down": self._pressed | button, "up": self._pressed & ~button}.get(stroke.do, self._pressed)
        event: dict[str, str | float] = {"type": _EVENTS[stroke.do], "x": stroke.x, "y": stroke.y}
        event |= {"buttons": self._pressed}
        if stroke.do in {"down", "up"}:
            event |= {"button": stroke.button, "clickCount": stroke.clicks}
        elif stroke.do == "wheel":
            event |= {"deltaX": stroke.dx, "deltaY": stroke.dy}
        assert tab.cdp is not None  # noqa: S101 - asked before
        await tab.cdp.send("Input.dispatchMouseEvent", event)


async def _point_by_playwright(tab: Tab, stroke: Stroke) -> None:
    mouse = tab.page.mouse
    await mouse.move(stroke.x, stroke.y)
    if stroke.do == "down":
        await mouse.down(button=stroke.button, click_count=stroke.clicks)
    elif stroke.do == "up":
        await mouse.up(button=stroke.button, click_count=stroke.clicks)
    elif stroke.do == "wheel":
        await mouse.wheel(stroke.dx, stroke.dy)
