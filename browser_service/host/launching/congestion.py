"""Watches whether the browser answers, and stops the renderer that keeps it from that.

All pages share one main thread of the browser, one driver and one event loop. A page can give them so much to do that
nothing of it reaches us that could be counted, and no command the browser. How much is waiting there is told by the
processor time that they use until they answer a question that costs them nothing: a machine that is busy with other
things makes the answer late, but not dear. The renderer behind it is stopped until the browser has worked off what came
and others have had their turn, and then goes on in short turns as long as it floods again, which a page that is meant
well hardly notices. One that has cost too much is ended.
"""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from math import inf
from typing import Final

import psutil
import structlog
from playwright.async_api import CDPSession
from playwright.async_api import Error as PlaywrightError

from browser_service.host.launching.load import Load, Usage, flooding

_log = structlog.get_logger(__name__)

_EVERY_S: Final = 0.05
_EVERY_WHEN_IDLE_S: Final = 0.5
"""While no call runs it is asked less often."""
_READS_EVERY_S: Final = 0.4
"""So often it is noted what all have used, to know later what they used just before."""
_LOOKS_EVERY_S: Final = 0.01
_SUSPICIOUS_S: Final = 0.03
"""An answer costs less than 5 ms of the processors. From so much on it is looked who uses the others."""
_LATE_S: Final = 0.06
_LEFT_S: Final = 0.03
"""Is what a renderer that was stopped for a flood before may leave to do after a turn; more is a flood again."""
_ANSWERS_WITHIN_S: Final = 2.0
_DRAINS_WITHIN_S: Final = 10.0
"""What a renderer sent before its stop is waited for no longer."""
_DOES_NOTHING_S: Final = 0.01
_WITHIN_THIS_S: Final = 0.3
"""Processes that use less within this time do not work anything off."""
_OTHERS_TURN_S: Final = 0.25
"""So long it stays stopped when the browser answers again: calls that were kept waiting ask it several times."""
_RESTS: Final = 4
_TURN_S: Final = 0.01
_SHORTEST_TURN_S: Final = 0.001
_EXACT_S: Final = 0.003
"""Nothing else is done during shorter turns: they would end late, and a thousandth of a second of one page can be a
tenth of all others'."""
_BEARABLE_S: Final = 0.1
"""The next turn of one that gave the browser more to do is shorter in proportion."""
_BUSY: Final = 0.8
"""All that is shared is kept busy where it uses so much of a processor."""
_CALM_S: Final = 1.0
"""One that has gone on for so long without a flood is free again."""
_HEAVY_S: Final = 0.2
_DEAR_S: Final = 6.0
"""An honest page that loads 300 files twice comes to 2 s, and on a busy machine to more than 3."""
_WITHIN_S: Final = 15.0
"""A renderer is ended of which turns that cost more than the first come to the second within this time."""
_MOST_TURNS: Final = 100
"""So is one that floods in each of so many turns: half a minute."""


class Offences:
    """Adds up what the heavy floods of each renderer have cost of late."""

    def __init__(self, dear_s: float = _DEAR_S, clock: Callable[[], float] = time.monotonic) -> None:
        self._dear_s, self._clock = dear_s, clock
        self._latest = deque[tuple[float, psutil.Process, float]](maxlen=100)

    def add(self, renderer: psutil.Process, cost: float) -> bool:
        """Note one more, which cost so many seconds of a processor, and return whether that is too much."""
        now = self._clock()
        if cost >= _HEAVY_S:
            self._latest.append((now, renderer, cost))
        return (
            sum(each for at, whose, each in self._latest if whose == renderer and now - at < _WITHIN_S) >= self._dear_s
        )


class Congestion:
    """Watches the browsers of one driver."""

    def __init__(
        self,
        browsers: Callable[[], Sequence[CDPSession]],
        driver: Callable[[], psutil.Process | None],
        busy: Callable[[], bool],
        on_held: Callable[[Iterable[psutil.Process]], object],
        dear_s: float = _DEAR_S,
    ) -> None:
        """`browsers`: a session of Chromium's for each browser that is watched; `busy`: says whether calls run;
        `on_held` is told which renderers are being stopped, before one is; a renderer is ended whose turns cost
        `dear_s`."""
        self._browsers, self._load, self._busy, self._on_held = browsers, Load(driver), busy, on_held
        self._offences = Offences(dear_s)
        self._ended_at = -_ANSWERS_WITHIN_S
        self._latest = Usage(-inf, 0.0, {})
        self._held = dict[psutil.Process, asyncio.Task[None]]()
        self._turn = asyncio.Lock()

    @property
    def ended_one(self) -> bool:
        """True where a renderer whose end is told now was ended by us."""
        return time.monotonic() - self._ended_at < _ANSWERS_WITHIN_S

    async def run(self) -> None:
        try:
            while True:
                await asyncio.sleep(_EVERY_S if self._busy() else _EVERY_WHEN_IDLE_S)  # nothing tells that it is late
                browsers = self._browsers()
                if browsers and time.monotonic() >= self._latest.at + _READS_EVERY_S:
                    self._latest = self._load.all_usage()
                await asyncio.gather(*(self._look(each) for each in browsers), return_exceptions=True)
        finally:
            for each in self._held.values():
                each.cancel()

    async def _look(self, browser: CDPSession) -> None:
        """Ask a browser something, and stop what keeps it from answering."""
        question = Question(browser, self._load)
        try:
            before = self._latest
            if not await question.costs(_SUSPICIOUS_S):
                return
            self._load.look_up()
            if not await question.costs(_LATE_S) or self.ended_one:
                return
            if (guilty := await self._guilty(question, before)) is not None:
                self._held[guilty] = asyncio.ensure_future(self._hold(browser, guilty))
        finally:
            question.drop()

    async def _guilty(self, question: "Question", before: Usage) -> psutil.Process | None:
        """Find the renderer that keeps a browser from answering, if it is clear which one that is. While one is held
        already that may be the reason still."""
        while True:
            after = self._load.usage()
            if (most := flooding(before, after, alone=not self._held)) is not None:
                return most if most not in self._held else None
            before = after
            if not await question.costs(question.cost + _LATE_S):
                return None

    async def _hold(self, browser: CDPSession, renderer: psutil.Process) -> None:
        """Stop a renderer, and let it go on in short turns until it keeps nobody waiting any more."""
        _log.info("a page keeps the browser from answering; its renderer is stopped for a while", pid=renderer.pid)
        try:
            self._on_held(self._held)
            renderer.suspend()
            turn_s = next_turn(_TURN_S, await self._answered(browser))
            for _ in range(_MOST_TURNS):
                if not await self._others_are_served(browser):
                    return
                if not (cost := await self._floods_again(browser, renderer, turn_s)):
                    return
                if self._offences.add(renderer, cost):
                    break
                turn_s = next_turn(turn_s, cost)
            self._end(renderer)
        except psutil.Error:
            return  # it has ended
        finally:
            self._held.pop(renderer, None)
            with contextlib.suppress(psutil.Error):
                renderer.resume()
            self._on_held(self._held)

    async def _others_are_served(self, browser: CDPSession) -> bool:
        """Leave a renderer stopped until the browser answers soon. Returns False if it does not, so that something else
        is the reason."""
        for _ in range(_RESTS):
            await asyncio.sleep(_OTHERS_TURN_S)  # nothing tells when others have had theirs
            if not await self._late(browser):
                return True
        return False

    async def _floods_again(self, browser: CDPSession, renderer: psutil.Process, turn_s: float) -> float:
        """Give a renderer that is stopped turns, as the only one, until it floods again or has not for a while. Returns
        what its flood cost."""
        calm_s = 0.0
        async with self._turn:
            while calm_s < _CALM_S:
                before = self._load.usage()
                await _go_on(renderer, turn_s)
                left = await self._answered(browser)
                after = self._load.usage()
                if floods(renderer, before, after, left):
                    return after.shared - before.shared
                calm_s, turn_s = calm_s + turn_s, min(2 * turn_s, _TURN_S)
        return 0.0

    async def _answered(self, browser: CDPSession) -> float:
        """Wait until a browser answers. Returns what that cost, s."""
        question = Question(browser, self._load, _DRAINS_WITHIN_S)
        try:
            await question.is_worked_off()
            return question.cost
        finally:
            question.drop()

    async def _late(self, browser: CDPSession) -> bool:
        """Ask a browser something, and say if it is kept from answering."""
        question = Question(browser, self._load)
        try:
            return await question.costs(_LATE_S)
        finally:
            question.drop()

    def _end(self, renderer: psutil.Process) -> None:
        _log.warning("a page kept the browser from answering; its renderer was ended", pid=renderer.pid)
        self._ended_at = time.monotonic()
        renderer.kill()


def floods(renderer: psutil.Process, before: Usage, after: Usage, left_s: float) -> bool:
    """Say if a renderer has flooded in its turn, after which so much was left to do. One that did nothing has not:
    others have calls too."""
    did_something = after.renderers.get(renderer, 0.0) > before.renderers.get(renderer, 0.0)
    busy = after.shared - before.shared >= _BUSY * (after.at - before.at)
    return did_something and (left_s >= _LEFT_S or (busy and flooding(before, after) == renderer))


def next_turn(turn_s: float, cost_s: float) -> float:
    """Return how long the next turn is after one that cost so much."""
    return max(_SHORTEST_TURN_S, turn_s * _BEARABLE_S / max(cost_s, _BEARABLE_S))


async def _go_on(renderer: psutil.Process, turn_s: float) -> None:
    """Let a renderer that is stopped go on for so long."""
    renderer.resume()
    if turn_s <= _EXACT_S:
        time.sleep(turn_s)  # noqa: ASYNC251 - as said beside that limit
    else:
        await asyncio.sleep(turn_s)  # nothing tells that it floods
    renderer.suspend()


class Question:
    """Asks a browser something that costs it nothing, and says what it does before it answers."""

    def __init__(self, browser: CDPSession, load: Load, within_s: float = _ANSWERS_WITHIN_S) -> None:
        self._load = load
        self._gives_up_at = time.monotonic() + within_s
        self._before = load.shared()
        self._answer = asyncio.ensure_future(_answer(browser))

    @property
    def cost(self) -> float:
        """Return what the processes that all share have used of the processors since it was asked, s."""
        return self._load.shared() - self._before

    async def costs(self, dear_s: float) -> bool:
        """Wait for the answer. Returns True as soon as it costs so much, or False if it comes before, or never."""
        while time.monotonic() < self._gives_up_at:
            done, _ = await asyncio.wait({self._answer}, timeout=_LOOKS_EVERY_S)
            if done:
                return False
            if self.cost >= dear_s:
                return True
        return False

    async def is_worked_off(self) -> None:
        """Wait for the answer, as long as anything is done before it. A browser that does nothing may wait for the
        renderer that is stopped."""
        cost, done = -inf, set[asyncio.Future[None]]()
        while not done and self.cost - cost >= _DOES_NOTHING_S and time.monotonic() < self._gives_up_at:
            cost = self.cost
            done, _ = await asyncio.wait({self._answer}, timeout=_WITHIN_THIS_S)

    def drop(self) -> None:
        self._answer.cancel()


async def _answer(browser: CDPSession) -> None:
    with contextlib.suppress(PlaywrightError):  # it has just ended
        await browser.send("Browser.getVersion")
