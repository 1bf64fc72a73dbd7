"""Tests many first calls for one page: one page comes of it, and one owner."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from tests.support.service import RunningService
from tests.support.site import Site

pytestmark = pytest.mark.anyio

CALLERS = 50


async def test_fifty_first_calls_of_fifty_clients_make_one_owner_and_the_others_are_refused(
    service: RunningService, site: Site
) -> None:
    url = site.page("/cart", "<h1>Cart</h1>")
    windows = open_windows(service)
    async with AsyncExitStack() as stack:
        agents = [await stack.enter_async_context(service.agent(f"Claude · {n}")) for n in range(CALLERS)]
        async with asyncio.timeout(60):
            replies = await asyncio.gather(*(agent.reply("goto", pageId="cart", url=url) for agent in agents))
        by_status = dict(zip([a.client_id for a in agents], replies, strict=True))
        owners = [agent for agent in agents if by_status[agent.client_id].status_code == 200]
        assert len(owners) == 1
        refused = [reply for reply in replies if reply.status_code == 423]
        assert len(refused) == CALLERS - 1
        assert {reply.json()["error"]["code"] for reply in refused} == {"PAGE_OWNED"}
        assert site.counts["/cart"] == 1
        assert open_windows(service) == windows + 1
        await owners[0].call("close_page", pageId="cart")


def open_windows(service: RunningService) -> int:
    """Count the windows in the browser itself, whatever the service believes."""
    context = service.session().opened
    return len(context.pages) if context is not None else 1
