"""Tests the record of who did what: written in the one spine, shown to those who may see it, found by its filters."""

import pytest

from tests.support.account import recorded
from tests.support.service import Agent
from tests.support.site import Answer, Site

pytestmark = pytest.mark.anyio


async def test_an_act_that_failed_has_its_code_and_what_it_sent(agent: Agent, site: Site) -> None:
    site.page("/save", Answer("no", 500))
    await agent.call("goto", pageId="p", url=site.page("/", "x"))
    script = "() => fetch('/save', {method: 'PUT'}).then(() => { throw new Error('after all'); })"
    await agent.error("evaluate_script", pageId="p", expression=script)
    (record,) = await recorded(agent, pageId="p", limit=1)
    assert record["outcome"] == "SCRIPT_EXECUTION_FAILED"
    assert record["requests"] == [{"method": "PUT", "url": site.url("/save"), "status": 500}]
