"""Tests that logins which acts took are kept encrypted, for a day, and bounded in number and size."""

import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from browse_together.contract.calls import ClientRef
from browse_together.contract.model import Json
from browser_service.security.seal import Seal
from browser_service.sessions import kept_logins
from browser_service.sessions.kept_logins import KEPT_S, Kept, KeptLogins
from browser_service.sessions.records import SessionRecord
from browser_service.store import tables
from browser_service.store.journal import Journal

pytestmark = pytest.mark.anyio

WORK = SessionRecord(session_id="work", owner=ClientRef(client_id="ana"))
DEFAULT = SessionRecord(session_id="default", shared_login=True)
LOGIN: Json = {"cookies": [{"name": "login", "value": "hunter22"}]}


@pytest.fixture
async def journal(tmp_path: Path) -> AsyncIterator[Journal]:
    journal = Journal(tmp_path / "journal.sqlite3")
    await journal.open()
    yield journal
    await journal.close()


@pytest.fixture
def kept(journal: Journal, tmp_path: Path) -> KeptLogins:
    return KeptLogins(journal, Seal(tmp_path))


async def name_of(kept: KeptLogins, client_id: str, record: SessionRecord = WORK, state: Json = LOGIN) -> str:
    return str((await kept.keep(client_id, record, state))["kept"])


async def test_they_are_for_whoever_acted_the_owner_and_the_person(kept: KeptLogins) -> None:
    name = await name_of(kept, "ben")
    for client_id, by_person, is_theirs in (
        ("ben", False, True),
        ("ana", False, True),
        ("eve", False, False),
        ("", False, False),
        ("person", True, True),
    ):
        found = await kept.find(name, client_id, by_person=by_person)
        assert (found is not None) is is_theirs, client_id
    assert (await kept.names("ben"), await kept.names("eve")) == ([name], [])


async def test_they_are_gone_after_a_day(kept: KeptLogins, journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    name, now = await name_of(kept, "ana"), time.time()
    monkeypatch.setattr(time, "time", lambda: now + KEPT_S - 60)
    assert await kept.find(name, "ana") is not None
    monkeypatch.setattr(time, "time", lambda: now + KEPT_S + 60)
    assert await kept.find(name, "ana") is None
    assert await journal.read("SELECT * FROM kept_logins") == []


async def test_a_thousand_acts_leave_a_clients_last_ones_and_all_of_the_others(
    kept: KeptLogins,
) -> None:
    theirs = await name_of(kept, "ben")
    names = [await name_of(kept, "ana") for _ in range(1_000)]
    assert await kept.names("ana") == names[: -tables.MOST_KEPT_OF_CLIENT - 1 : -1]
    assert await kept.names("ben") == [theirs]


async def test_their_size_is_bounded_for_each_client_and_for_all(
    kept: KeptLogins, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_logins, "MOST_BYTES_OF_CLIENT", 30_000)
    monkeypatch.setattr(tables, "MOST_KEPT_BYTES", 90_000)
    assert "NOT kept" in str((await kept.keep("ana", WORK, {"cookies": ["x" * 30_000]}))["words"])
    large: Json = {"cookies": ["x" * 9_000]}  # 12,800 sealed
    names = [await name_of(kept, "ana", state=large) for _ in range(4)]
    assert await kept.names("ana") == [names[3], names[2]]
    for number in range(20):
        await name_of(kept, f"client-{number}", state=large)
    assert await kept.names("ana") == []
    ((size,),) = await journal.read("SELECT sum(length(sealed)) FROM kept_logins")
    assert 50_000 < int(str(size)) <= 90_000


async def test_they_are_on_the_disk_encrypted_and_another_key_reads_none(
    kept: KeptLogins, journal: Journal, tmp_path: Path
) -> None:
    name = await name_of(kept, "ana")
    ((sealed,),) = await journal.read("SELECT sealed FROM kept_logins")
    assert isinstance(sealed, bytes)
    assert b"hunter22" not in sealed
    (tmp_path / "other").mkdir()
    assert await KeptLogins(journal, Seal(tmp_path / "other")).find(name, "ana") is None


@pytest.mark.parametrize(
    ("of", "into", "fits"),
    [
        (WORK, {}, True),
        (WORK, {"session_id": "other"}, True),
        (WORK, {"owner": ClientRef(client_id="eve")}, False),
        (WORK, {"owner": None}, False),
        (WORK, {"guarded": True}, True),
        (WORK.model_copy(update={"guarded": True}), {"guarded": False}, False),
        (WORK.model_copy(update={"shared_login": True}), {"shared_login": False}, False),
        (DEFAULT, {}, True),
        (DEFAULT, {"session_id": "chrome"}, False),
        (DEFAULT, {"owner": ClientRef(client_id="ana")}, False),
    ],
)
def test_they_go_into_sessions_that_show_no_more_of_them(of: SessionRecord, into: Json, *, fits: bool) -> None:
    assert Kept(record=of, state=LOGIN).fits(of.model_copy(update=into)) is fits
