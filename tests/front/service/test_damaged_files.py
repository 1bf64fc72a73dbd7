"""Tests that files that cannot be used are set aside and told, never deleted; a full disk costs what it must, and no
more."""

import contextlib
import os
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

from browse_together.contract.data_files import JOURNAL_FILE
from browse_together.contract.pages import PageState
from browser_service.process import CannotStart, check_writable
from browser_service.quarantine import files_set_aside
from browser_service.store.journal import Journal
from tests.front.service.test_restarts import started, told
from tests.support.site import Site

pytestmark = pytest.mark.anyio


@contextlib.contextmanager
def full_disk() -> Iterator[None]:
    """Make this process, whose browsers run already, unable to write any file, that of the test's log too."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    with structlog.testing.capture_logs():
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)


# --- the journal -----------------------------------------------------------------------------------------------------


def zeroed(file: Path) -> None:
    file.write_bytes(b"no database" * 1_000)


def cut(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


def overwritten(file: Path) -> None:
    """Overwrite a page in the middle of the file, where its header does not show it."""
    with file.open("r+b") as opened:
        opened.seek(4096 * 3)
        opened.write(b"\xff" * 4096)


@pytest.mark.parametrize("damage", [zeroed, cut, overwritten])
async def test_a_damaged_journal_is_set_aside_and_a_new_one_begun(tmp_path: Path, damage: object) -> None:
    file = tmp_path / JOURNAL_FILE
    journal = Journal(file)
    await journal.open()
    for number in range(500):
        await journal.keep_page(PageState(page_id=f"p{number}", session_id="default", title="x" * 100))
    await journal.close()
    damage(file)  # type: ignore[operator] # one of those above
    was = file.read_bytes()
    said: list[str] = []
    again = Journal(file)
    again.on_damage = lambda damage: said.append(str(damage))
    await again.open()
    await again.keep_page(PageState(page_id="new", session_id="default"))
    assert "new" in {page.page_id for page in await again.pages()}
    await again.close()
    (aside,) = files_set_aside(tmp_path)
    assert aside.read_bytes() == was
    (line,) = said
    assert aside.name in line


async def test_damage_that_shows_under_way_costs_no_call_its_reply(tmp_path: Path, site: Site) -> None:
    async with started(tmp_path) as (service, agent):
        await agent.call("goto", pageId="p", url=site.page("/", "<h1>Here</h1>"))
        journal = service.parts.artifacts.journal
        await journal.transact(lambda db: db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall())
        zeroed(tmp_path / JOURNAL_FILE)
        await journal.transact(lambda db: db.execute("PRAGMA shrink_memory").fetchall())  # else it need not look
        reply = (await agent.reply("goto", pageId="q", url=site.url("/"))).json()
        assert reply["success"], reply
        assert files_set_aside(tmp_path)
        assert "journal was damaged" in told(reply) + told((await agent.reply("list_pages")).json())
    async with started(tmp_path) as (_, agent):
        assert {page["pageId"] for page in (await agent.call("list_pages"))["yours"]} == {"p", "q"}


# --- the disk --------------------------------------------------------------------------------------------------------


def test_a_directory_that_cannot_be_written_is_named_with_the_way_on(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CannotStart, match=rf"{tmp_path}/file/data .*BROWSE_DATA_DIR"):
        check_writable(tmp_path / "file" / "data")
    with full_disk(), pytest.raises(CannotStart, match="cannot be written"):
        check_writable(tmp_path)


async def test_on_a_full_disk_work_continues_and_is_written_once_there_is_room(tmp_path: Path, site: Site) -> None:
    site.page("/new", "<h1>New</h1>")
    async with started(tmp_path) as (service, agent), service.agent("Codex") as other:
        await agent.call("goto", pageId="old", url=site.page("/", "<h1>Here</h1>"))
        with full_disk():
            reply = (await agent.reply("goto", pageId="new", url=site.url("/new"))).json()
            assert reply["success"], reply
            assert "cannot be used" in told(reply)
            assert "cannot be used" in told((await other.reply("list_pages")).json())
            for action, arguments in (
                ("screenshot", {"pageId": "new"}),
                ("create_session", {"sessionId": "kept", "persistent": True}),
                ("save_session_state", {}),
            ):
                error = await agent.error(action, **arguments)
                assert (action, error["code"], bool(error["hint"])) == (action, "RESOURCE_EXHAUSTED", True)
            assert "kept" not in service.known_sessions()
            assert service.parts.storage.problem
            assert await agent.call("content", pageId="new")
        assert list((tmp_path / "artifacts").glob("*")) == []
        reply = (await agent.reply("click", pageId="new", selector="h1")).json()
        assert (reply["success"], "can be written again" in told(reply)) == (True, True), reply
        await agent.call("create_session", sessionId="kept", persistent=True)
    async with started(tmp_path) as (service, agent):
        assert {page["pageId"] for page in (await agent.call("list_pages"))["yours"]} == {"old", "new"}
        assert "kept" in service.known_sessions()
