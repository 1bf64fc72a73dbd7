"""Tests the rules of limits, without a browser: turns that are fair to each client, and what a site's words mean."""

from datetime import UTC, datetime

import pytest

from browser_service.rules.origin_turns import OriginLimits, OriginTurns, Visit
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


def test_clients_take_turns_however_many_calls_one_of_them_sent(clock: Clock) -> None:
    site, told = origin(clock, 1, 0)
    first, *waiting = visits("a", "a", "a", "a", "b", "b", "c")
    assert site.enter(first)
    assert [site.enter(visit) for visit in waiting] == [False] * 6
    places = {moved.call_id: moved.position for moved in told}
    assert places == {"a1": 1, "b4": 2, "c6": 3, "a2": 4, "b5": 5, "a3": 6}
    served, running = [], first
    for _ in waiting:
        site.leave(running)
        (running,) = [visit for visit in waiting if site.runs(visit)]
        served.append(running.call_id)
    assert served == ["a1", "b4", "c6", "a2", "b5", "a3"]


def test_the_last_quarter_is_for_clients_that_had_less(clock: Clock) -> None:
    site, _ = origin(clock, 8, 0)
    greedy = visits(*"aaaaaaaa")
    assert [site.enter(visit) for visit in greedy] == [True] * 6 + [False] * 2
    assert site.enter(visits("b")[0])
    site.leave(greedy[0])
    assert not site.runs(greedy[6]), "what became free in the last quarter is not for who has the most"
    assert site.enter(visits("c")[0])


def test_a_visit_of_several_requests_needs_room_for_all_and_pays_for_all(clock: Clock) -> None:
    site, _ = origin(clock, 0, 8)
    several = Visit("a0", "a", "batch", 30.0, 4)
    assert site.enter(several)
    again = Visit("a1", "a", "batch", 30.0, 4)
    assert not site.enter(again)
    assert site.rate_free_in("a", 4) == 60
    assert site.rate_free_in("b") == 0
    endless = Visit("b0", "b", "batch", 30.0, 100)
    clock.pass_s(60)
    site.advance()
    assert site.runs(again)
    clock.pass_s(60)
    assert site.enter(endless), "more than there ever is room for goes when nobody else does"


def test_a_newcomer_gets_freed_room_before_a_client_that_used_up_the_minute(clock: Clock) -> None:
    site, _ = origin(clock, 0, 4)
    for visit in visits(*"aaa"):
        assert site.enter(visit)
        site.leave(visit)
        clock.pass_s(1)
    newcomer = visits("b")[0]
    assert site.enter(newcomer)
    site.leave(newcomer)
    assert site.rate_free_in("a") == 60 - 2
    clock.pass_s(57)
    assert site.rate_free_in("b") == 0
    assert site.rate_free_in("a") > 0
    clock.pass_s(site.rate_free_in("a"))
    assert site.rate_free_in("a") == 0


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
    fields = Settings.model_fields
    limits = {name: fields[name].default for name in fields if name.startswith(("client_", "origin_"))}
    assert limits == {
        "client_pages": 30,
        "client_calls_in_flight": 32,
        "client_calls_per_minute": 600,
        "client_artifacts_mb": 1_000,
        "origin_at_once": 8,
        "origin_per_minute": 120,
        "origin_local": False,
        "origin_pause_s": 900,
    }


def test_a_lease_a_piece_of_work_and_a_page_in_need_of_memory_have_a_clock_each() -> None:
    alone = Settings(idle_lease_ms=1_000)
    assert (alone.idle_work_ms, alone.park_in_need_ms) == (1_000, 1_000), "as before, where they are not set"
    each = Settings(idle_lease_ms=1_000, idle_work_ms=2_000, park_in_need_ms=3_000)
    assert (each.idle_lease_ms, each.idle_work_ms, each.park_in_need_ms) == (1_000, 2_000, 3_000)
