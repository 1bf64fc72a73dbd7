"""Tests which events of a tab are heard where it makes too many."""

import asyncio
from typing import cast

import pytest
from playwright.async_api import ConsoleMessage, Error, Page, Request, Response

from browser_service.host.network.tab_events import PER_SECOND, TabEvents, TabListener
from tests.support.clock import Clock
from tests.support.fakes.events import Emitter, Listener

pytestmark = pytest.mark.anyio

KINDS = {"requests": "request", "messages": "console", "errors": "pageerror"}


class Event:
    def __init__(self, at: float) -> None:
        self.timestamp = at * 1000


class Notes(TabListener):
    """Notes what is heard, and what is missed."""

    def __init__(self, heard: list[str], missed: list[str]) -> None:
        self.heard, self.missed = heard, missed

    def on_request(self, _: Request) -> None:
        self.heard.append("request")

    def on_response(self, _: Response) -> None:
        self.heard.append("response")

    def on_message(self, _: ConsoleMessage) -> None:
        self.heard.append("console")

    def on_error(self, _: Error) -> None:
        self.heard.append("pageerror")

    def on_requests_missed(self) -> None:
        self.missed.append("requests")

    def on_messages_missed(self) -> None:
        self.missed.append("console")


class Tab(Emitter):
    """A page whose events a test emits, and what was heard of them."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.heard: list[str] = []
        self.missed: list[str] = []
        self._heard_again = asyncio.Event()
        self.events = events = TabEvents(cast("Page", self), self.clock)
        events.listeners.append(Notes(self.heard, self.missed))
        events.hear_console()

    def is_closed(self) -> bool:
        return False

    def on(self, event: str, listener: Listener) -> None:
        super().on(event, listener)
        if self.missed:
            self._heard_again.set()

    def make(self, event: str, count: int) -> int:
        """Emit a number of events, and return how many were noticed."""
        self.heard.clear()
        for _ in range(count):
            self.emit(event, Event(self.clock()))
        return len(self.heard)

    async def until_heard_again(self) -> None:
        self._heard_again.clear()
        await asyncio.wait_for(self._heard_again.wait(), 10)
        self.clock.pass_s(1)


@pytest.mark.parametrize("event", KINDS.values(), ids=KINDS)
async def test_excess_events_go_unheard_for_a_while(event: str) -> None:
    tab = Tab()
    for times in (1, 2):
        assert tab.make(event, PER_SECOND + 50) == PER_SECOND
        assert tab.missed == ["requests" if event == "request" else "console"] * times
        assert not tab.emit(event, Event(tab.clock())), "the driver need not even send them"
        await tab.until_heard_again()
    assert tab.make(event, 1) == 1


async def test_a_loud_console_hides_no_requests_and_answers_do_not_count() -> None:
    tab = Tab()
    tab.make("console", 2 * PER_SECOND)
    assert tab.make("request", PER_SECOND) == PER_SECOND
    assert tab.make("response", 2 * PER_SECOND) == 2 * PER_SECOND


async def test_slow_events_are_all_heard() -> None:
    tab = Tab()
    for _ in range(4):
        assert tab.make("console", PER_SECOND) == PER_SECOND
        tab.clock.pass_s(1)
    assert tab.missed == []


async def test_a_burst_counts_as_too_much_even_if_it_arrives_slowly() -> None:
    tab = Tab()
    written_at = tab.clock()
    for _ in range(PER_SECOND + 1):
        tab.emit("console", Event(written_at))
        tab.clock.pass_s(0.1)
    assert (len(tab.heard), tab.missed) == (PER_SECOND, ["console"])
