"""Tests that all bytes of a page pass one door: every route, resource and tool that reads, with a page that may not be
read and with a secret that nobody may read."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Final

import pytest
from fastapi.routing import iter_route_contexts

from browse_together.contract import wire
from browse_together.contract.actions.traits import Effect, Scope
from browse_together.contract.catalogue import ACTIONS
from browse_together.contract.named_secrets import NamedSecret
from browse_together.contract.resources import RESOURCES, TEMPLATES, request
from tests.support.bodies import smallest
from tests.support.json import AnyJson
from tests.support.service import Agent, RunningService
from tests.support.site import Answer, Site
from tests.support.tokens import limited
from tests.support.waiting import found

pytestmark = pytest.mark.anyio

SECRET: Final = "Kx7qPw2mZr9T"
ELSEWHERE: Final = "balance-4711"
DOORS: Final = {
    wire.HEALTH: "",
    wire.READY: "",
    wire.OPENAPI: "",
    wire.METRICS: "",
    wire.PAGES: "",
    wire.SESSIONS: "",
    wire.TOOLS: "",
    wire.ACTIVITY: "",
    wire.REQUESTS: "",
    wire.SETTINGS: "",
    wire.TOKENS: "",
    wire.WALL: "",
    wire.AGENTS: "",
    wire.ACTIVITY_PICTURES: "?ids=1",
    wire.CALLS + "/{call_id}": "c",
    wire.CALLS + "/{call_id}/reply": "c/reply",
    wire.FILES: "?path=report.csv",
    wire.FILES + "/{artifact_id}": "{file}",
    wire.REQUESTS + "/{request_id}": "r",
    wire.WALL_CARD + "/{page_id}": "{page}",
    wire.WALL_FILES + "/{name}": "wall.js",
    wire.WALL_WINDOW + "/{ticket}": "t",
}
"""Each route that answers a GET, with what stands in its place; a stream of events is followed for itself."""
STREAMS: Final = {wire.EVENTS}


def filled(path: str, page: str, file: str) -> str:
    stem, brace, _ = path.partition("{")
    value = DOORS[path].replace("{page}", page).replace("{file}", file)
    return f"{stem}{value}" if brace else f"{path}{value}"


READING: Final = [
    name for name, action in ACTIONS.items() if action.effect is Effect.READS and action.scope is Scope.PAGE
]


async def all_told(agent: Agent, page: str, file: str) -> dict[str, str]:
    """Return what an agent is told of a page by every reading tool, route and resource."""
    told = dict[str, str]()
    for name in READING:
        told[name] = (await agent.reply(name, **{**smallest(ACTIONS[name]), "pageId": page, "timeout": 500})).text
    for path in DOORS:
        told[path] = (await agent.http.get(filled(path, page, file))).text
    for resource in (*RESOURCES, *TEMPLATES):
        uri = resource.uri.format(sessionId=page, selector="h1", screenshotId="current")
        found = request(uri, ages=dict.fromkeys(("pages", "elements", "screenshots", "sessions"), 0))
        assert found is not None
        arguments: dict[str, AnyJson] = {**found.arguments}
        told[uri] = (await agent.reply(resource.action, **arguments)).text
    return told


def error_code(text: str) -> str:
    code: str = json.loads(text)["error"]["code"]
    return code


@pytest.fixture
async def shopper(service: RunningService, site: Site) -> AsyncIterator[Agent]:
    async with limited(service, "shopper", origins=[site.url("").rstrip("/")]) as agent:
        await agent.call("list_pages")
        yield agent
        for page in (await agent.call("list_pages"))["yours"]:
            await agent.call("close_page", pageId=page["pageId"])


async def test_every_route_that_answers_is_walked(service: RunningService) -> None:
    found = {each.path for each in iter_route_contexts(service.app.routes) if "GET" in (each.methods or ())}
    others = {wire.HOSTS, wire.HOSTS_FILES, wire.ATTACHMENT, wire.TABS}  # for the account's owner, and for hosts
    assert found - STREAMS - others == {*DOORS}


async def test_a_page_with_a_frame_from_elsewhere_is_read_by_no_tool_route_or_resource(
    shopper: Agent, agent: Agent, site: Site
) -> None:
    """The page was handed over with its frame, so that it is the limited client's own."""
    bank = site.page("/bank", f"<title>Bank</title><h1>{ELSEWHERE}</h1>").replace("127.0.0.1", "localhost")
    await agent.call("goto", pageId="given", url=site.page("/framed", f"<h1>Shop</h1><iframe src='{bank}'></iframe>"))
    assert ELSEWHERE in str(await agent.call("snapshot", pageId="given"))
    file = (await agent.call("screenshot", pageId="given"))["artifact"]["artifactId"]
    await agent.call("hand_over_page", pageId="given", to="shopper")
    told = await all_told(shopper, "given", file)
    assert [name for name, text in told.items() if ELSEWHERE in text or "Bank" in text] == []
    card, content = told[wire.WALL_CARD + "/{page_id}"], told["content"]
    assert (error_code(card), error_code(content)) == ("FORBIDDEN", "FORBIDDEN")
    assert [name for name in READING if json.loads(told[name])["success"]] == []
    assert error_code(told[wire.FILES + "/{artifact_id}"]) == "INVALID_REQUEST"


async def test_a_secret_on_a_page_is_told_by_no_tool_route_or_resource(
    service: RunningService, agent: Agent, site: Site
) -> None:
    origin = site.url("").rstrip("/")
    service.parts.secrets.set(NamedSecret(name="key", value=SECRET, origins=(origin,)))
    words = f"<title>{SECRET}</title><h1>{SECRET}</h1><a id=b href=/key>b</a><input id=a value={SECRET}>"
    script = f"<script>console.log('{SECRET}'); localStorage.setItem('{SECRET}', '{SECRET}')</script>"
    url = site.page("/key", f"{words}<select id=s><option>{SECRET}</select>{script}")
    await agent.call("goto", pageId="own", url=f"{url}?k={SECRET}")
    await agent.call("click", pageId="own", selector="#b")
    ours = (await agent.call("export_har", pageId="own"))["artifact"]  # a site's own file is as the site made it
    told = await all_told(agent, "own", ours["artifactId"])
    asking = asyncio.create_task(agent.reply("evaluate_script", pageId="own", expression=f"alert('{SECRET}')"))
    told["dialog"] = await card_of(agent, "own", lambda frame: "dialog" in frame)
    await agent.call("handle_dialog", pageId="own", accept=True)
    told["act"] = (await asking).text
    assert [name for name, text in told.items() if SECRET in text] == []
    assert "«secret:key»" in told["dialog"]


async def card_of(agent: Agent, page: str, shown: Callable[[AnyJson], bool]) -> str:
    """Return the card of a page once its frame is as expected."""
    card = await found(
        lambda: agent.http.get(f"{wire.WALL_CARD}/{page}"),
        lambda reply: shown(reply.json()["result"].get("frame") or {}),
    )
    return card.text


async def test_a_refused_look_is_on_record_as_a_refused_call_is(agent: Agent, other: Agent, site: Site) -> None:
    await agent.call("goto", pageId="mine", url=site.page("/mine", "<h1>Mine</h1>"))
    await agent.call("share_page", pageId="mine", access="private")
    refusals = [(await other.http.get(f"{wire.WALL_CARD}/mine")).json()["error"]["code"] for _ in range(3)]
    assert refusals == ["PAGE_OWNED"] * 3
    records = (await other.call("get_activity", format="records", actionName="screenshot", pageId="mine"))["records"]
    assert [(each["outcome"], each["you"]) for each in records if each["callId"] == "look"] == [("PAGE_OWNED", True)]


async def test_a_file_from_elsewhere_is_not_downloaded_for_a_token_of_some_origins(shopper: Agent, site: Site) -> None:
    headers = {"content-disposition": "attachment; filename=bank.txt"}
    site.page("/bank.txt", Answer(ELSEWHERE, content_type="text/plain", headers=headers))
    elsewhere = site.url("/bank.txt", host="localhost")
    site.page("/hop", Answer("", 302, headers={"location": elsewhere}))
    site.page("/blob.txt", Answer("ours", content_type="text/plain", headers=headers))
    links = f"<a id=one href='{elsewhere}'>one</a><a id=two href=/hop>two</a><a id=own href=/blob.txt>own</a>"
    links += f"<a id=three download href='{elsewhere}'>three</a><a id=four download href=/hop>four</a>"
    told = list[str]()
    for name in ("one", "two", "three", "four", "own"):
        await shopper.call("open_page", pageId=name, url=site.page("/shop", links))
        told.append((await shopper.reply("click", pageId=name, selector=f"#{name}")).text)
    listed = (await shopper.call("list_downloads"))["downloads"]
    told += [(await shopper.http.get(each["file"])).text for each in listed if each.get("file")]
    assert ([each["url"] for each in listed], ELSEWHERE in str(told)) == ([site.url("/blob.txt")], False)
