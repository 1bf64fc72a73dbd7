"""Tests that the account is kept for as long as is set, over restarts and failures, and what is forgotten is gone."""

import asyncio
from pathlib import Path

import pytest

from tests.front.service.test_activity_kept import rows
from tests.support.account import caller, recorded
from tests.support.gateways import service_process
from tests.support.listening import become, sent
from tests.support.service import running_service, settings_for
from tests.support.site import Site

pytestmark = pytest.mark.anyio


async def test_written_records_survive_a_killed_service(tmp_path: Path, site: Site) -> None:
    async with service_process(tmp_path) as process, caller(process, "Claude") as agent:
        await agent.call("goto", pageId="p", url=site.page("/", "x"))
        await become(lambda: rows(tmp_path) == 1)
        process.process.kill()
        await process.process.wait()
    async with service_process(tmp_path) as process, caller(process, "Codex") as other:
        assert [(one["client"], one["action"]) for one in await recorded(other)] == [("Claude", "goto")]


async def test_a_call_that_the_services_end_cut_off_is_recorded(tmp_path: Path, site: Site) -> None:
    async with running_service(settings_for(tmp_path)) as service, service.agent("Claude") as agent:
        await agent.call("goto", pageId="p", url=site.page("/", "x"))
        script = "() => { document.title = 'begun'; return new Promise(() => {}); }"
        running = sent(agent, "long", "evaluate_script", pageId="p", expression=script)
        await become(lambda: "long" in [record.call_id for record in service.registered_calls()])
    await asyncio.gather(running, return_exceptions=True)
    async with running_service(settings_for(tmp_path)) as service, service.agent("Claude") as agent:
        newest = (await recorded(agent, limit=1))[0]
    assert (newest["action"], newest["callId"]) == ("evaluate_script", "long")
    assert newest["outcome"] in {"UNKNOWN_OUTCOME", "CANCELLED"}
