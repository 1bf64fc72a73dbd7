"""States and sessions that are to be stored on a disk that takes nothing: none is lost, and they stay bounded."""

import sqlite3

import pytest

from browse_together.contract.events import EventBatch, StateSaved
from browse_together.contract.model import Json
from tests.support.carriers import JsonCarrier
from tests.support.service import Agent, RunningService
from tests.support.sharing import StartService

pytestmark = pytest.mark.anyio


class SavesMany(JsonCarrier):
    """A host that saves logins under any number of names at once."""

    names = 0

    async def events_after(self, seq: int, wait_ms: int, limit: int) -> EventBatch:
        batch = await super().events_after(seq, wait_ms, limit)
        names, self.names = self.names, 0
        saved = [StateSaved(seq=seq + n, session_id="default", name=f"name-{n}", state={}) for n in range(1, names + 1)]
        return batch.model_copy(update={"events": [*batch.events, *saved]}) if saved else batch


async def test_unsaved_states_are_bounded_and_written_once_there_is_room(start: StartService) -> None:
    service = await start(carrier=SavesMany)
    journal, feeds, host = service.parts.journal, service.parts.feeds, service.parts.host
    assert isinstance(host, SavesMany)
    await journal.transact(lambda db: db.execute("PRAGMA busy_timeout = 0").fetchall())
    writer = sqlite3.connect(service.settings.data_dir / "journal.sqlite3", isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    try:
        host.names = 1_100
        await feeds.drain()
        owed = [number for number in range(1, 1_101) if feeds.events.owes_logins("default", f"name-{number}")]
        assert owed == [*range(101, 1_101)]
    finally:
        writer.execute("ROLLBACK")
        writer.close()
    await feeds.drain()
    assert not feeds.events.owes_logins("default", "name-1100")
    assert len(await journal.saved_names("default")) == 1_000


async def test_a_session_that_cannot_be_stored_again_is_not_open_and_comes_back_later(
    start: StartService,
) -> None:
    service = await start()
    await service.parts.journal.transact(lambda db: db.execute("PRAGMA busy_timeout = 0").fetchall())
    async with service.agent() as agent:
        await agent.call("create_session", sessionId="mine", persistent=True)
        name = (await kept(service, agent, "mine"))["kept"]
        await agent.call("close_session", sessionId="mine")
        writer = sqlite3.connect(service.settings.data_dir / "journal.sqlite3", isolation_level=None)
        writer.execute("BEGIN IMMEDIATE")
        try:
            assert not (await agent.reply("restore_session_state", sessionId="mine", name=name)).json()["success"]
            assert "mine" not in service.known_sessions()
            assert "NOT kept" in str((await kept(service, agent, "default"))["words"])
        finally:
            writer.execute("ROLLBACK")
            writer.close()
        await agent.call("restore_session_state", sessionId="mine", name=name)
        assert "mine" in service.known_sessions()


async def kept(service: RunningService, agent: Agent, session_id: str) -> Json:
    """Keep a login as an act of the agent would."""
    record = service.parts.directory.sessions.record(session_id)
    return await service.parts.vault.kept.keep(agent.client_id, record, {"cookies": []})
