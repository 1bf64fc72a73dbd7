"""Tells a person's mouse and keyboard at a tab's own window from those of agents.

To a page they look alike. So whatever makes Playwright press says by `sent` how many presses it asks for, and the tab
counts all that come: what is more is the person's. Where that is not certain, the person did nothing: presses that were
asked for need not be sent (a tick may be there already), and in frames of other sites none are heard. What a person
does to the page by the wall is theirs, too, and is not said.
"""

import asyncio
import inspect
import json
import math
import secrets
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final, TypeVar

from playwright.async_api import CDPSession
from playwright.async_api import Error as PlaywrightError

from browser_service.host import errors
from browser_service.host.scripts import call_of, script

STILL_S: Final = 3.0
"""After a press of the person's, an agent's next act waits until there was none for so long."""
_CLICK: Final = "pointerdown"
_KEY: Final = "keydown"
_HELD_BACK: Final = "held back"
_KINDS: Final = {_CLICK: "clicked", _KEY: "typed"}
_MOST: Final = 2_000
_LATE_S: Final = 0.5
"""An act's own press may come this long after its end."""

T = TypeVar("T")
Counts = Mapping[str, int]
"""How many presses, by their kind."""


def clicks(times: int = 1, modifiers: Sequence[str] | None = None) -> Counts:
    """Return what clicks send, with keys held down meanwhile."""
    return {_CLICK: times, _KEY: len(modifiers or ())}


def chord(keys: str) -> Counts:
    """Return what a key sends, with the keys before it, as in "Control+A"."""
    return {_KEY: 1 + keys[:-1].count("+")}


def typing(text: str) -> Counts:
    """Return what typing a text sends at most: Playwright inserts signs that its keyboard has not, and it has ASCII
    only. It presses no Shift for capitals."""
    return {_KEY: sum(map(str.isascii, text))}


NO_PRESS: Final[Counts] = {}
"""What Playwright sets by the page's scripts: an option, a file."""


def filling(text: str) -> Counts:
    """Return what filling a field sends: Playwright inserts a text, and empties a field by a key."""
    return {_KEY: int(not text)}


@dataclass
class Sent:
    """What an act has sent to its page."""

    any: bool = False
    """True once an input came to its end: from then on, no error means that nothing happened."""


@contextmanager
def sending() -> Iterator[Sent]:
    """Note what is sent to the page in the block."""
    sends = Sent()
    before = _sent.set(sends)
    try:
        yield sends
    finally:
        _sent.reset(before)


async def sent(call: Awaitable[T], counts: Counts) -> T:
    """Await a call of Playwright that gives the page input, with so many presses, as the act's own."""
    result = await _pressed(call, counts)
    if (sends := _sent.get()) is not None:
        sends.any = True
    return result


async def _pressed(call: Awaitable[T], counts: Counts) -> T:
    presses = _presses.get()
    if presses is None:
        return await call
    if counts.get(_CLICK):
        try:
            await presses.before_click()
        except BaseException:
            if inspect.iscoroutine(call):
                call.close()  # else Python warns that nobody awaited it
            raise
    with presses.asking(counts):
        return await call


class Presses:
    """The presses in one tab, and which of them are a person's."""

    def __init__(self) -> None:
        self.on_persons: Callable[[], None] = lambda: None
        """Called for what a person did."""
        self.before_click: Callable[[], Awaitable[None]] = _nothing
        """Called before the mouse is pressed, which activates the tab's window."""
        self._persons_at = -math.inf
        self._told_at = -math.inf
        """The last of the person's presses that a reply tells of."""
        self._asked = Counter[str]()
        """How many presses Playwright was asked for, since the tab is there."""
        self._asking: list[Counts] = []
        self._acts = set[ActPresses]()
        self._late = Counter[str]()
        """How many of the last act's presses have not come yet."""
        self._late_until = -math.inf

    async def note_by(self, cdp: CDPSession) -> None:
        """Make each document of the tab tell of presses; frames in processes of their own are left out."""
        name = f"_{secrets.token_hex(8)}"
        cdp.on("Runtime.bindingCalled", lambda event: self._note(event["payload"]) if event["name"] == name else None)
        source = call_of(script("presses"), json.dumps(name))
        await asyncio.gather(
            cdp.send("Page.enable"),
            cdp.send("Runtime.enable"),  # without these, documents to come have neither script nor function
            cdp.send("Runtime.addBinding", {"name": name, "executionContextName": name}),
            cdp.send(
                "Page.addScriptToEvaluateOnNewDocument",
                {"source": source, "worldName": name, "runImmediately": True},
            ),
        )

    def begin_act(self) -> "ActPresses":
        """Begin an act of an agent in this tab, and in this task."""
        _presses.set(self)
        act = ActPresses(self._asked.copy())
        self._acts.add(act)
        return act

    def end_act(self, act: "ActPresses") -> list[str]:
        """Return what a person did during an act, in words; empty for nothing."""
        self._acts.discard(act)
        done = []
        for kind, word in _KINDS.items():
            own, came = self._asked[kind] - act.before[kind], act.came[kind]
            self._late[kind] = max(0, own - len(came))
            if len(came) > own + act.repeated[kind]:
                done.append(word)
                self._note_persons(came[-1])
                self._told_at = self._persons_at
        self._late_until = time.monotonic() + _LATE_S
        return done

    async def until_still(self) -> bool:
        """Wait until the person has pressed nothing for STILL_S. Returns whether they did what no reply has told."""
        waited = False
        while (left_s := self._persons_at + STILL_S - time.monotonic()) > 0:
            await asyncio.sleep(left_s)
            waited = True
        is_new, self._told_at = waited and self._persons_at > self._told_at, self._persons_at
        return is_new

    @contextmanager
    def asking(self, counts: Counts) -> Iterator[None]:
        """Count presses as asked for, unless the block fails because it waited in vain for what it would press on."""
        self._asked.update(counts)
        self._asking.append(counts)
        try:
            yield
        except PlaywrightError as error:
            if errors.is_timeout(error) and not errors.began(error):
                self._asked.subtract(counts)
            raise
        finally:
            self._asking.remove(counts)

    def _note(self, told: str) -> None:
        now = time.monotonic()
        if told == _HELD_BACK:  # by Playwright, as it hit something else, and does all again; or by the page
            for act in self._acts:
                for counts in self._asking:
                    act.repeated.update(counts)
        elif self._late[told] and now < self._late_until:
            self._late[told] -= 1
        elif self._acts:
            for act in self._acts:
                act.came[told].append(now)
        else:
            self._note_persons(now)

    def _note_persons(self, moment: float) -> None:
        self._persons_at = max(self._persons_at, moment)
        self.on_persons()


async def _nothing() -> None: ...


_presses: Final = ContextVar[Presses | None]("presses", default=None)
"""The presses of the tab in which this task acts; None in a browser that is no person's."""
_sent: Final = ContextVar[Sent | None]("sent", default=None)
"""What the act of this task has sent; None where no act runs."""


class ActPresses:
    """The presses in a tab while an act of an agent runs."""

    def __init__(self, before: Counts) -> None:
        self.before = before
        """How many had been asked for before."""
        self.came = {kind: deque[float](maxlen=_MOST) for kind in _KINDS}
        """When they came, by kind."""
        self.repeated = Counter[str]()
        """How many of them Playwright may have sent once more."""
