"""Tests that what is remembered of callers is bounded, however many names they send: nothing grows with them for
ever."""

from pathlib import Path

import pytest

from browser_service.clients.downloads import Downloads
from browser_service.clients.presence import Clients
from browser_service.security.auth import Identity
from browser_service.security.seal import Seal
from browser_service.sessions import vault
from browser_service.sessions.records import Sessions
from browser_service.spine.undo import UndoStore
from browser_service.store import journal as journals
from browser_service.store.journal import Journal
from shared.calls import CallState, DownloadState, Outcome, Undoable
from shared.errors import ResourceExhausted
from shared.events import CallMoved
from tests.support.clock import Clock

MEGABYTE = "x" * 1_000_000


def did(undos: UndoStore, client: str, call_id: str, state: str = "") -> str:
    """Return the call that undoes an act of a client, as its reply has it; empty if it cannot be undone."""
    step = Undoable(body={"action": "clear_cookies"}, session_id="s", what="cookies cleared", state={"cookies": state})
    outcome = Outcome(call_id=call_id, result={}, undo=[step])
    kept = undos.keep(Identity(client_id=client), call_id, "clear_cookies", outcome)
    return str((kept.result or {}).get("undo", ""))


def undoable(undos: UndoStore, client: str) -> list[str]:
    return [call.call_id for call in undos.latest_first() if call.caller.client_id == client]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def undos(clock: Clock) -> UndoStore:
    return UndoStore(Sessions(), clock)


def test_each_clients_last_thirty_acts_of_ten_minutes_can_be_undone(undos: UndoStore, clock: Clock) -> None:
    for number in range(40):
        assert did(undos, "a", f"call-{number:02}")
    did(undos, "b", "other")
    assert undoable(undos, "a") == [f"call-{number:02}" for number in reversed(range(10, 40))]
    clock.pass_s(300)
    did(undos, "a", "later")
    clock.pass_s(301)
    assert (undoable(undos, "a"), undoable(undos, "b")) == (["later"], [])


def test_undo_states_are_bounded_per_client_and_in_all(undos: UndoStore) -> None:
    assert did(undos, "a", "too much", MEGABYTE * 11) == ""
    for number in range(6):
        did(undos, "a", f"call-{number}", MEGABYTE * 2)
    assert undoable(undos, "a") == ["call-5", "call-4", "call-3", "call-2"]
    for number in range(12):
        did(undos, f"client-{number}", "call", MEGABYTE * 9)
    assert undoable(undos, "a") == []
    assert undoable(undos, "client-0") == []
    assert undoable(undos, "client-11") == ["call"]


def test_one_call_at_a_time_undoes_an_act_and_one_that_is_undone_is_forgotten(undos: UndoStore) -> None:
    did(undos, "a", "call")
    (call,) = undos.latest_first()
    with undos.undoing(call) as is_free:
        assert is_free
        assert undos.latest_first() == []
        with undos.undoing(call) as is_free_again:
            assert not is_free_again
    assert undos.latest_first() == [call]
    with undos.undoing(call):
        call.steps.clear()
    assert undos.latest_first() == []


def test_the_progress_of_calls_without_a_reported_end_is_bounded() -> None:
    clients = Clients(0)
    for number in range(11_000):
        clients.send(CallMoved(call_id=f"c-{number}", client_id="a", state=CallState.RUNNING))
    assert clients.last_move("a", "c-0") is None
    assert clients.last_move("a", "c-10999") is not None


def test_downloads_are_bounded_for_each_client_and_for_all(tmp_path: Path) -> None:
    downloads = Downloads(Journal(tmp_path / "journal.sqlite3"))
    for number in range(2_200):
        downloads.note(download(number, "many" if number < 150 else f"client-{number}"))
    assert len(downloads.listed(None)) == 2_000
    assert downloads.listed("many") == []
    assert len(downloads.listed("client-2199")) == 1
    for number in range(150):
        downloads.note(download(number, "many"))
    assert [each["downloadId"] for each in downloads.listed("many")] == [f"d-{n}" for n in reversed(range(50, 150))]


@pytest.mark.anyio
async def test_the_journal_keeps_as_many_downloads_as_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journals, "MOST_DOWNLOADS", 2)
    journal = Journal(tmp_path / "journal.sqlite3")
    await journal.open()
    try:
        for number in range(4):
            await journal.keep_download(download(number, "a"))
        assert [each.download_id for each in await journal.downloads()] == ["d-2", "d-3"]
    finally:
        await journal.close()


def download(number: int, client_id: str) -> DownloadState:
    return DownloadState(
        download_id=f"d-{number}", client_id=client_id, page_id="p", url="u", name="n", began_at="2026-01-01T00:00:00Z"
    )


@pytest.mark.anyio
async def test_a_session_has_a_bounded_number_of_saved_states(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vault, "MOST_SAVED", 2)
    journal = Journal(tmp_path / "journal.sqlite3")
    await journal.open()
    try:
        states = vault.SessionVault(journal, Seal(tmp_path, "file", lambda _: None), lambda _: None)
        for name in ("a", "b"):
            await states.check_room("s", name)
            await journal.keep_saved("s", name, b"", "")
        await states.check_room("s", "b")
        with pytest.raises(ResourceExhausted, match="2 saved states"):
            await states.check_room("s", "c")
    finally:
        await journal.close()
