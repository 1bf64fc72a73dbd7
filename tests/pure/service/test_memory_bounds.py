"""Tests that what is remembered of callers is bounded, however many names they send: nothing grows with them for
ever."""

from pathlib import Path

import pytest

from browse_together.contract.calls import CallState, DownloadState
from browse_together.contract.errors import ResourceExhausted
from browse_together.contract.events import CallMoved
from browser_service.clients.downloads import Downloads
from browser_service.clients.presence import Clients
from browser_service.security.seal import Seal
from browser_service.sessions import vault
from browser_service.store import journal as journals
from browser_service.store.journal import Journal
from tests.support.clock import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()


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
