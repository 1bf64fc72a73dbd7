"""Tests files that calls made: how many bytes of them are kept, for how long, and of whom."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from browse_together.contract.data_files import draft
from browse_together.contract.errors import ArtifactNotFound, JournalFailed, ResourceExhausted
from browse_together.contract.filenames import safe_name
from browser_service.security.named_secrets import NamedSecrets
from browser_service.security.seal import Seal
from browser_service.store import journal_file
from browser_service.store.arriving import ArtifactLimits
from browser_service.store.artifacts import Artifacts, Folders
from browser_service.store.journal import Journal
from browser_service.store.uploads import UploadRoots
from tests.support.waiting import PATIENCE_S

pytestmark = pytest.mark.anyio

MB = 1_000_000


@asynccontextmanager
async def _store(folder: Path, room: ArtifactLimits) -> AsyncIterator[Artifacts]:
    journal = Journal(folder / "journal.sqlite3")
    await journal.open()
    try:
        folders, secrets = Folders(folder / "artifacts", folder / "output"), NamedSecrets(folder, Seal(folder))
        yield Artifacts(folders, journal, UploadRoots(()), room, secrets)
    finally:
        await journal.close()


async def _kept(store: Artifacts, ids: dict[str, str]) -> set[str]:
    found = set()
    for artifact_id, client in ids.items():
        try:
            await store.path(artifact_id, client)
            found.add(artifact_id)
        except ArtifactNotFound:
            continue
    return found


async def test_the_oldest_files_of_a_client_go_where_it_has_too_many_and_no_others(tmp_path: Path) -> None:
    async with _store(tmp_path, ArtifactLimits(client_mb=3, all_mb=100)) as store:
        made = {(await store.put(bytes(MB), "text/plain", who)).artifact_id: who for who in "abaaa"}
        first, others, *rest = made
        assert await _kept(store, made) == {others, *rest}
    assert {path.name for path in (tmp_path / "artifacts").iterdir()} == {others, *rest}
    assert first not in {others, *rest}


async def test_the_oldest_files_of_all_go_where_all_are_too_many(tmp_path: Path) -> None:
    async with _store(tmp_path, ArtifactLimits(client_mb=0, all_mb=2)) as store:
        made = {(await store.put(bytes(MB), "text/plain", who)).artifact_id: who for who in "abc"}
        assert await _kept(store, made) == {*made} - {next(iter(made))}


async def test_a_file_that_never_fits_is_refused_and_costs_no_other(tmp_path: Path) -> None:
    async with _store(tmp_path, ArtifactLimits(client_mb=1)) as store:
        kept = await store.put(b"small", "text/plain", "a")
        with pytest.raises(ResourceExhausted, match="a client's files"):
            await store.put(bytes(MB + 1), "text/plain", "a")
        assert await _kept(store, {kept.artifact_id: "a"}) == {kept.artifact_id}


@pytest.mark.parametrize(("limits", "whose"), [((2, 100), "a client's"), ((100, 2), "all")])
async def test_files_that_are_still_arriving_are_counted_as_they_come(
    tmp_path: Path, limits: tuple[int, int], whose: str
) -> None:
    waits, came = asyncio.Event(), asyncio.Semaphore(0)

    async def unfinished() -> AsyncIterator[bytes]:
        yield bytes(MB)
        came.release()
        await waits.wait()

    async with _store(tmp_path, ArtifactLimits(client_mb=limits[0], all_mb=limits[1])) as store:
        coming = [asyncio.create_task(store.receive(unfinished(), "text/plain", "a")) for _ in range(2)]
        async with asyncio.timeout(PATIENCE_S):
            for _ in coming:
                await came.acquire()
        with pytest.raises(ResourceExhausted, match=f"{whose} files that are still arriving"):
            await store.receive(unfinished(), "text/plain", "a")
        waits.set()
        made = {artifact.artifact_id: "a" for artifact in await asyncio.gather(*coming)}
        assert await _kept(store, made) == {*made}
        assert (await store.receive(unfinished(), "text/plain", "a")).size == MB


async def test_without_limits_all_is_kept(tmp_path: Path) -> None:
    async with _store(tmp_path, ArtifactLimits(client_mb=0, all_mb=0)) as store:
        made = {(await store.put(bytes(MB), "text/plain", "a")).artifact_id: "a" for _ in range(3)}
        assert await _kept(store, made) == {*made}


async def test_files_go_when_they_are_too_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with _store(tmp_path, ArtifactLimits(days=2)) as store:
        old = (await store.put(b"old", "text/plain", "a")).artifact_id
        now = time.time()
        monkeypatch.setattr(time, "time", lambda: now + 1.5 * 86_400)
        new = (await store.put(b"new", "text/plain", "a")).artifact_id
        await store.clean()
        assert await _kept(store, {old: "a", new: "a"}) == {old, new}
        monkeypatch.setattr(time, "time", lambda: now + 2.5 * 86_400)
        await store.clean()
        assert await _kept(store, {old: "a", new: "a"}) == {new}


def test_a_very_long_name_is_cut_at_once_and_keeps_its_ending() -> None:
    assert safe_name(f"{'x' * 3_000_000}.txt") == f"{'x' * 146}.txt"
    assert safe_name("\N{SNOWMAN}" * 3_000_000 + ".txt") == "\N{SNOWMAN}" * 48 + ".txt"


def test_a_draft_of_a_file_does_not_follow_a_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else somebody who may write there could have an administrator's command write elsewhere."""
    monkeypatch.setattr("os.urandom", lambda count: b"\0" * count)
    other = tmp_path / "other"
    other.write_text("as it was")
    (tmp_path / f".config.{'0' * 16}").symlink_to(other)
    with pytest.raises(FileExistsError):
        draft(tmp_path / "config", b"new")
    assert other.read_text() == "as it was"
    monkeypatch.undo()
    written = draft(tmp_path / "config", b"new")
    assert (written.read_bytes(), written.stat().st_mode & 0o777) == (b"new", 0o600)


async def test_a_change_of_the_journal_that_was_cut_off_is_made_whole_at_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = ["CREATE TABLE later (id TEXT)", "ALTER TABLE later ADD COLUMN how TEXT"]
    monkeypatch.setitem(journal_file.MIGRATIONS, "m_later", (*whole, "no SQL"))
    cut_off = Journal(tmp_path / "journal.sqlite3")
    with pytest.raises(JournalFailed):
        await cut_off.open()
    await cut_off.close()
    monkeypatch.setitem(journal_file.MIGRATIONS, "m_later", tuple(whole))
    journal = Journal(tmp_path / "journal.sqlite3")
    await journal.open()
    assert await journal.read("SELECT how FROM later") == []
    await journal.close()
