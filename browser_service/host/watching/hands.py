"""Replays a person's mouse and keyboard on a page that they took over. No call observes it, and no reply reports it."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import FileChooser, Page

from browse_together.contract.background import Background
from browse_together.contract.errors import BrowseError, DialogOpen, HumanInControl, TimedOut, ValidationFailed
from browse_together.contract.quoting import quoted
from browse_together.contract.strokes import ChosenFile, Stroke, Strokes
from browse_together.contract.wire import FILE_BYTES
from browser_service.host import world
from browser_service.host.elements.targets import element_at
from browser_service.host.elements.uploads import written
from browser_service.host.record.record import PageRecord
from browser_service.host.scripts import script
from browser_service.host.scripts.results import bounded, read
from browser_service.host.seam import ArtifactPort
from browser_service.host.sessions.session import SessionEntry
from browser_service.host.tabs.tab import Tab
from browser_service.host.watching.open_list import OpenList
from browser_service.host.watching.phone import Fit, lead_on
from browser_service.host.world.handles import let_go
from browser_service.rules.bounded import Bounded
from browser_service.security.http_logins import Credentials

_WITHIN_S: Final = 3.0
_FILES_WITHIN_S: Final = 30.0
_OPENS_WITHIN_S: Final = 40.0
_BATCHES: Final = 200
_SLOW: Final = frozenset({"files", "drop", "login"})
_PRESSES: Final = frozenset({"down", "up", "key", "text"})
_CHOOSER_WITHIN_S: Final = 3.0
"""A file chooser within this time was opened by the hand, a later one by somebody at the window itself."""
_BUTTONS: Final = {"left": 1, "right": 2, "middle": 4}
_EVENTS: Final = {"move": "mouseMoved", "down": "mousePressed", "up": "mouseReleased", "wheel": "mouseWheel"}
_FIELD: Final = script("drop_field")
_DROP: Final = bounded(script("drop_on"))
_FIND: Final = bounded(script("find_on"))
_MOST_FRAMES: Final = 20


class Hand:
    def __init__(
        self,
        record: PageRecord,
        fit: Fit,
        open_window: Callable[[], Awaitable[None]],
        session: SessionEntry,
    ) -> None:
        self._record, self._fit, self._open, self._session = record, fit, open_window, session
        self._sign_ins = session.sign_ins
        self._background = Background()
        self._done = Bounded[str, None](_BATCHES)
        self._pressed = 0
        self._chooser: FileChooser | None = None
        self._list = OpenList(record)
        self._turn = asyncio.Lock()
        self._resting: asyncio.TimerHandle | None = None

    async def do(self, strokes: Strokes, artifacts: ArtifactPort) -> None:
        """Replay strokes; without any, only open the page's window if it has none. Raises HumanInControl unless a
        person has the page in hand, and DialogOpen, TimedOut or ValidationFailed if the strokes cannot be done."""
        if strokes.batch_id in self._done:
            return
        self._done[strokes.batch_id] = None
        self._check_held()
        if not strokes.made:
            await self._open_window()
            return
        tab = self._check()
        if any(stroke.do in _PRESSES for stroke in strokes.made):
            self._hear_choosers(tab)
        within_s = _FILES_WITHIN_S if any(stroke.do in _SLOW for stroke in strokes.made) else _WITHIN_S
        try:
            async with asyncio.timeout(within_s), self._turn:
                for stroke in strokes.made:
                    if stroke.do == "drop":
                        await drop(tab.page, stroke, await self._written(tab.page, stroke.files, artifacts))
                    elif stroke.do == "files":
                        await self._choose(stroke.files, artifacts)
                    else:
                        await self._do(tab, stroke)
        except TimeoutError:
            if self._record.dialog is None:  # else it was done, and the page waits for an answer
                raise TimedOut("The page does not answer; what you did may come late.") from None
        except PlaywrightError as error:
            raise self._wrong(tab, error) from error

    def note_chooser(self, chooser: FileChooser) -> None:
        """Note that the page asks for files. Only a person who has the page in hand is asked to choose them."""
        if self._has_it():
            self._chooser = chooser
            self._record.chooser = "several" if chooser.is_multiple() else "one"

    def check_held(self) -> None:
        """Clean up if no person has the page any more."""
        if self._record.person is None:
            self._chooser = None
            self._list.close()
            self._background.spawn(self._fit.end())

    def _hear_choosers(self, tab: Tab) -> None:
        """Intercept file choosers for a moment, so that the system's own does not open in the browser's window. It
        still opens for presses in the window itself."""
        tab.file_choosers.listen()
        if self._resting is not None:
            self._resting.cancel()
        if not self._session.headless:
            self._resting = asyncio.get_running_loop().call_later(_CHOOSER_WITHIN_S, tab.file_choosers.rest)

    def _has_it(self) -> bool:
        person = self._record.person
        return person is not None and person.question.kind not in {"stopped", "tab"}

    async def _open_window(self) -> None:
        page_id = self._record.page_id
        try:
            async with asyncio.timeout(_OPENS_WITHIN_S), self._turn:
                if not self._record.live:
                    await self._open()
        except TimeoutError:
            raise TimedOut(f"{page_id} could not be opened again within {_OPENS_WITHIN_S:.0f} s.") from None
        except PlaywrightError as error:
            raise ValidationFailed(f"{page_id} ended while it was opened.", hint="Look at it anew.") from error

    def _check_held(self) -> None:
        if not self._has_it():
            raise HumanInControl(f"{self._record.page_id} is not in your hands.", hint="Take it over first.")
        if self._record.person is not None:
            self._record.person.note_presence()

    def _check(self) -> Tab:
        tab = self._record.tab
        if self._record.dialog is not None:
            raise DialogOpen("The page waits for the answer to its dialog.", hint="Answer that first.")
        if tab is None or not self._record.live:
            raise ValidationFailed(f"{self._record.page_id} has no window now.", hint="Look at it anew.")
        self._record.has_leave = True  # the owner's rules do not judge what a person makes the page send
        return tab

    def _wrong(self, tab: Tab, error: PlaywrightError) -> BrowseError:
        if not tab.usable:
            return ValidationFailed(f"{self._record.page_id} has no window any more.", hint="Look at it anew.")
        return ValidationFailed(str(error).splitlines()[0], hint="Nothing else was done.")

    async def _choose(self, files: list[ChosenFile], artifacts: ArtifactPort) -> None:
        """Give the page the files that it asks for; without files, drop its question."""
        if self._chooser is not None and len(files) > 1 and not self._chooser.is_multiple():
            raise ValidationFailed("The page takes one file there.", hint="Choose one.")
        chooser, self._chooser, self._record.chooser = self._chooser, None, None
        if not files:
            return
        if chooser is None:
            raise ValidationFailed("The page asks for no files now.", hint="Press its button for them again.")
        await chooser.set_files(await self._written(chooser.page, files, artifacts))

    async def _written(self, page: Page, files: list[ChosenFile], artifacts: ArtifactPort) -> list[Path]:
        """Write files where the browser reads them. Raises ValidationFailed if they are too large together."""
        given, size = list[tuple[str, bytes]](), 0
        for file in files:
            data, _ = await artifacts.data(file.artifact_id, None)
            given.append((file.name.replace("\\", "/").rpartition("/")[2], data))
            size += len(data)
            if size > FILE_BYTES:
                raise ValidationFailed(f"The files have more than {FILE_BYTES:,} bytes together.", hint="Choose fewer.")
        return await asyncio.to_thread(written, page, given)

    async def _do(self, tab: Tab, stroke: Stroke) -> None:
        tab.acted_on = True
        if stroke.do == "fit":
            await self._fit.begin(tab, round(stroke.x), round(stroke.y))
            if not self._has_it():  # the person gave it back meanwhile, before the fit could be ended
                await self._fit.end()
        elif stroke.do == "key":
            if not (stroke.of_phone and stroke.key == "Enter" and await lead_on(tab.page, only_idle=False)):
                await tab.page.keyboard.press(stroke.key)
        elif stroke.do == "text":
            await self._type(tab, stroke)
        elif stroke.do == "find":
            await find(tab.page, stroke)
        elif stroke.do == "choose":
            await self._list.choose(stroke.index)
        elif stroke.do == "login":
            await self._sign_in(tab, Credentials(stroke.username, stroke.text))
        elif not await self._list.takes(tab.page, stroke):
            await (self._point(tab, stroke) if tab.cdp is not None else _point_by_playwright(tab, stroke))

    async def _sign_in(self, tab: Tab, given: Credentials) -> None:
        """Sign in at the page's site with the name and password that it asks for, and load its answer."""
        if (challenge := self._record.challenge) is None:
            raise ValidationFailed("The site asks for no name and password now.", hint="Look at it anew.")
        async with self._sign_ins.trying(challenge.origin, given, self._record):
            await tab.page.goto(challenge.url, wait_until="commit")

    async def _type(self, tab: Tab, stroke: Stroke) -> None:
        """Type a single ASCII character as a key press, so that the page's scripts get its events; insert any other
        text as a whole."""
        text = stroke.text
        if stroke.of_phone:
            await lead_on(tab.page, only_idle=True)
        if len(text) == 1 and text.isascii() and text.isprintable():
            await tab.page.keyboard.press(text)
        else:
            await tab.page.keyboard.insert_text(text)

    async def _point(self, tab: Tab, stroke: Stroke) -> None:
        """Move, press or scroll through CDP: each of Playwright's own moves waits for a frame."""
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


async def drop(page: Page, stroke: Stroke, files: list[Path]) -> None:
    """Drop files onto what is at the stroke's point. Raises ValidationFailed if the page does not take them."""
    with let_go():
        element = await element_at(page, stroke.x, stroke.y)
        frame = await element.owner_frame() if element is not None else None
        if element is None or frame is None:
            raise ValidationFailed("There is nothing at that point now.", hint="Look at the page anew.")
        field = await world.element(frame, _FIELD)
        if field is None:
            raise _takes_none()
        await field.set_input_files(files)
        if not read(bool, await world.evaluate_all([element, field], _DROP)):
            raise _takes_none()


def _takes_none() -> ValidationFailed:
    return ValidationFailed("The page takes no files there.", hint="Drop them on its own field for files.")


async def find(page: Page, stroke: Stroke) -> None:
    """Show the next place of a text, or the one before. Raises ValidationFailed if the page has none."""
    for frame in page.frames[:_MOST_FRAMES]:
        if read(bool, await world.evaluate(frame, _FIND, {"text": stroke.text, "back": stroke.back})):
            return
    raise ValidationFailed(f"{quoted(stroke.text)} is not on the page.", hint="")
