"""Tests who gets in to the wall: by a link that works once and soon, until the viewer's time is over."""

import contextlib

import pytest

from browse_together.contract.errors import Forbidden, RateLimited, Unauthorized
from browser_service.wall.viewing import (
    LINK_LIVES_S,
    MOST_A_SECOND,
    MOST_SOCKETS,
    MOST_SOCKETS_EACH,
    VIEWER_LIVES_S,
    Viewer,
    Viewing,
)
from tests.support.clock import Clock

pytestmark = pytest.mark.anyio


class Revoked:
    """The visits that viewers ended."""

    def __init__(self) -> None:
        self._ids: set[str] = set()

    def holds(self, token_id: str) -> bool:
        return token_id in self._ids

    async def token(self, token_id: str, _: float) -> None:
        self._ids.add(token_id)


def seen(clock: Clock | None = None, *, secret: str = "s" * 32, revoked: Revoked | None = None) -> Viewing:
    """Return the viewers of a service of the account with this secret."""
    return Viewing(secret, revoked or Revoked(), clock or Clock())


def test_a_link_lets_one_viewer_in_once() -> None:
    viewing = seen()
    code = viewing.make_link("ana", read_only=True)
    entry = viewing.enter(code)
    assert viewing.viewer(entry.cookie) is entry.viewer
    assert (entry.viewer.name, entry.viewer.read_only) == ("ana", True)
    with pytest.raises(Unauthorized, match="used already"):
        viewing.enter(code)
    with pytest.raises(Unauthorized, match="not one of this service"):
        viewing.enter("another")
    with pytest.raises(Unauthorized, match="not signed in") as refused:
        viewing.viewer("")
    assert "browse-together show" in str(refused.value.advice)


def test_a_late_link_and_an_expired_viewer_are_told_the_reason() -> None:
    clock = Clock()
    viewing = seen(clock)
    late, soon = viewing.make_link("", read_only=False), viewing.make_link("", read_only=False)
    entry = viewing.enter(soon)
    clock.pass_s(LINK_LIVES_S + 1)
    with pytest.raises(Unauthorized, match="too late"):
        viewing.enter(late)
    clock.pass_s(VIEWER_LIVES_S)
    with pytest.raises(Unauthorized, match="time at the wall is over"):
        viewing.viewer(entry.cookie)


async def test_a_later_run_of_the_service_knows_its_viewers_and_who_left() -> None:
    revoked = Revoked()
    viewing, later = seen(revoked=revoked), seen(revoked=revoked)
    entry = viewing.enter(viewing.make_link("ana", read_only=True))
    viewer = later.viewer(entry.cookie)
    assert (viewer.name, viewer.read_only, later.left_s(viewer) > 0) == ("ana", True, True)
    later.check_proof(viewer, entry.proof)
    await later.leave(viewer)
    assert viewer.left
    for each in (later, viewing, seen(revoked=revoked)):
        with pytest.raises(Unauthorized, match="time at the wall is over"):
            each.viewer(entry.cookie)


def test_another_accounts_cookie_a_wrong_proof_and_anothers_window_are_rejected() -> None:
    viewing = seen()
    entry, other = (viewing.enter(viewing.make_link("", read_only=False)) for _ in range(2))
    for service, cookie in ((seen(secret="t" * 32), entry.cookie), (viewing, f"{entry.cookie}x")):
        with pytest.raises(Unauthorized, match="not signed in to the wall of this service"):
            service.viewer(cookie)
    with pytest.raises(Forbidden, match="own page"):
        viewing.check_proof(entry.viewer, entry.cookie)
    ticket = viewing.ticket(entry.viewer, "page", "shop")
    assert viewing.opened(entry.viewer, ticket) == ("page", "shop")
    for viewer, shown in ((other.viewer, ticket), (entry.viewer, entry.cookie)):
        with pytest.raises(Unauthorized, match="older than an hour"):
            viewing.opened(viewer, shown)


def test_a_viewer_who_stays_has_the_full_time_again() -> None:
    clock = Clock()
    viewing = seen(clock)
    entry = viewing.enter(viewing.make_link("", read_only=False))
    clock.pass_s(VIEWER_LIVES_S - 1)
    viewing.renewed(entry.viewer)
    clock.pass_s(VIEWER_LIVES_S - 1)
    assert viewing.viewer(entry.cookie) is entry.viewer


def come(viewing: Viewing) -> Viewer:
    return viewing.enter(viewing.make_link("ana", read_only=True)).viewer


def come_and_go(viewing: Viewing, viewer: Viewer, *, times: int) -> None:
    for _ in range(times):
        with viewing.watching(viewer):
            pass


def ask(viewing: Viewing, viewer: Viewer, *, times: int) -> None:
    """Ask for more before what was asked for is answered."""
    with contextlib.ExitStack() as asked:
        for _ in range(times):
            asked.enter_context(viewing.answering(viewer))


def test_the_number_of_viewers_is_bounded_and_leaving_makes_room() -> None:
    viewing = seen()
    looking = [viewing.watching(come(viewing)) for _ in range(MOST_SOCKETS)]
    for one in looking:
        one.__enter__()
    with pytest.raises(RateLimited, match=f"{MOST_SOCKETS} viewers"), viewing.watching(come(viewing)):
        pass
    looking[0].__exit__(None, None, None)
    with viewing.watching(come(viewing)):
        pass


def test_one_viewer_takes_few_of_the_places_and_does_not_come_again_and_again() -> None:
    clock = Clock()
    viewing = seen(clock)
    viewer = come(viewing)
    with contextlib.ExitStack() as looking:
        for _ in range(MOST_SOCKETS_EACH):
            clock.pass_s(1)
            looking.enter_context(viewing.watching(viewer))
        with pytest.raises(RateLimited, match="times already"):
            looking.enter_context(viewing.watching(viewer))
    with pytest.raises(RateLimited, match="within a second"):
        come_and_go(viewing, viewer, times=MOST_A_SECOND)


def test_a_viewers_messages_are_limited_over_all_sockets_and_large_ones_count_as_several() -> None:
    clock = Clock()
    viewing = seen(clock)
    viewer, other = come(viewing), come(viewing)
    for _ in range(3):
        clock.pass_s(1)
        viewing.receive(viewer, 60_000)
        viewing.receive(viewer, 60_000)
        viewing.receive(viewer, 60_000)
    with pytest.raises(RateLimited, match="within a second"):
        viewing.receive(viewer, 60_000)
    viewing.receive(other, 60_000)


def test_few_requests_of_a_viewer_run_at_a_time() -> None:
    viewing = seen()
    viewer = viewing.guest("req_1", "ana")
    assert viewing.guest("req_1", "ana") is viewer
    with pytest.raises(RateLimited, match="under way"):
        ask(viewing, viewer, times=MOST_A_SECOND)
    with viewing.answering(viewer):
        pass


def test_the_wall_is_watched_while_a_person_has_a_window_of_it_in_view() -> None:
    viewing = seen()
    reader, person = (viewing.enter(viewing.make_link("", read_only=read_only)).viewer for read_only in (True, False))
    with viewing.watching(reader):
        assert not viewing.watched
        with viewing.watching(person), viewing.watching(person):
            person.hidden = 1
            assert viewing.watched
            person.hidden = 2
            assert not viewing.watched
