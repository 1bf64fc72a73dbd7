"""Tests the names of chats: that no two are alike, and that each stays with its chat."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from browse_together.contract.errors import ValidationFailed
from browse_together.contract.wire import UNNAMED
from browser_service.clients.names import Names
from browser_service.clients.presence import handle_of
from browser_service.security.auth import Identity
from browser_service.store.journal import Journal
from browser_service.store.tables import NameTable

pytestmark = pytest.mark.anyio

HERE = "Claude Code · invoices"


class Clock:
    """A clock that tests set."""

    now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def journal(tmp_path: Path) -> AsyncIterator[Journal]:
    opened = Journal(tmp_path / "journal.db")
    await opened.open()
    yield opened
    await opened.close()


@pytest.fixture
async def names(journal: Journal, clock: Clock) -> Names:
    return await naming(journal, clock, set())


async def naming(journal: Journal, clock: Clock, there: set[str]) -> Names:
    names = Names(NameTable(journal), lambda: there, clock)
    await names.open()
    return names


async def test_chats_that_call_themselves_the_same_get_numbers(names: Names) -> None:
    labels = [("a", HERE), ("b", HERE), ("c", HERE.upper()), ("d", f"{HERE} 2"), ("e", "Codex")]
    called = [names.of(*each) for each in labels]
    assert called == [HERE, f"{HERE} 2", f"{HERE.upper()} 3", f"{HERE} 2 2", "Codex"]
    assert called == [names.of(*each) for each in labels], "each keeps its own"


async def test_a_name_stays_with_its_chat_over_restarts_of_both(names: Names, journal: Journal, clock: Clock) -> None:
    for client_id in ("a", "b"):
        names.of(client_id, HERE)
        names.note_act(client_id)
    await names.close()
    clock.now += 3600
    later = await naming(journal, clock, set())
    assert later.of("c", HERE) == f"{HERE} 3", "the names of those who are away are kept"
    assert later.of("b", UNNAMED) == f"{HERE} 2", "a gateway that has just begun does not know its chat's name yet"
    assert [later.of(each, HERE) for each in ("b", "a")] == [f"{HERE} 2", HERE]


async def test_a_name_is_free_once_its_chat_did_nothing_and_left_or_was_away_for_a_day(
    journal: Journal, clock: Clock
) -> None:
    there = {"idle", "busy"}
    names = await naming(journal, clock, there)
    assert [names.of(each, HERE) for each in ("idle", "busy")] == [HERE, f"{HERE} 2"]
    names.note_act("busy")
    clock.now += 61
    there.clear()
    assert [names.of(each, HERE) for each in ("new", "other")] == [HERE, f"{HERE} 3"]
    assert names.of("idle", HERE) == f"{HERE} 4", "who comes back looks like nobody else"
    clock.now += 86_401
    assert names.of("next", f"{HERE} 2") == f"{HERE} 2"
    await names.close()


async def test_a_chat_that_calls_itself_otherwise_gets_another_name(names: Names) -> None:
    names.of("a", UNNAMED)
    assert names.of("a", HERE) == HERE
    assert names.of("b", UNNAMED) == UNNAMED


async def test_a_given_name_is_kept_for_good_and_given_once(names: Names, journal: Journal, clock: Clock) -> None:
    names.of("a", HERE)
    names.of("b", HERE)
    assert await names.give(names.find(HERE)[0], '  The\n "books" ') == "The 'books'"
    with pytest.raises(ValidationFailed, match="already"):
        await names.give(names.find(handle_of("b"))[0], "the 'BOOKS'")
    for wrong in ("", " ", "x" * 61):
        with pytest.raises(ValidationFailed, match="1 to 60"):
            await names.give("b", wrong)
    with pytest.raises(ValidationFailed, match="Nobody"):
        names.find("Nobody")
    clock.now += 900 * 86_400
    later = await naming(journal, clock, set())
    assert later.of("c", "The 'books'") == "The 'books' 2"
    assert later.of("a", HERE) == "The 'books'", "whatever it calls itself"
    assert later.of("a", "Codex") == "The 'books'"


async def test_people_keep_their_names_and_what_is_forgotten_is_gone(names: Names, journal: Journal) -> None:
    agent = Identity(client_id="a", label="ana")
    assert names.named(agent) is agent
    for person in (
        Identity(client_id="p", label="ana", operator=True),
        Identity(client_id="q", label="ana", looks_on=True),
    ):
        assert names.named(person) is person
    assert names.named(Identity(client_id="b", label="ana")).label == "ana 2"
    names.note_act("a")
    await names.forget({"a", "b"})
    assert (await NameTable(journal).all(), names.of("c", "ana")) == ({}, "ana")


async def test_chats_are_alike_by_what_they_call_themselves(names: Names) -> None:
    for client_id, label in (("a", HERE), ("b", HERE), ("c", "Codex")):
        names.of(client_id, label)
    await names.give("b", "books")
    assert [names.alike("a", each) for each in ("a", "b", "c", "nobody")] == [True, True, False, False]
