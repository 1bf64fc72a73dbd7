"""Tests the limits of one client, without running calls: the clock is handed in."""

import pytest

from browse_together.contract import catalogue
from browse_together.contract.errors import RateLimited, ResourceExhausted
from browser_service.configuration import client_limits
from browser_service.rules.quotas import ClientLimits, Quotas
from browser_service.rules.window import MovingWindow
from browser_service.settings import Settings
from tests.support.clock import Clock

READ = catalogue.parse({"action": "get_page_title", "pageId": "p"})
BATCH = catalogue.parse({"action": "batch", "pageId": "p", "steps": [{"action": "get_page_title"}] * 3})
STOP = catalogue.parse({"action": "cancel_call", "callId": "c"})


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_a_call_that_ended_counts_for_a_minute_and_runs_no_more(clock: Clock) -> None:
    quotas = Quotas(ClientLimits(in_flight=1, per_minute=2), clock)
    quotas.admit("c", READ)
    assert quotas.begin("c", "c-1", READ)
    assert not quotas.begin("c", "c-1", READ), "a call that is joined counts once"
    with pytest.raises(RateLimited, match="1 of your calls are running"):
        quotas.admit("c", READ)
    quotas.admit("c", STOP)
    assert not quotas.begin("c", "c-2", STOP)
    quotas.admit("other", READ)
    quotas.end("c", "c-1")
    quotas.admit("c", READ)
    assert quotas.begin("c", "c-3", READ)
    quotas.end("c", "c-3")
    with pytest.raises(RateLimited, match="2 calls within a minute"):
        quotas.admit("c", READ)
    clock.pass_s(60)
    quotas.admit("c", READ)


def test_each_step_of_a_batch_counts(clock: Clock) -> None:
    quotas = Quotas(ClientLimits(per_minute=4), clock)
    quotas.begin("c", "c-1", BATCH)
    quotas.admit("c", READ)
    with pytest.raises(RateLimited):
        quotas.admit("c", BATCH)


def test_opening_pages_count_like_open_ones_and_each_page_counts_once(clock: Clock) -> None:
    quotas = Quotas(ClientLimits(pages=2), clock)
    quotas.check_pages(["a"], {"a"})
    with pytest.raises(ResourceExhausted, match="2 pages open") as refusal:
        quotas.check_pages(["a"], {"b"})
    assert refusal.value.details["context"] == {"limit": "pages", "value": 2, "pages": ["a"]}
    Quotas(ClientLimits(pages=0), clock).check_pages(["a"], {"b"})


def test_the_rate_is_of_any_minute(clock: Clock) -> None:
    window = MovingWindow(3, clock)
    for _ in range(3):
        window.add()
        clock.pass_s(1)
    assert window.free_in() == 60 - 3
    clock.pass_s(57)
    assert (window.free_in(), window.free_in(2)) == (0, 1)
    window.add()
    assert window.free_in(100) == 60, "more than there ever is room for fits once nothing else is there"


def test_by_default_clients_are_limited_and_generously() -> None:
    assert client_limits(Settings.alone({})) == ClientLimits(30, 32, 600)
