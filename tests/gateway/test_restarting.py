"""A service that is restarted under a gateway: calls in flight are answered truly, and the chat goes on as it was."""

import asyncio

import pytest
from pydantic import JsonValue

from tests.gateway.chat import Chat, Json, text
from tests.gateway.test_autostart import Place, free_port, gone, place
from tests.support.site import Site

__all__ = ["free_port", "place"]  # fixtures

pytestmark = pytest.mark.anyio


async def begin(chat: Chat, tool: str, **arguments: JsonValue) -> int:
    return await chat.send("tools/call", {"name": tool, "arguments": arguments})


async def results(chat: Chat, *ids: int) -> list[Json]:
    found: dict[object, JsonValue] = {}
    while not found.keys() >= set(ids):
        message = await chat.receive()
        found[message.get("id")] = message.get("result")
    return [result for each in ids if isinstance(result := found[each], dict)]


async def test_an_ordered_restart_costs_a_chat_nothing_but_what_was_under_way(place: Place, site: Site) -> None:
    url = site.page("/", "<h1>Here</h1>")
    async with place.chat() as chat:
        await chat.initialize()
        for page_id in ("looks", "acts"):
            assert not (await chat.call("goto", pageId=page_id, url=url))["isError"]
        looks = await begin(chat, "wait_for_selector", pageId="looks", selector="#late", timeout=30_000)
        never = "new Promise(() => fetch('/began'))"
        acts = await begin(chat, "evaluate_script", pageId="acts", expression=never, timeout=30_000)
        async with asyncio.timeout(30):
            while not site.counts["/began"]:  # noqa: ASYNC110 - the site counts in a thread of its own
                await asyncio.sleep(0.02)  # between two looks at it
        first = place.process()
        site.page("/", "<h1>Here</h1><p id=late>Late</p>")
        first.terminate()
        await gone(first)
        looked, acted = await results(chat, looks, acts)
        assert (looked["isError"], "UNKNOWN_OUTCOME" in text(acted)) == (False, True), (text(looked), text(acted))
        assert place.process().pid != first.pid
        pages = await chat.call("list_pages")
        assert '"looks"' in text(pages).partition('"people"')[0]
        assert not (await chat.call("click", pageId="acts", selector="h1"))["isError"]


async def test_calls_that_come_while_it_is_down_wait_for_it(place: Place, site: Site) -> None:
    """Started by somebody else: this gateway may not."""
    url = site.page("/", "<h1>Here</h1>")
    async with place.chat() as chat, place.chat(autostart=False) as other:
        await chat.initialize()
        await other.initialize()
        assert not (await chat.call("goto", pageId="p", url=url))["isError"]
        assert not (await other.call("list_pages"))["isError"]
        first = place.process()
        first.kill()
        await gone(first)
        await place.refuses()
        waits = await begin(other, "list_pages")
        assert not (await chat.call("click", pageId="p", selector="h1"))["isError"]
        (listed,) = await results(other, waits)
        assert not listed["isError"], text(listed)
