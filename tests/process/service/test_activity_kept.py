"""Tests that the account is kept for as long as is set, over restarts and failures, and what is forgotten is gone."""

from pathlib import Path

import pytest

from tests.front.service.test_activity_kept import rows
from tests.support.account import caller, recorded
from tests.support.gateways import service_process
from tests.support.waiting import become

pytestmark = pytest.mark.anyio


async def test_written_records_survive_a_killed_service(tmp_path: Path) -> None:
    async with service_process(tmp_path) as process, caller(process, "Claude") as agent:
        await agent.call("create_session", sessionId="own")
        await become(lambda: rows(tmp_path) == 1)
        process.process.kill()
        await process.process.wait()
    async with service_process(tmp_path) as process, caller(process, "Claude") as agent:
        assert [(one["client"], one["action"]) for one in await recorded(agent)] == [("Claude", "create_session")]
