"""Tests the times on the wall, of which browsers make ages: they stay as they are whatever else happens to a page."""

import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from browse_together.contract.pages import HumanRequestState, PageState
from browser_service.clients.colours import Colours
from browser_service.clients.presence import Clients
from browser_service.clients.threads import Threads
from browser_service.rules.halts import Halts
from browser_service.security.auth import Identity
from browser_service.security.seal import Seal
from browser_service.sessions.directory import Directory
from browser_service.spine.register import CallRegister
from browser_service.store.journal import Journal
from browser_service.store.tables import ColourTable, ThreadTable
from browser_service.wall.agents import Agents
from browser_service.wall.state import Wall

pytestmark = pytest.mark.anyio

_ANA = Identity(client_id="person-ana", label="ana", operator=True)


@pytest.fixture
async def journal(tmp_path: Path) -> AsyncIterator[Journal]:
    opened = Journal(tmp_path / "journal.db")
    await opened.open()
    yield opened
    await opened.close()


async def test_a_request_and_an_act_are_as_old_as_they_are_also_after_the_next_call(
    tmp_path: Path, journal: Journal
) -> None:
    began, passed_s = time.monotonic(), 0.0
    directory = Directory(lambda: began + passed_s)
    colours = Colours(ColourTable(journal), set)
    threads = Threads(ThreadTable(journal), Seal(tmp_path))
    wall = Wall(directory, colours, Agents(Clients(0), colours, threads, Halts(), CallRegister(), lambda _: ""))
    asked = HumanRequestState(
        request_id="ask-1", kind="other", page_id="shop", session_id="default", asked_ago_ms=60_000
    )
    page = PageState(page_id="shop", session_id="default", holder_id="c-1", acted_ago_ms=5_000, person=asked)
    directory.note(page.model_copy(update={"hold_reason": "a code", "hold_left_ms": 600_000}))
    now = time.time()

    def shown() -> list[float]:
        wall.note("shop")
        state = wall.state(_ANA)
        tile = state.pages["shop"]
        assert isinstance(tile, dict)
        assert isinstance(tile["held"], dict)
        times = state.requests[0]["askedAt"], tile["held"]["until"], tile["actedAt"]
        return [round(float(str(each)) - now) for each in times]

    assert shown() == pytest.approx([-60, 600, -5], abs=1)
    passed_s = 590.0
    assert shown() == pytest.approx([-60, 600, -5], abs=1)
    directory.note_act("shop", "c-1")
    assert shown() == pytest.approx([-60, 600, 590], abs=1)
