"""Tests how the events of a tab are metered: by the clock of its page, so that a busy machine makes no flood."""

import asyncio
import time
from typing import cast

import pytest
from playwright.async_api import Page

from browser_service.host.page.meter import MESSAGES, EventMeter, Kind
from tests.support.fakes.events import Emitter, Listener

pytestmark = pytest.mark.anyio


class Message:
    text = "said"

    def __init__(self, at: float) -> None:
        self.timestamp = at * 1000


class Tab(Emitter):
    """Represents a tab, and what its meter made of it."""

    def __init__(self, per_second: int = 100) -> None:
        super().__init__()
        self.listened = asyncio.Event()
        self.floods: list[Kind] = []
        self.heard: list[object] = []
        self.missed = 0
        self.flooded = asyncio.Event()
        self.meter = EventMeter(cast("Page", self), per_second, self._flood)
        self.meter.messages.append(self.heard.append)
        self.meter.messages_missed.append(self._miss)
        self.meter.hear_console()

    def is_closed(self) -> bool:
        return False

    def _flood(self, kind: Kind) -> None:
        self.floods.append(kind)
        self.flooded.set()

    def _miss(self) -> None:
        self.missed += 1

    def write(self, messages: int, within_s: float, age_s: float = 0.0) -> None:
        """Write evenly, the last of them `age_s` ago."""
        end = time.time() - age_s
        for number in range(messages):
            self.emit("console", Message(end - within_s * (messages - 1 - number) / messages))

    def on(self, event: str, listener: Listener) -> None:
        super().on(event, listener)
        if event == "console":
            self.listened.set()

    async def until_heard(self) -> None:
        self.listened.clear()
        await asyncio.wait_for(self.listened.wait(), 10)
        self.emit("console", Message(time.time()))


async def test_of_a_burst_the_rest_is_left_out_and_what_follows_is_heard() -> None:
    tab = Tab()
    tab.write(MESSAGES + 50, within_s=0.1)
    heard = len(tab.heard)
    assert (MESSAGES <= heard < MESSAGES + 50, tab.missed, tab.floods) == (True, 1, [])
    await tab.until_heard()
    assert (len(tab.heard), tab.floods) == (heard + 1, [])


async def test_a_burst_that_goes_on_is_a_flood() -> None:
    tab = Tab()
    for extra in (50, 0):
        tab.write(MESSAGES + extra, within_s=0.1)
        await tab.until_heard()
    assert tab.floods == []
    tab.write(MESSAGES, within_s=0.1)
    assert tab.floods == [Kind.CONSOLE]
    assert not tab.emit("console", Message(time.time())), "nobody listens any more"


async def test_a_burst_that_comes_late_is_left_out_sooner_and_what_is_left_of_it_is_no_flood() -> None:
    tab = Tab()
    tab.write(100, within_s=0.1, age_s=1)
    assert (len(tab.heard) < 50, tab.missed, tab.floods) == (True, 1, [])
    await tab.until_heard()
    heard = len(tab.heard)
    tab.write(MESSAGES, within_s=0.1, age_s=2)
    assert (len(tab.heard), tab.missed, tab.floods) == (heard, 1, [])


async def test_steady_talk_is_no_flood() -> None:
    tab = Tab()
    tab.write(MESSAGES + 50, within_s=1.5, age_s=1)
    assert (tab.missed, tab.floods) == (1, [])


async def test_texts_count_by_their_length() -> None:
    tab = Tab(per_second=10)
    tab.meter.spend(Kind.SOCKET_MESSAGES, characters=100)
    assert not tab.floods
    tab.meter.spend(Kind.SOCKET_MESSAGES, characters=1_000_000)
    tab.meter.spend(Kind.SOCKET_MESSAGES)
    assert tab.floods == [Kind.SOCKET_MESSAGES], "it is told once"


async def test_without_a_limit_everything_is_heard() -> None:
    tab = Tab(per_second=0)
    tab.write(10 * MESSAGES, within_s=0.1)
    for _ in range(10_000):
        tab.meter.spend(Kind.ERRORS)
    assert (len(tab.heard), tab.floods) == (10 * MESSAGES, [])


class Request:
    method = "GET"


async def test_requests_that_go_on_while_everybody_waits_are_a_flood() -> None:
    tab = Tab(per_second=10)
    asked = asyncio.Event()

    async def slow() -> None:
        asked.set()
        await asyncio.sleep(0.4)  # as a driver that is busy

    tab.meter.probe = slow
    for _ in range(2):
        asked.clear()
        async with asyncio.timeout(10):
            while not asked.is_set():
                tab.emit("request", Request())
                await asyncio.sleep(0)  # lets the meter ask
    await asyncio.wait_for(tab.flooded.wait(), 10)
    assert tab.floods == [Kind.REQUESTS]
