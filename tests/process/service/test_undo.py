"""Tests that what was done on our side can be taken back for ten minutes, by who did it, under the rules of the act."""

import pytest

from tests.support.carriers import JsonCarrier
from tests.support.clock import Clock
from tests.support.sharing import StartService
from tests.support.site import Site

pytestmark = pytest.mark.anyio


async def test_after_ten_minutes_nothing_can_be_undone(start: StartService, site: Site) -> None:
    clock = Clock()
    service = await start(JsonCarrier, clock)
    async with service.agent() as agent:
        await agent.call("goto", pageId="p", url=site.page("/p", "<p>"))
        await agent.call("set_storage", pageId="p", kind="session", items={"a": "1"})
        await agent.call("close_page", pageId="p")
        clock.pass_s(599)
        assert (await agent.call("undo"))["action"] == "close_page"
        clock.pass_s(2)
        assert (await agent.call("undo", list=True))["undoable"] == []
