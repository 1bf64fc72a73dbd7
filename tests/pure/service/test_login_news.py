"""Tests when a person is told of a login that ends."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from browse_together.contract.events import LoginOver
from browse_together.contract.model import Json
from browser_service.clients.login_news import LoginNews
from browser_service.store.journal import Journal
from browser_service.store.tables import ToldLoginTable

pytestmark = pytest.mark.anyio

DAY = 86_400.0


def state(ends: float = -1) -> Json:
    cookie: Json = {"name": "sid", "value": "0123456789abcdef", "domain": "a.example", "expires": ends}
    return {"cookies": [cookie]}


@dataclass
class Told:
    """The news of one service, whose clock stands at `now`."""

    table: ToldLoginTable
    now: float = 10 * DAY
    told: list[Json] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.news = LoginNews(self.table, self.told.append, lambda: self.now)

    async def restart(self) -> None:
        await self.news.close()
        self.__post_init__()
        await self.news.open()

    @property
    def states(self) -> list[object]:
        return [each["state"] for each in self.told]


@pytest.fixture
async def at(tmp_path: Path) -> AsyncIterator[Told]:
    journal = Journal(tmp_path / "journal.db")
    await journal.open()
    at = Told(ToldLoginTable(journal))
    yield at
    await at.news.close()
    await journal.close()


async def test_the_last_day_of_a_login_is_told_once_and_again_after_it_was_renewed(at: Told) -> None:
    at.news.changed("default", state(12 * DAY))
    at.news.look()
    assert at.told == []
    at.now = 11.5 * DAY
    at.news.look()
    at.news.look()
    assert at.states == ["ends"]
    assert at.told[0]["site"] == "a.example"
    at.news.changed("default", state(30 * DAY))
    at.now = 29.5 * DAY
    at.news.look()
    assert at.states == ["ends", "ends"]


async def test_a_login_that_never_lasts_a_day_is_told_only_if_it_was_there_at_the_start(at: Told) -> None:
    at.news.changed("default", state(10.2 * DAY))
    assert at.told == []
    at.news.reopened("default", state(10.2 * DAY))
    at.news.look()
    assert at.states == ["ends"]


async def test_nothing_is_told_of_a_session_that_is_closed_or_of_a_login_without_an_end(at: Told) -> None:
    at.news.changed("closed", state(12 * DAY))
    at.news.changed("closed", {})
    at.news.changed("default", state())
    at.now = 11.5 * DAY
    at.news.look()
    assert at.told == []


async def test_a_login_that_is_over_is_told_at_most_once_a_day(at: Told) -> None:
    for _ in range(3):
        at.news.over(LoginOver(session_id="default", site="a.example"))
    at.news.over(LoginOver(session_id="default", site="b.example"))
    assert [each["site"] for each in at.told] == ["a.example", "b.example"]
    at.news.changed("default", state())
    assert [each["overAt"] for each in at.news.listed()] == [at.now]
    at.now += DAY
    assert [each["overAt"] for each in at.news.listed()] == [None]
    at.news.over(LoginOver(session_id="default", site="a.example"))
    assert at.states == ["over"] * 3


async def test_what_was_told_is_not_told_again_after_a_restart_but_for_a_renewed_login(at: Told) -> None:
    at.news.reopened("default", state(10.9 * DAY))
    at.news.look()
    at.news.over(LoginOver(session_id="default", site="a.example"))
    assert at.states == ["ends", "over"]
    await at.restart()
    at.news.reopened("default", state(10.9 * DAY))
    at.news.look()
    at.news.over(LoginOver(session_id="default", site="a.example"))
    assert at.states == ["ends", "over"]
    at.news.changed("default", state(30 * DAY))
    at.now = 29.5 * DAY
    await at.restart()
    at.news.reopened("default", state(30 * DAY))
    at.news.look()
    assert at.states == ["ends", "over", "ends"]
