"""Tests that what is remembered of clients, visitors and logins is bounded, and the latest is kept."""

import pytest

from browse_together.contract.calls import Call, Notice
from browse_together.contract.events import StateSaved
from browse_together.contract.pages import PageState
from browser_service.clients.presence import Clients
from browser_service.host.events import EventLog
from browser_service.rules.leases import Ownership

pytestmark = pytest.mark.anyio


async def test_frequently_changing_logins_do_not_fill_the_memory_and_the_last_ones_are_reported() -> None:
    log = EventLog("i1")
    for number in range(200):
        log.emit(StateSaved(session_id="default", state={"cookies": ["x" * 1_000_000, number]}))
    events = (await log.after(0, 0, 500)).events
    assert 0 < len(events) < 70
    assert [event.seq for event in events] == [*range(201 - len(events), 201)]


async def test_notices_for_clients_that_never_come_back_are_bounded() -> None:
    clients = Clients(0)
    for number in range(3_000):
        clients.notify(f"client-{number}", Notice(text="x"))
    assert sum(clients.has_notices(f"client-{number}") for number in range(3_000)) == 1_000
    assert clients.take_notices("client-0") == []
    assert [notice.text for notice in clients.take_notices("client-2999")] == ["x"]


def test_the_list_of_who_received_announcements_is_bounded_and_forgets_the_oldest_first() -> None:
    clients = Clients(0)
    clients.announce("The journal is a new one.")
    for number in range(1_100):
        clients.remember(f"client-{number}", f"Client {number}")
        assert clients.take_notices(f"client-{number}")
        clients.take_notices("client-0")
    assert len(clients.labels()) == 1_000
    heard = [0, *range(1_099, 0, -1)]  # the latest first: who is told anew is remembered in the place of another
    assert sum(not clients.take_notices(f"client-{number}") for number in heard) == 1_000


def test_a_holder_is_told_once_of_each_sibling_and_visitor_and_few_are_remembered() -> None:
    told: list[str] = []
    page = Ownership(
        PageState(page_id="p", session_id="s"),
        1_000,
        lambda _: False,
        lambda _, text: told.append(text),
        lambda *_: None,
    )
    visits = [Call(call_id="c", seq=n, client_id=f"client-{n}", body={}) for n in range(300)]
    page.take(visits[0], "agent")
    lease = page.holder()
    assert lease
    for visit in visits[1:]:
        for _ in range(2):
            page.tell_of_visit(visit, lease)
            page.tell_of_sibling(lease.client_id, lease.agent, f"agent-{visit.seq}")
    assert len(told) == 2 * 299
    told.clear()
    for visit in reversed(visits[1:]):
        page.tell_of_visit(visit, lease)
        page.tell_of_sibling(lease.client_id, lease.agent, f"agent-{visit.seq}")
    assert len(told) == 2 * 199  # the latest hundred of each are remembered
    told.clear()
    page.take(visits[1], "agent")
    page.tell_of_visit(visits[2], lease)
    page.tell_of_sibling(lease.client_id, lease.agent, "agent-2")
    assert len(told) == 2  # a new holder knows of none
