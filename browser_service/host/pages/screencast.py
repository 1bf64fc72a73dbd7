"""Shows a page to those who watch: its picture as it changes, and the act that is done there, while somebody asks."""

import asyncio
import contextlib
import time
from dataclasses import dataclass
from typing import Final

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Locator
from pydantic import ValidationError

from browser_service.host.background import Background
from browser_service.host.calls import CallRun
from browser_service.host.pages.current_tab import CurrentTab
from browser_service.host.scripts import script
from browser_service.host.tabs.cast import Cast, ChromiumCast, Picture, ScreenshotCast, Sent
from browser_service.host.tabs.life import Life
from browser_service.host.tabs.masked import MaskedPictures
from browser_service.host.tabs.record import PageRecord
from browser_service.host.tabs.tab import Tab
from browser_service.rules.turns import PageQueue
from browser_service.security.http_logins import Challenge
from browser_service.waits import wait_until
from shared.frames import Box, Frame, FrameState, ShownAct, ShownChallenge, View
from shared.quoting import one_line

LASTS_S: Final = 5.0
"""Pictures are made for so long after the last one who asked for them."""
_LOOK_S: Final = 1.0
"""What tells nobody, such as that a page was parked, is looked at this often."""
_SILENT_S: Final = 4.0
"""A page that has shown nothing new for so long is asked whether it answers."""
_ANSWERS_WITHIN_S: Final = 1.0
_ACT_SHOWN_S: Final = 2.0
"""An act is shown for so long after its end, because most take no longer than a glance."""
_AIMS_WITHIN_MS: Final = 300
_ELEMENT_BOX: Final = script("element_box")
_MOST_WAITING: Final = 5


@dataclass
class ShownCall:
    """The act of a call, as it is shown."""

    run: CallRun
    began_at: float
    ended_at: float | None = None
    failed: bool = False
    target: Box | None = None
    pictured: bool = False
    """True for one whose target the record has, whoever watches."""


class Screencast:
    """The picture of one page, whichever tab is behind it, and what is done there."""

    def __init__(self, record: PageRecord, current: CurrentTab, queue: PageQueue) -> None:
        self._record, self._current, self._queue = record, current, queue
        self._seq = round(time.time() * 1000)  # higher than that of an earlier page of the name
        self._changed = asyncio.Event()
        self._picture: Picture | None = None
        self._masked = MaskedPictures(self._next_seq, self.anew)
        self._seen: tuple[object, ...] = ()
        self._views: dict[bool, tuple[View, float]] = {}
        self._asking = 0
        self._cast: Cast | None = None
        self._tab: Tab | None = None
        self._act: ShownCall | None = None
        self._probe: asyncio.Task[None] | None = None
        self._probed_at = 0.0
        self._ending: asyncio.TimerHandle | None = None
        self._background = Background()

    # --- for who watches ---------------------------------------------------------------------------------------------

    async def frame_after(self, seq: int, wait_ms: int, view: View) -> Frame:
        """Return what the page looks like once that differs from what it was at `seq`, or when the time is over."""
        loop = asyncio.get_running_loop()
        until = loop.time() + wait_ms / 1000
        self._asking += 1
        try:
            while True:
                self._views[view.masked] = view, loop.time()
                self._look()
                left = until - loop.time()
                if self._seq != seq or left <= 0:
                    return await self._frame(seq, view)
                await wait_until(lambda: self._seq != seq, self._changed, min(left, _LOOK_S))
        finally:
            self._asking -= 1
            if not self._asking:
                self._end_later()

    @property
    def watched(self) -> bool:
        """Say if somebody watches now."""
        return self._cast is not None

    def hold(self) -> None:
        """Make no picture for a moment, because one is made anew soon; who looks closely still sees all."""
        if self._cast is not None:
            self._cast.hold()

    async def anew(self) -> Sent | None:
        """Return a picture that is made from now on; None where nobody watches, or the browser sends none by itself."""
        return None if self._cast is None else await self._cast.anew()

    # --- for what is done --------------------------------------------------------------------------------------------

    def show(self, run: CallRun) -> ShownCall:
        """Show the act of a call as the page's, until its end and a moment longer."""
        self._act = ShownCall(run, time.monotonic())
        self._changed.set()
        return self._act

    def finish(self, act: ShownCall, *, failed: bool) -> None:
        """Note the end of an act."""
        act.ended_at, act.failed = time.monotonic(), failed
        self._changed.set()

    def aim(self, element: Locator) -> None:
        """Mark the element that the act is aimed at, if somebody watches or the act is pictured. The act does not wait
        for it."""
        if self._act is not None and (self._cast is not None or self._act.pictured):
            self._background.spawn(self._mark(self._act, element))

    async def _mark(self, act: ShownCall, element: Locator) -> None:
        with contextlib.suppress(PlaywrightError, TimeoutError, ValidationError):  # or the page made numbers of its own
            async with asyncio.timeout(_AIMS_WITHIN_MS / 1000):
                # A third of the messages that `bounding_box` takes, which waits for an element, and knows frames.
                found = await element.evaluate_all(_ELEMENT_BOX)
            if found := found or await element.bounding_box(timeout=_AIMS_WITHIN_MS):
                act.target = Box.model_validate(found)
                self._changed.set()

    # --- what there is to see ----------------------------------------------------------------------------------------

    def _look(self) -> None:
        """Have pictures made of the tab that is there now, and note what else has changed."""
        tab = self._current.tab if self._current.live else None
        view = self._wanted()
        if tab is not self._tab or (self._cast is not None and self._cast.view != view):
            self._recast(tab, view)
        act = self._shown_act()
        aimed = act and act.target and (act.target.x, act.target.y)
        asks = self._record.dialog, self._record.chooser, id(self._record.shown_list), self._record.challenge
        seen = (self._state(), act and (id(act), act.ended_at, aimed), asks, *self._waiting())
        if seen != self._seen:
            self._seen = seen
            self._seq += 1
        self._ask_for_sign()

    def _is_current(self) -> bool:
        """Say if the page has not navigated since its picture: of another document nobody can be asked any more."""
        return self._picture is None or self._picture.navigations == self._record.navigations

    def _wanted(self) -> View:
        """Return what serves all who asked lately: as wide and as often as the most demanding of them."""
        now = asyncio.get_running_loop().time()
        views = [view for view, at in self._views.values() if now - at < LASTS_S] or [View()]
        return View(
            width=max(view.width for view in views),
            fps=max(view.fps for view in views),
            quality=max(view.quality for view in views),
        )

    def _state(self) -> FrameState:
        life = self._current.life
        if life.live:
            return "hung" if self._hangs() else "live"
        if life is Life.PARKED:
            return "parked"
        return "crashed" if life.died else "resting"

    def _hangs(self) -> bool:
        """Say if the page owes the answer to a question. One that shows a dialog answers nothing meanwhile."""
        asked = self._probe is not None and not self._probe.done() and self._record.dialog is None
        return asked and time.monotonic() - self._probed_at > _ANSWERS_WITHIN_S

    def _ask_for_sign(self) -> None:
        """Ask a page that shows nothing new whether it answers. As long as it does not, it is not asked again."""
        now, tab = time.monotonic(), self._tab
        shown_at = max(self._picture.at if self._picture else 0.0, self._probed_at)
        is_asked = self._probe is not None and not self._probe.done()
        if tab is not None and not is_asked and self._record.dialog is None and now - shown_at > _SILENT_S:
            self._probed_at, self._probe = now, asyncio.create_task(_answers(tab))

    def _waiting(self) -> list[str]:
        return [turn.description for turn in self._queue.line][:_MOST_WAITING]

    def _shown_act(self) -> ShownCall | None:
        act = self._act
        over = act is None or (act.ended_at is not None and time.monotonic() - act.ended_at > _ACT_SHOWN_S)
        return None if over else act

    async def _frame(self, seq: int, view: View) -> Frame:
        """Return the frame as this viewer may see it."""
        picture, state, now = self._picture, self._state(), self._seq
        if view.masked and picture is not None:
            picture = await self._without_secrets(picture, view)
            # Of what a dialog has stopped nothing is known any more: it is the dialog that keeps the picture back.
            state = "hidden" if self._masked.hidden and self._record.dialog is None else state
        act = self._shown_act()
        return Frame(
            page_id=self._record.page_id,
            seq=max(now, picture.seq) if picture is not None else now,
            state=state,
            picture=picture.data if picture is not None and picture.seq > seq else None,
            width=picture.width if picture else 0,
            height=picture.height if picture else 0,
            age_ms=round((time.monotonic() - picture.at) * 1000) if picture else None,
            act=_shown(act) if act else None,
            waiting=self._waiting(),
            dialog=self._record.dialog,
            chooser=self._record.chooser,
            shown_list=self._record.shown_list,
            challenge=_shown_challenge(self._record.challenge),
        )

    async def _without_secrets(self, picture: Picture, view: View) -> Picture | None:
        """Return what those may see of it who see no secrets. A page that shows a dialog says nothing of any."""
        if self._tab is None or self._record.dialog is not None:
            return None
        return await self._masked.instead_of(picture, self._tab, view.width, is_current=self._is_current())

    # --- how pictures are made ---------------------------------------------------------------------------------------

    def _recast(self, tab: Tab | None, view: View) -> None:
        """Have pictures made of this tab, or none."""
        if self._cast is not None:
            self._background.spawn(self._cast.end())
        if self._probe is not None:
            self._probe.cancel()
            self._probe = None
        self._tab, self._cast = tab, None
        if tab is not None:
            cdp, page = tab.cdp, tab.page
            self._cast = ChromiumCast(cdp, view, self._show) if cdp else ScreenshotCast(page, view, self._show)
            self._background.spawn(self._cast.begin())

    def _show(self, data: str, width: int, height: int) -> None:
        if self._picture is None or self._picture.data != data or not self._is_current():
            at, navigations = time.monotonic(), self._record.navigations
            self._picture = Picture(data, width, height, at, self._next_seq(), navigations)
            self._changed.set()

    def _next_seq(self) -> int:
        self._seq += 1
        return self._seq

    def _end_later(self) -> None:
        if self._ending is not None:
            self._ending.cancel()
        self._ending = asyncio.get_running_loop().call_later(LASTS_S, self._end)

    def _end(self) -> None:
        """Make no more pictures, unless somebody asks again."""
        if not self._asking:
            self._recast(None, View())


async def _answers(tab: Tab) -> None:
    """Return once the page answers, or is gone."""
    with contextlib.suppress(PlaywrightError):
        await (tab.cdp.send("Runtime.evaluate", {"expression": "1"}) if tab.cdp else tab.page.evaluate("1"))


def _shown(act: ShownCall) -> ShownAct:
    call = act.run.call
    over = "failed" if act.failed else "done"
    return ShownAct(
        client_id=call.client_id,
        client_label=call.client_label,
        action=act.run.action.name(),
        ago_ms=round((time.monotonic() - act.began_at) * 1000),
        state="running" if act.ended_at is None else over,
        by_person=call.by_person,
        target=act.target,
    )


def _shown_challenge(asked: Challenge | None) -> ShownChallenge | None:
    if asked is None:
        return None
    return ShownChallenge(origin=asked.origin, realm=one_line(asked.realm), refused=asked.refused)
