"""Tests many first calls for one page: one page comes of it, and one owner."""

import asyncio

import pytest

from tests.page.service.test_first_calls import CALLERS, open_windows
from tests.support.sharing import StartService
from tests.support.site import Site

pytestmark = pytest.mark.anyio


@pytest.mark.long
async def test_fifty_first_calls_of_one_client_make_one_page_and_all_succeed(start: StartService, site: Site) -> None:
    url = site.page("/shop", "<h1>Shop</h1>")
    service = await start(queue_wait_ms=60_000)  # a busy machine takes longer than 10 s for all of them
    windows = open_windows(service)
    async with service.agent() as agent, asyncio.timeout(60):
        replies = await asyncio.gather(*(agent.reply("goto", pageId="shop", url=url) for _ in range(CALLERS)))
        assert [reply.status_code for reply in replies] == [200] * CALLERS
        assert {reply.json()["page"]["pageId"] for reply in replies} == {"shop"}
        assert site.counts["/shop"] == CALLERS
        assert [page["pageId"] for page in (await agent.call("list_pages"))["yours"]] == ["shop"]
        assert open_windows(service) == windows + 1
