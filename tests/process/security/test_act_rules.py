"""Tests that an act which a rule leaves to a person is done when the person allows it, once, and else not at all."""

import asyncio
import re
from collections.abc import AsyncIterator, Coroutine
from typing import Any

import pytest

from browse_together.contract import wire
from tests.support.json import AnyJson
from tests.support.listening import sent
from tests.support.service import Agent, RunningService, running_service, settings_for, tidy
from tests.support.site import Answer, Site
from tests.support.waiting import become

pytestmark = pytest.mark.anyio

RULES = """
[[rule]]
name = "payments"
text = ["Pay"]

[[rule]]
name = "nothing is sent"
decision = "refuse"
methods = ["POST"]

[[rule]]
name = "nothing is deleted"
decision = "refuse"
text = ["Delete"]

[[rule]]
name = "not there"
decision = "refuse"
actions = ["goto"]
origins = ["http://localhost:*/*"]

[[rule]]
name = "logins stay"
decision = "refuse"
actions = ["clear_cookies"]

[[rule]]
name = "consequences"
actions = ["call_page_tool"]
effects = ["destroys"]
"""
SHOP = """<form action=/paid><input id=amount value=1><button id=pay><span id=inner>Pay now</span></button></form>
<button id=free onclick="document.title='free'">Look</button>"""


@pytest.fixture(scope="module")
async def service(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RunningService]:
    folder = tmp_path_factory.mktemp("act-rules")
    (folder / "policy.toml").write_text(RULES, encoding="utf-8")
    async with running_service(settings_for(folder)) as running:
        yield running


@pytest.fixture
async def agent(service: RunningService, site: Site) -> AsyncIterator[Agent]:
    site.page("/shop", SHOP)
    site.page("/paid", "<title>Paid</title>")
    async with service.agent("Shopper") as agent:
        await agent.call("goto", pageId="p", url=site.url("/shop"))
        yield agent
        await tidy(service, agent)


def asked_at(service: RunningService, page_id: str) -> str:
    page = service.known_page(page_id)
    return page.person.request_id if page and page.person else ""


async def answered(
    service: RunningService, calling: Coroutine[Any, Any, Any], answer: str, *, meanwhile: Agent | None = None
) -> dict[str, AnyJson]:
    """Return the result of a call about which a person is asked, and answers. Any: a reply."""
    call = asyncio.create_task(calling)
    await become(lambda: bool(asked_at(service, "p")))
    async with service.agent(operator=True) as person:
        asked = (await person.http.get(wire.REQUESTS)).json()["result"]["requests"]
        assert (len(asked), asked[0]["choices"]) == (1, ["Allow once", "Refuse"])
        if meanwhile is not None:
            await meanwhile.call("evaluate_script", pageId="p", expression="inner.textContent = 'Pay more'")
        path = f"{wire.REQUESTS}/{asked[0]['requestId']}/resolve"
        said = {"by": "Ana", "state": "done", "answer": answer}
        assert (await person.http.post(path, json=said)).status_code == 200
    reply: dict[str, AnyJson] = await call
    return {**reply, "asked": asked[0]["message"]}


async def test_an_act_runs_once_a_person_allows_it_and_is_asked_about_each_time(
    service: RunningService, agent: Agent, site: Site
) -> None:
    await agent.call("click", pageId="p", selector="#free")
    reply = await answered(service, agent.call("click", pageId="p", selector="#inner"), "Allow once")
    origin = site.url("").rstrip("/")
    asked = re.sub(r"^'Shopper \d+'", "'Shopper'", str(reply["asked"]))
    assert asked == f"'Shopper' wants to do this: click button 'Pay now' at {origin}. Your rule: payments."
    assert (reply["navigatedTo"], site.counts["/paid"]) == (site.url("/paid?"), 1)
    await agent.call("goto", pageId="p", url=site.url("/shop"))
    refused = await answered(service, agent.error("click", pageId="p", selector="#pay"), "Refuse")
    assert (refused["code"], "A person refused it. Nothing was done" in refused["message"]) == ("FORBIDDEN", True)
    assert site.counts["/paid"] == 1


async def test_the_permission_covers_the_button_as_the_person_saw_it(
    service: RunningService, agent: Agent, site: Site
) -> None:
    async with service.agent(operator=True) as person:
        click = agent.error("click", pageId="p", selector="#pay")
        reply = await answered(service, click, "Allow once", meanwhile=person)
    assert "It changed while the person was asked" in reply["message"]
    assert site.counts["/paid"] == 0


async def test_there_is_no_way_round_by_keys_forms_or_steps(service: RunningService, agent: Agent, site: Site) -> None:
    step = {"action": "click", "selector": "#pay"}
    for name, arguments in (
        ("batch", {"steps": [step]}),
        ("wait_for_request", {"pattern": "*/paid*", "during": step}),
    ):
        error = await agent.error(name, pageId="p", **arguments)
        assert (error["code"], "Make it a call of its own" in error["hint"]) == ("FORBIDDEN", True), error
    for call in (
        agent.error("press", pageId="p", selector="#amount", key="Enter"),
        agent.error("press", pageId="p", selector="#pay", key="Space"),
        agent.error("fill_form", pageId="p", fields=[{"selector": "#amount", "value": 9}], submit="#pay"),
    ):
        assert (await answered(service, call, "Refuse"))["code"] == "FORBIDDEN"
    assert site.counts["/paid"] == 0


async def test_one_answer_is_for_one_call_also_where_two_ask_the_same_at_once(
    service: RunningService, agent: Agent, site: Site
) -> None:
    site.page("/again", "<button id=pay onclick=\"fetch('/paid')\">Pay now</button>")
    await agent.call("goto", pageId="p", url=site.url("/again"))
    both = [asyncio.create_task(agent.reply("click", pageId="p", selector="#pay")) for _ in range(2)]

    def wait() -> bool:
        person = service.entry("p").record.person
        return any(call.done() for call in both) or (person is not None and len(person.waiters) == len(both))

    async def replies() -> dict[str, AnyJson]:
        return {"success": [(await call).json()["success"] for call in both]}

    await become(wait)
    assert sorted((await answered(service, replies(), "Allow once"))["success"]) == [False, True]
    assert site.counts["/paid"] == 1


GUARDED = """<style>body {margin: 0} .at {position: absolute; left: 600px; width: 100px; height: 40px}</style>
<form action=/gone id=f><input id=name name=n></form><button form=f id=sends>Delete</button>
<div id=card style="width: 200px"><p style="height: 1px; overflow: hidden; margin: 0">%s</p>
<button style="width: 200px; height: 60px" onclick="location = '/gone'">Delete all</button></div>
<iframe id=frame src=/inner width=300 height=100></iframe>
<my-card id=host style="display: block; width: 200px; height: 60px"></my-card>
<button class=at id=below style="top: 10px">Look</button>
<button class=at style="top: 10px" onclick="location = '/gone'">Delete</button>
<style>#drawn::before {content: "Delete"}</style><button id=drawn onclick="location = '/gone'"></button>
<button id=icon aria-describedby=tip onclick="location = '/gone'">x</button><i id=tip role=tooltip hidden>Delete</i>
<select id=choice aria-label="Delete what" onchange="location = '/gone'"><option>-<option>all</select>
<label><input type=checkbox id=tick onchange="location = '/gone'">Delete it</label>
<div onclick="location = '/gone'"><i id=in-div>*</i><span>Delete</span></div>
<ul><li><svg id=in-item width=9 height=9></svg> Delete</ul>
<div style="cursor: pointer"><p><b id=pointed>1</b></p>Delete</div>
<section><em id=bare>*</em> <span>Delete</span></section>
<ul><li id=row><span id=name-in-row>Bob</span> <button aria-label="Delete Bob">Delete</button></li></ul>
<button accesskey=d onclick="location = '/gone'">Delete by key</button>
<script>
host.attachShadow({mode: 'open'}).innerHTML = `<button style="width: 200px; height: 60px">Delete</button>`;
setTimeout(() => document.body.insertAdjacentHTML('beforeend', '<button id=late>Delete late</button>'), 2500);
</script>""" % ("word " * 200)
INNER = "<body style='margin: 0'><button style='width: 300px; height: 100px' onclick=\"location = '/gone'\">Delete"
WAYS: list[tuple[str, AnyJson]] = [
    ("browser_click", {"selector": "#sends"}),
    ("click", {"selector": "#card"}),
    ("click", {"selector": "#frame"}),
    ("click", {"selector": "#icon"}),
    ("click", {"selector": "#host"}),
    ("click", {"selector": "#below", "force": True}),
    ("click", {"selector": "#below", "force": True, "position": {"x": 9, "y": 9}}),
    ("click", {"selector": "button", "strict": False}),
    ("click", {"selector": "#drawn"}),
    ("click", {"selector": "#late"}),
    *(("click", {"selector": f"#{name}"}) for name in ("in-div", "in-item", "pointed", "bare")),
    ("drag_and_drop", {"source": "#sends", "target": "#sends"}),
    ("press", {"selector": "#name", "key": "\n"}),
    ("press", {"selector": "#name", "key": "Control+Enter"}),
    ("press", {"selector": "#name", "key": "Alt+d"}),
    ("type", {"selector": "#name", "text": "x\n"}),
    ("type", {"selector": "#sends", "text": " "}),
    ("type", {"selector": "#choice", "text": "all"}),
    ("fill_form", {"fields": [{"selector": "#choice", "value": "all"}]}),
    ("fill_form", {"fields": [{"selector": "#tick", "value": True}]}),
    ("browser_type", {"selector": "#name", "text": "x\n", "clear": False}),
]


CHOICES = """<select id=one><option>no<option>yes</select><label for=one>Pay by card</label>
<input type=checkbox id=two><label for=two>Pay at once</label>"""


@pytest.mark.parametrize("end", ["cancelled", "client gone"])
async def test_a_question_ends_with_the_call_that_it_is_about(service: RunningService, agent: Agent, end: str) -> None:
    call = sent(agent, "pays", "click", pageId="p", selector="#pay")
    await become(lambda: bool(asked_at(service, "p")))
    request_id = asked_at(service, "p")
    if end == "cancelled":
        await agent.call("cancel_call", callId="pays")
    else:
        await service.parts.administration.client_gone(agent.client_id, departed=False)
    error = (await call).json()["error"]
    assert error["code"] == "CANCELLED"
    assert "Nothing was done" in error["message"]
    await become(lambda: not asked_at(service, "p"))
    async with service.agent(operator=True) as person:
        said = {"by": "Ana", "state": "done", "answer": "Allow once"}
        late = (await person.http.post(f"{wire.REQUESTS}/{request_id}/resolve", json=said)).json()["error"]
    assert "Nothing was done now" in late["message"], late
    await agent.call("click", pageId="p", selector="#free")


async def test_a_form_asks_for_each_field_that_needs_a_person_and_is_filled_in_one_call(
    service: RunningService, agent: Agent, site: Site
) -> None:
    await agent.call("goto", pageId="p", url=site.page("/choices", CHOICES))
    fields = [{"selector": "#one", "value": "yes"}, {"selector": "#two", "value": True}]
    filling = asyncio.create_task(agent.call("fill_form", pageId="p", fields=fields, timeout=5_000))
    seen: list[str] = []
    async with service.agent(operator=True) as person:
        for _ in fields:
            await become(lambda: asked_at(service, "p") not in {"", *seen})
            seen.append(asked_at(service, "p"))
            asked = (await person.http.get(f"{wire.REQUESTS}/{seen[-1]}")).json()["result"]
            assert asked["ofRule"]
            assert re.match(r"'Shopper( \d+)?' wants to do this: fill_form ", asked["message"]), asked["message"]
            said = {"by": "Ana", "state": "done", "answer": "Allow once"}
            await person.http.post(f"{wire.REQUESTS}/{seen[-1]}/resolve", json=said)
        assert (await filling)["fields"][1] == {"selector": "#two", "checked": True}


async def test_a_rule_on_goto_is_one_on_whatever_leads_a_page_to_an_address(agent: Agent, site: Site) -> None:
    url = site.url("/shop").replace("127.0.0.1", "localhost")
    await agent.call("browser_launch")
    for name in ("goto", "navigate_to", "open_page", "browser_navigate"):
        assert "not there" in (await agent.error(name, url=url))["message"], name
    site.page("/on", Answer("", 302, headers={"Location": url}))
    before = site.counts["/shop"]
    for name in ("goto", "open_page"):
        reply = (await agent.reply(name, url=site.url("/on"))).json()
        assert (reply["error"]["code"], 'the rule "not there"' in str(reply["notices"])) == ("NAVIGATION_FAILED", True)
    assert (site.counts["/on"], site.counts["/shop"]) == (2, before)
    steps = [{"action": "open_page", "url": url}]
    assert (await agent.error("batch", steps=steps))["code"] == "FORBIDDEN"


async def test_a_rule_looks_at_the_element_that_receives_the_click_or_key(agent: Agent, site: Site) -> None:
    site.page("/inner", INNER)
    await agent.call("goto", pageId="p", url=site.page("/guarded", GUARDED))
    for name, arguments in WAYS:
        error = await agent.error(name, **{"sessionId" if name.startswith("browser_") else "pageId": "p"}, **arguments)
        assert (error["code"], "nothing is deleted" in error["message"]) == ("FORBIDDEN", True), (name, error)
    assert site.counts["/gone"] == 0
    await agent.call("click", pageId="p", selector="#name-in-row")
    typed = await agent.call("type", pageId="p", selector="#name", text="Delete")
    assert "the value is 'Delete'" in typed["observed"]


async def test_a_rule_refuses_requests_and_acts_on_sessions_with_the_way_to_do_them(
    service: RunningService, agent: Agent, site: Site
) -> None:
    error = await agent.error("fetch", pageId="p", url="/shop", method="POST")
    assert (error["code"], 'the rule "nothing is sent" refuses that' in error["message"]) == ("FORBIDDEN", True)
    assert "browse-together run --person" in error["hint"]
    assert (await agent.error("clear_cookies", affectOthers=True))["code"] == "FORBIDDEN"
    async with service.agent(operator=True) as person:
        await person.call("goto", pageId="own", url=site.url("/shop"))
        await person.error("fetch", pageId="own", url="/missing", method="POST")
    assert site.received[-1].method == "POST"


TOOLS = """<script>
const declare = (name, description, more, signal) => document.modelContext.registerTool(
    {name, description, execute: () => { document.title = 'called'; return name; }, ...more}, {signal});
const old = new AbortController();
declare('payNow', 'Ends the order.', {}, old.signal);
declare('look', 'Shows the order.', {annotations: {readOnlyHint: true}});
declare('confirm_order', 'Ends the order.', {annotations: {consequentialHint: true}});
declare('remove', 'Can delete all.', {});
</script>"""
CHANGES = "(old.abort(), declare('payNow', 'Ends the order at once.', {}), 1)"


async def test_a_rule_looks_at_the_words_of_a_pages_tool_and_at_what_it_says_of_itself(
    service: RunningService, agent: Agent, site: Site
) -> None:
    await agent.call("goto", pageId="p", url=site.page("/tools", TOOLS))
    assert (await agent.call("call_page_tool", pageId="p", name="look"))["gave"] == '"look"'
    await agent.call("evaluate_script", pageId="p", expression="document.title = 'Shop'")
    error = await agent.error("call_page_tool", pageId="p", name="remove")
    assert (error["code"], "nothing is deleted" in error["message"]) == ("FORBIDDEN", True)
    for name, rule in (("payNow", "payments"), ("confirm_order", "consequences")):
        call = agent.error("call_page_tool", pageId="p", name=name)
        refused = await answered(service, call, "Refuse")
        assert (refused["code"], rule in str(refused["asked"])) == ("FORBIDDEN", True)
    title = await agent.call("evaluate_script", pageId="p", expression="document.title")
    assert title["value"] == "Shop"
    call = agent.call("call_page_tool", pageId="p", name="payNow")
    reply = await answered(service, call, "Allow once")
    assert (reply["gave"], "call_page_tool tool 'pay Now · Ends the order.'" in reply["asked"]) == ('"payNow"', True)


async def test_a_permission_covers_a_pages_tool_as_it_was_when_the_person_was_asked(
    service: RunningService, agent: Agent, site: Site
) -> None:
    await agent.call("goto", pageId="p", url=site.page("/tools", TOOLS))
    call = asyncio.create_task(agent.error("call_page_tool", pageId="p", name="payNow"))
    await become(lambda: bool(asked_at(service, "p")))
    async with service.agent(operator=True) as person:
        await person.call("evaluate_script", pageId="p", expression=CHANGES)
        said = {"by": "Ana", "state": "done", "answer": "Allow once"}
        await person.http.post(f"{wire.REQUESTS}/{asked_at(service, 'p')}/resolve", json=said)
    assert (await call)["code"] in {"FORBIDDEN", "STALE_REVISION"}
    title = await agent.call("evaluate_script", pageId="p", expression="document.title")
    assert title["value"] != "called"


async def test_the_guard_asks_before_a_pages_tool_gets_what_was_read_elsewhere(
    service: RunningService, agent: Agent, site: Site
) -> None:
    mail, shop = site.page("/mail", "Your code is 4711."), site.url("/tools", "localhost")
    with Site() as third:
        site.page("/tools", TOOLS + f"<iframe src={third.page('/ad', 'An ad')}></iframe>")
        await agent.call("create_session", sessionId="safe", guarded=True)
        async with service.agent(operator=True) as person:
            for page_id, url in (("mail", mail), ("shop", shop)):
                await person.call("open_page", pageId=page_id, sessionId="safe", url=url)
            await agent.call("content", pageId="mail")
            await agent.call("claim_page", pageId="shop", reason="The user asked for it.")
            call = asyncio.create_task(agent.error("call_page_tool", pageId="shop", name="look"))
            await become(lambda: bool(asked_at(service, "shop")))
            request = f"{wire.REQUESTS}/{asked_at(service, 'shop')}"
            asked = (await person.http.get(request)).json()["result"]["message"]
            await person.http.post(f"{request}/resolve", json={"by": "Ana", "state": "done", "answer": "Refuse"})
        there = f"what was read at {site.url('', '127.0.0.1')} to {site.url('', 'localhost')}. Your rule: cross-origin"
        assert (there in asked, (await call)["code"]) == (True, "FORBIDDEN")
