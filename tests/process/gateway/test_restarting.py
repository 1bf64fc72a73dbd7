"""Tests a service that is restarted under a gateway: calls in flight are answered truly, and the chat goes on as it
was."""

import asyncio
from functools import partial
from pathlib import Path

import httpx
import pytest
from pydantic import JsonValue

from browse_together.client.credentials import mint
from browse_together.contract import wire
from browse_together.contract.secret import ensure_secret
from tests.process.gateway.test_autostart import Place, gone, place
from tests.support.chat import Chat, Json, chatting, environment, text
from tests.support.gateways import service_process, tuned
from tests.support.site import Site
from tests.support.waiting import PATIENCE_S, become, found
from tests.support.wall import Door, seat

__all__ = ["place"]  # a fixture

pytestmark = [pytest.mark.anyio, pytest.mark.long]


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
        await become(lambda: site.counts["/began"])
        first = place.process()
        site.page("/", "<h1>Here</h1><p id=late>Late</p>")
        first.terminate()
        await gone(first)
        looked, acted = await results(chat, looks, acts)
        assert (looked["isError"], "UNKNOWN_OUTCOME" in text(acted)) == (False, True), (text(looked), text(acted))
        assert place.process().pid != first.pid
        pages = await chat.call("list_pages")
        assert "\nlooks · " in text(pages).partition("Other agents'")[0]
        assert not (await chat.call("click", pageId="acts", selector="h1"))["isError"]


async def updates_until(chat: Chat, request_id: int) -> set[str]:
    """Return the resources that were reported as changed before a request was answered."""
    told = set()
    while (message := await chat.receive()).get("id") != request_id:
        if message["method"] == "notifications/resources/updated":
            told.add(str(message["params"]["uri"]))  # type: ignore[index,call-overload] # of this method
    return told


async def test_calls_that_come_while_it_is_down_wait_for_it(place: Place, site: Site) -> None:
    """Started by somebody else: the other's gateway may not. Who subscribed is told of changes by the one that
    follows."""
    url = site.page("/", "<h1>Here</h1>")
    async with place.chat() as chat, place.chat(autostart=False) as other:
        await chat.initialize()
        await other.initialize()
        assert not (await chat.call("goto", pageId="p", url=url))["isError"]
        assert not (await other.call("list_pages"))["isError"]
        await chat.ask("resources/subscribe", {"uri": "page://p"})
        first = place.process()
        first.kill()
        await gone(first)
        await place.refuses()
        waits = await begin(other, "list_pages")
        assert not (await chat.call("click", pageId="p", selector="h1"))["isError"]
        (listed,) = await results(other, waits)
        assert not listed["isError"], text(listed)
        assert not (await chat.call("reload_page", pageId="p"))["isError"]
        async with asyncio.timeout(PATIENCE_S):
            told: set[str] = set()
            while "page://p" not in told:
                told = await updates_until(chat, await begin(chat, "click", pageId="p", selector="h1"))


async def test_a_paused_agent_stays_paused_and_hears_what_was_written_once_when_the_service_was_killed(
    place: Place, site: Site
) -> None:
    async with place.chat() as chat:
        await chat.initialize()
        assert not (await chat.call("goto", pageId="p", url=site.page("/", "<h1>Here</h1>")))["isError"]
        door, first = Door(place.url, ensure_secret(place.data_dir)), place.process()
        async with seat(door) as person:
            assert (await person.call("halt_agent", to="p", how="pause"))["type"] == "done"
            assert (await person.call("tell_agent", to="p", message="The blue one."))["type"] == "done"
        first.kill()
        await gone(first)
        assert text(await chat.call("list_pages")).count("The blue one.") == 1
        clicking = await begin(chat, "click", pageId="p", selector="h1")
        async with seat(door) as person:
            await person.until(lambda message: any((each["doing"] or {}).get("waiting") for each in message["agents"]))
            await person.call("halt_agent", to="p", how="go_on")
        (clicked,) = await results(chat, clicking)
        assert "had paused you: click waited for" in text(clicked)
        assert "The blue one." not in text(clicked)


async def test_a_chat_whose_token_is_revoked_is_told_so_and_no_longer_holds_its_pages(
    tmp_path: Path, site: Site
) -> None:
    url = site.page("/", "<h1>Here</h1>")
    async with service_process(tmp_path, **tuned(tmp_path / "tuned", presence_grace_ms=300)) as service:
        secret = ensure_secret(tmp_path)
        token = mint(secret, "visitor", "Visitor")
        known = {"BROWSE_URL": service.url, "BROWSE_DATA_DIR": str(tmp_path)}
        operator = {"Authorization": f"Bearer {mint(secret, 'owner', operator=True)}"}
        async with (
            chatting(environment(**known, BROWSE_TOKEN=token)) as visitor,
            chatting(environment(**known)) as other,
            httpx.AsyncClient(base_url=service.url, headers=operator, trust_env=False) as http,
        ):
            await visitor.initialize()
            await other.initialize()
            assert not (await visitor.call("goto", pageId="p", url=url))["isError"]
            assert "PAGE_OWNED" in text(await other.call("click", pageId="p", selector="h1"))
            revoked = await http.post(wire.REVOKE, json={"clients": ["Visitor"]})
            assert revoked.json()["result"] == {"clients": ["Visitor", "visitor"], "known": 1}
            refused = await visitor.call("click", pageId="p", selector="h1")
            assert refused["isError"]
            assert 'UNAUTHORIZED: "Visitor" was revoked by the account\'s owner' in text(refused)
            restoring = "browse-together token restore Visitor. This gateway sends the token in BROWSE_TOKEN."
            assert restoring in text(refused)
            clicks = partial(other.call, "click", pageId="p", selector="h1")
            await found(clicks, lambda result: not result["isError"])  # its presence ends a moment after its stream
