"""Tests the rules of limits, without a browser: turns at a site, and what a site's words mean."""

from datetime import UTC, datetime

import pytest

from browser_service.configuration import client_limits, origin_limits
from browser_service.rules.origin_turns import OriginLimits, OriginTurns, Visit
from browser_service.rules.quotas import ClientLimits
from browser_service.security.urls import is_private, origin_of
from browser_service.settings import Settings
from browser_service.spine.politeness import retry_after_s
from shared.events import CallMoved
from tests.support.clock import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()


def visits(*clients: str) -> list[Visit]:
    return [Visit(f"{client}{n}", client, "goto", 30.0) for n, client in enumerate(clients)]


def origin(clock: Clock, at_once: int, per_minute: int) -> tuple[OriginTurns, list[CallMoved]]:
    told: list[CallMoved] = []
    return OriginTurns("http://x", OriginLimits(at_once, per_minute), told.append, clock), told


def test_visits_go_in_the_order_in_which_they_came(clock: Clock) -> None:
    site, told = origin(clock, 1, 0)
    first, *waiting = visits("a", "a", "b", "a")
    assert site.enter(first)
    assert [site.enter(visit) for visit in waiting] == [False] * 3
    assert {moved.call_id: moved.position for moved in told} == {"a1": 1, "b2": 2, "a3": 3}
    running = first
    for next_one in waiting:
        site.leave(running)
        assert [visit for visit in waiting if site.runs(visit)] == [next_one]
        running = next_one


def test_a_visit_of_several_requests_needs_room_for_all_and_pays_for_all(clock: Clock) -> None:
    site, _ = origin(clock, 0, 8)
    several = Visit("a0", "a", "batch", 30.0, 5)
    assert site.enter(several)
    again = Visit("a1", "a", "batch", 30.0, 4)
    assert not site.enter(again)
    assert site.rate.free_in(4) == 60
    assert site.rate.free_in() == 0
    assert not site.enter(visits("b")[0]), "nobody overtakes who waits"
    endless = Visit("b0", "b", "batch", 30.0, 100)
    clock.pass_s(60)
    site.advance()
    assert site.runs(again)
    clock.pass_s(60)
    assert site.enter(endless), "more than there ever is room for goes when nobody else does"


def test_the_rate_is_of_any_minute(clock: Clock) -> None:
    site, _ = origin(clock, 0, 3)
    for visit in visits(*"aab"):
        assert site.enter(visit)
        site.leave(visit)
        clock.pass_s(1)
    assert site.rate.free_in() == 60 - 3
    clock.pass_s(57)
    assert site.rate.free_in() == 0
    assert site.rate.free_in(2) == 1


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 120])
def test_a_limit_is_never_exceeded_and_always_used_up_by_many(clock: Clock, limit: int) -> None:
    site, _ = origin(clock, limit, 0)
    crowd = visits(*(f"client-{n}" for n in range(limit + 5)))
    assert sum([site.enter(visit) for visit in crowd]) == limit


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("120", 120),
        (" 7 ", 7),
        ("Sat, 21 Nov 2026 12:00:30 GMT", 30),
        ("Saturday, 21-Nov-26 12:01:00 GMT", 60),
        ("Sat, 21 Nov 2026 11:00:00 GMT", -3600),
        ("9" * 400, 999_999_999),
        ("-5", None),
        ("1.5", None),
        ("٣", None),
        ("soon", None),
        ("", None),
        (None, None),
    ],
)
def test_retry_after_is_read_as_seconds_or_as_a_date(header: str | None, seconds: int | None) -> None:
    assert retry_after_s(header, datetime(2026, 11, 21, 12, tzinfo=UTC)) == seconds


@pytest.mark.parametrize(
    ("url", "base", "name"),
    [
        ("https://Example.com:443/a?b#c", "", "https://example.com"),
        ("http://example.com.", "", "http://example.com"),
        ("http:\\\\example.com\\a", "", "http://example.com"),
        ("http://user:pw@127.1:8080/", "", "http://127.0.0.1:8080"),
        ("//cdn.example.com/x", "https://example.com/", "https://cdn.example.com"),
        ("/x", "https://example.com/a/b", "https://example.com"),
        ("http://[::1]:80/", "", "http://[::1]"),
        ("about:blank", "", None),
        ("blob:https://example.com/1", "", None),
        ("example.com", "", None),
        ("http://[", "", None),
        ("http://a:b/", "", None),
    ],
)
def test_an_origin_has_one_name_however_it_is_spelled(url: str, base: str, name: str | None) -> None:
    assert origin_of(url, base) == name


@pytest.mark.parametrize(
    ("origin", "private"),
    [
        ("http://localhost:3000", True),
        ("http://127.0.0.1", True),
        ("http://[::1]:8080", True),
        ("https://10.1.2.3", True),
        ("http://192.168.0.7:81", True),
        ("http://[fd12::1]", True),
        ("http://web:8000", True),
        ("http://shop.localhost", True),
        ("http://nas.local", True),
        ("https://example.com", False),
        ("https://localhost.example.com", False),
        ("http://8.8.8.8", False),
        ("http://[2606:4700::1111]", False),
    ],
)
def test_this_machine_and_private_networks_have_no_limits_by_default(origin: str, *, private: bool) -> None:
    assert is_private(origin) is private
    assert OriginLimits().of(origin) == (OriginLimits(at_once=0, per_minute=0) if private else OriginLimits())
    assert OriginLimits(local=True).of(origin) == OriginLimits(local=True)


def test_by_default_everything_is_limited_and_generously() -> None:
    settings = Settings.alone({})
    assert client_limits(settings) == ClientLimits(30, 32, 600)
    assert origin_limits(settings) == OriginLimits(8, 120, 900, local=False)
