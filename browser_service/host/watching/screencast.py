"""Shows a page to its viewers: its picture as it changes, and the act that runs there. It works only while they ask."""

import asyncio
import contextlib
import itertools
import secrets
import time
from dataclasses import dataclass
from typing import Final

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Locator
from pydantic import ValidationError

from browse_together.contract.background import AtMost, Background
from browse_together.contract.frames import Box, Frame, FrameState, ShownAct, ShownChallenge, View
from browse_together.contract.quoting import one_line
from browser_service.host import world
from browser_service.host.calls import CallRun
from browser_service.host.record.life import Life
from browser_service.host.record.record import PageRecord
from browser_service.host.scripts import script
from browser_service.host.tabs.cast import Cast, ChromiumCast, Picture, ScreenshotCast, Sent
from browser_service.host.tabs.secrecy import MaskedPictures
from browser_service.host.tabs.tab import Tab
from browser_service.rules.turns import PageQueue
from browser_service.security.http_logins import Challenge
from browser_service.waits import wait_until

LASTS_S: Final = 5.0
"""We take pictures for this long after the last request for one."""
_LOOK_S: Final = 1.0
"""Poll interval for changes that send no event, such as parking."""
_SILENT_S: Final = 4.0
"""After this long without a new picture, we ask the page whether it answers."""
_ANSWERS_WITHIN_S: Final = 1.0
_ACT_SHOWN_S: Final = 2.0
"""An act stays shown for this long after its end, because most take no longer than a glance."""
_AIMS_WITHIN_MS: Final = 300
_ELEMENT_BOX: Final = script("element_box")
_MOST_WAITING: Final = 5
_STARTS: Final = itertools.count(secrets.randbelow(1 << 20) + 1)
_START_BITS: Final = 32
"""The upper bits of a frame's number name the screencast that gave it, so that a viewer's last number from another host
or an earlier page with the same id is known for what it is, whatever the clocks say. The whole fits 53 bits, as in
JavaScript."""


@dataclass
class ShownCall:
    """The act of a call, as viewers see it."""

    run: CallRun
    began_at: float
    ended_at: float | None = None
    failed: bool = False
    target: Box | None = None
    pictured: bool = False
    """True if the act's record gets its picture and target, even if nobody watches."""


class Screencast:
    """The picture of one page, whichever tab is behind it, and the act that runs there."""

    def __init__(self, record: PageRecord, queue: PageQueue) -> None:
        self._record, self._queue = record, queue
        self._seq = next(_STARTS) << _START_BITS
        self._changed = asyncio.Event()
        self._picture: Picture | None = None
        self._masked = MaskedPictures(self)
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
        """Return the page's frame once it differs from the one at `seq`, or after `wait_ms`."""
        if seq >> _START_BITS != self._seq >> _START_BITS:
            seq = 0
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
        """True while somebody watches."""
        return self._cast is not None

    def hold(self) -> None:
        """Take no picture for a moment, because one is taken soon anyway; viewers with a high rate still see all."""
        if self._cast is not None:
            self._cast.hold()

    def end(self) -> None:
        """Take no picture any more, and forget the last: the page is over."""
        self._recast(None, View())
        self._picture = None

    async def anew(self) -> Sent | None:
        """Return a picture taken from now on; None if nobody watches, or the browser sends none by itself."""
        return None if self._cast is None else await self._cast.anew()

    # --- for what is done --------------------------------------------------------------------------------------------

    def show(self, run: CallRun) -> ShownCall:
        """Show a call's act on the page until a moment after its end."""
        self._act = ShownCall(run, time.monotonic())
        self._changed.set()
        return self._act

    def finish(self, act: ShownCall, *, failed: bool) -> None:
        act.ended_at, act.failed = time.monotonic(), failed
        self._changed.set()

    def aim(self, element: Locator) -> None:
        """Mark the element at which the act is aimed, if somebody watches or the act is pictured. The act does not wait
        for it."""
        if self._act is not None and (self._cast is not None or self._act.pictured):
            self._background.spawn(self._mark(self._act, element))

    async def _mark(self, act: ShownCall, element: Locator) -> None:
        async with AtMost(_AIMS_WITHIN_MS / 1000, PlaywrightError, ValidationError):  # the last: faked numbers
            # Takes a third of the messages of `bounding_box`, which waits for an element, and handles frames.
            found = await world.evaluate_all(element, _ELEMENT_BOX)
            if found := found or await element.bounding_box(timeout=_AIMS_WITHIN_MS):
                act.target = Box.model_validate(found)
                self._changed.set()

    # --- what there is to see ----------------------------------------------------------------------------------------

    def _look(self) -> None:
        """Take pictures of the current tab, and note what else has changed."""
        tab = self._record.tab if self._record.live else None
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
        """Say if the page has not navigated since its picture: an earlier document cannot be asked for its secrets any
        more."""
        return self._picture is None or self._picture.navigations == self._record.navigations

    def _wanted(self) -> View:
        """Return the view that serves all recent viewers: the greatest width, rate and quality that any of them
        wants."""
        now = asyncio.get_running_loop().time()
        views = [view for view, at in self._views.values() if now - at < LASTS_S] or [View()]
        return View(
            width=max(view.width for view in views),
            fps=max(view.fps for view in views),
            quality=max(view.quality for view in views),
        )

    def _state(self) -> FrameState:
        life = self._record.life
        if life.live:
            return "hung" if self._hangs() else "live"
        if life is Life.PARKED:
            return "parked"
        return "crashed" if life.crashed else "resting"

    def _hangs(self) -> bool:
        """Say if the page has not answered a probe in time. A page that shows a dialog cannot answer, and does not
        hang."""
        asked = self._probe is not None and not self._probe.done() and self._record.dialog is None
        return asked and time.monotonic() - self._probed_at > _ANSWERS_WITHIN_S

    def _ask_for_sign(self) -> None:
        """Probe whether a page that shows nothing new still answers. Start no other probe until it has."""
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
        picture, state, now = self._picture, self._state(), self._seq
        if view.masked and picture is not None:
            picture = await self._without_secrets(picture, view)
            # A page that a dialog has stopped cannot tell its secrets: the dialog, not a secret, hides the picture.
            state = "hidden" if self._masked.hidden and self._record.dialog is None else state
        act = self._shown_act()
        return Frame(
            page_id=self._record.page_id,
            seq=max(now, picture.seq) if picture is not None else now,
            state=state,
            picture=picture.data if picture is not None and picture.seq > seq else None,
            width=picture.width if picture else 0,
            height=picture.height if picture else 0,
            current=picture is None or picture.navigations == self._record.navigations,
            age_ms=round((time.monotonic() - picture.at) * 1000) if picture else None,
            act=_shown(act) if act else None,
            waiting=self._waiting(),
            dialog=self._record.dialog,
            chooser=self._record.chooser,
            shown_list=self._record.shown_list,
            challenge=_shown_challenge(self._record.challenge),
        )

    async def _without_secrets(self, picture: Picture, view: View) -> Picture | None:
        """Return the picture for viewers who may see no secrets; None while a dialog keeps the page from telling its
        secrets."""
        if self._tab is None or self._record.dialog is not None:
            return None
        return await self._masked.instead_of(picture, self._tab, view.width, is_current=self._is_current())

    # --- how pictures are made ---------------------------------------------------------------------------------------

    def _recast(self, tab: Tab | None, view: View) -> None:
        """Take pictures of `tab` from now on; with None, stop."""
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
            self._picture = Picture(data, width, height, at, self.next_seq(), navigations)
            self._changed.set()

    def next_seq(self) -> int:
        self._seq += 1
        return self._seq

    def _end_later(self) -> None:
        if self._ending is not None:
            self._ending.cancel()
        self._ending = asyncio.get_running_loop().call_later(LASTS_S, self._end)

    def _end(self) -> None:
        """Stop taking pictures, unless somebody is asking for one."""
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
