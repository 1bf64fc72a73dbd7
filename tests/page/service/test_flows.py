"""Tests flows: saved from what was done, run again on the site as it was and as it became, stopped where it differs."""

import re
import threading
import tomllib
from itertools import count
from urllib.parse import parse_qs

import pytest

from browse_together.contract import wire
from browser_service.flows import running
from tests.support.json import AnyJson
from tests.support.service import Agent, RunningService
from tests.support.site import Answer, Received, Site

pytestmark = [pytest.mark.anyio, pytest.mark.thorough]

NAMES = (f"flow-{number}" for number in count(1))
BUY = "<form method=post action=/cart><button name=tea value={0} id={1}>Buy</button></form>"
SHOP = "<h1>Teas</h1>" + "".join(
    f"<div class=card><h3>{tea}</h3>{BUY.format(tea.lower(), f'b{number}')}</div>"
    for number, tea in enumerate(("Sencha", "Matcha"), 1)
)
CHANGED = "<h1>Tea for you</h1><p>On 3. Mai</p>" + "".join(
    f"<section><b>{tea}</b><i>49,00</i>{BUY.format(tea.lower(), f'b{number}')}</section>"
    for number, tea in enumerate(("Matcha", "Sencha"), 1)
)
ORDER = """<form method=post action=/orders><label>Name <input name=who></label><label>To <select name=to>
<option value=home>Home</option><option value=work>Work</option></select></label><button>Order</button></form>"""


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a run wait less for what does not come."""
    monkeypatch.setattr(running, "_FIRST_MS", 4_000)
    monkeypatch.setattr(running, "_SHOWS_MS", 4_000)


@pytest.fixture
def shop(site: Site) -> Site:
    """A shop whose cart leads to an order, which has a page of its own."""

    def order(sent: Received) -> Answer:
        number = sum(each.path == "/orders" for each in site.received)
        who = parse_qs(sent.body.decode())["who"][0]
        site.page(
            f"/orders/{number}", f"<p role=status>Order {number} is placed</p><table><tr><th>For<tr><td>{who}</table>"
        )
        return Answer(status=303, headers={"location": f"/orders/{number}"})

    site.page("/teas", SHOP)
    site.page("/order", ORDER)
    site.routes["/cart"] = Answer(status=303, headers={"location": "/order"})
    site.routes["/orders"] = order
    return site


async def taught(agent: Agent, shop: Site) -> str:
    """Order matcha by hand, with some looks and mistakes, and save it."""
    name = next(NAMES)
    opened = await agent.reply("open_page", url=shop.url("/teas"))
    page_id = opened.json()["page"]["pageId"]
    found = await agent.call("find", role="button", name="Buy", pageId=page_id)
    matcha = next(each["ref"] for each in found["matches"] if "Matcha" in each["in"])
    assert (await agent.error("click", selector="role=button[name=Sell]", timeout=100, pageId=page_id))["code"]
    await agent.call("click", selector=matcha, pageId=page_id)
    await agent.call("fill", selector="[name=who]", value="An", pageId=page_id)
    await agent.call("fill", selector="[name=who]", value="Ana", pageId=page_id)
    await agent.call("select_option", selector="[name=to]", value="work", pageId=page_id)
    await agent.call("click", selector="role=button[name='Order']", pageId=page_id)
    await agent.call("extract_table", selector="table", pageId=page_id)
    saved = await agent.call("save_flow", name=name, pageId=page_id, values={"to": "work"})
    assert (saved["steps"], saved["parameters"]) == (6, ["name", "to"])
    return name


def orders(shop: Site) -> list[str]:
    return [each.body.decode() for each in shop.received if each.path in {"/cart", "/orders"}]


async def test_what_was_done_once_is_done_again_with_other_values(agent: Agent, shop: Site) -> None:
    name = await taught(agent, shop)
    text = (await agent.call("list_flows", name=name))["flows"]
    assert "Ana" not in text
    assert "role=button[name='Order']" not in text, 'the same as role=button[name="Order"]'
    assert re.findall(r'^action = "(\w+)"', text, re.MULTILINE) == [
        *("goto", "click", "fill", "select_option", "click", "extract_table"),
    ]
    done = await agent.call("run_flow", name=name, values={"name": "Zoë"})
    assert done["outputs"] == {"table": {"tables": [{"headers": ["For"], "rows": [{"For": "Zoë"}]}], "count": 1}}
    assert orders(shop) == ["tea=matcha", "who=Ana&to=work", "tea=matcha", "who=Zo%C3%AB&to=work"]
    records = (await agent.call("get_activity", client="me", format="records", limit=9))["records"]
    assert f"flow {name}, step 5" in [each.get("via") for each in records]


@pytest.mark.usefixtures("impatient")
async def test_a_changed_site_gets_the_same_acts_or_none(agent: Agent, shop: Site) -> None:
    name = await taught(agent, shop)
    shop.page("/teas", CHANGED)
    shop.page("/order", ORDER.replace("Order<", "Send<"))
    error = await agent.error("run_flow", name=name, values={"name": "Bo"})
    facts = error["details"]["context"]
    assert (error["code"], facts["step"], facts["done"], facts["code"]) == ("FLOW_STOPPED", 5, 4, "ELEMENT_NOT_FOUND")
    assert orders(shop)[2:] == ["tea=matcha"]
    send = next(each["ref"] for each in facts["candidates"] if each["name"] == "Send")
    mended = await agent.call("mend_flow", name=name, selector=send)
    assert orders(shop)[3:] == ["who=Bo&to=work"]
    assert "step 5 of the file is mended" in mended["observed"]
    await agent.call("run_flow", name=name, values={"name": "Di"})
    assert orders(shop)[4:] == ["tea=matcha", "who=Di&to=work"]


async def test_a_flow_stops_where_the_effect_is_another(agent: Agent, shop: Site) -> None:
    name = await taught(agent, shop)
    shop.routes["/cart"] = Answer("<h1>Sold out</h1>", status=409)
    error = await agent.error("run_flow", name=name, values={"name": "Cy"})
    assert "POST /cart 303 was expected; it sent POST /cart 409" in error["message"]
    assert orders(shop)[2:] == ["tea=matcha"]


@pytest.mark.usefixtures("impatient")
async def test_what_is_said_to_be_done_is_what_was_done(agent: Agent, shop: Site) -> None:
    name = await taught(agent, shop)
    shop.routes["/cart"] = Answer("<h1>Sold out</h1>", status=409)
    await agent.error("run_flow", name=name, values={"name": "Cy"})
    assert (await agent.error("mend_flow", name=name, step=7))["code"] == "VALIDATION_ERROR"
    skipped = await agent.error("mend_flow", name=name, step=6)
    assert "Steps 1 to 2 are done, the others are not." in skipped["message"]


async def test_a_resend_begins_no_flow_twice(agent: Agent, shop: Site) -> None:
    name = await taught(agent, shop)
    for _ in range(2):
        body = {"name": name, "values": {"name": "Ed"}}
        assert (await agent.reply("run_flow", headers={wire.CALL_ID: f"once-{name}"}, **body)).json()["success"]
    assert orders(shop)[2:] == ["tea=matcha", "who=Ed&to=work"]


async def test_values_are_data(agent: Agent, shop: Site) -> None:
    name = await taught(agent, shop)
    await agent.call("run_flow", name=name, values={"name": 'x"]{{to}} >> css=*'})
    assert orders(shop)[3] == "who=x%22%5D%7B%7Bto%7D%7D+%3E%3E+css%3D*&to=work"


async def test_of_a_step_that_ran_out_of_time_it_is_not_said_that_it_was_not_done(
    agent: Agent, shop: Site, service: RunningService
) -> None:
    name = await taught(agent, shop)
    path = service.settings.flows_dir / f"{name}.toml"
    acts = "[[steps]]\naction = 'evaluate_script'\nexpression = 'new Promise(() => 0)'\ntimeout = 100\n\n[[steps]]"
    path.write_text(acts.join(path.read_text("utf-8").rsplit("[[steps]]", 1)), "utf-8")
    error = await agent.error("run_flow", name=name, values={"name": "Al"})
    assert (error["code"], error["details"]["context"]["step"]) == ("FLOW_STOPPED", 6)
    assert "It is not known whether step 6 was done" in error["message"]
    assert "If it was not done: mend_flow" in error["hint"]


async def test_a_password_is_in_no_flow(agent: Agent, site: Site, service: RunningService) -> None:
    fields = "<form><label>Name <input></label><label>Password <input type=password></label>"
    site.page("/login", f"{fields}<input aria-label=Code type=text></form>")
    name, password = next(NAMES), "role=textbox[name=Password]"
    page_id = (await agent.reply("open_page", url=site.url("/login"))).json()["page"]["pageId"]
    filled = [{"selector": password, "value": "a"}, {"selector": "role=textbox[name=Code]", "value": "1"}]
    await agent.call("fill_form", fields=filled, pageId=page_id)
    await agent.call("evaluate_script", script="document.forms[0][1].type = 'text'", pageId=page_id)
    await agent.call("batch", steps=[{"action": "fill", "selector": password, "value": "hunter2"}], pageId=page_id)
    plain = {"code": "1", "password": "hunter2", "password_2": "hunter2"}
    for values in (plain, {**plain, "password": {"secret": "shop-pw"}}):
        error = await agent.error("save_flow", name=name, pageId=page_id, values=values)
        assert "which no flow keeps" in error["message"]
        assert "hunter2" not in str(error)
    path = service.settings.flows_dir / f"{name}.toml"
    assert not path.exists()
    await agent.call("save_flow", name=name, pageId=page_id, values={"code": "1", "password": {"secret": "shop-pw"}})
    kept = tomllib.loads(path.read_text("utf-8"))["parameters"]
    assert (kept["password"]["default"], kept["code"]["default"]) == ({"secret": "shop-pw"}, "1")
    assert [name for name, each in kept.items() if each.get("secret")] == ["password", "password_2"]


async def test_a_password_that_was_pasted_where_the_focus_was_is_in_no_flow(agent: Agent, site: Site) -> None:
    url = site.page("/pin", "<label>PIN <input type=password autofocus></label>")
    page_id = (await agent.reply("open_page", url=url)).json()["page"]["pageId"]
    await agent.call("focus", selector="input", pageId=page_id)
    await agent.call("paste", text="hunter2", pageId=page_id)
    error = await agent.error("save_flow", name=next(NAMES), pageId=page_id, values={"paste_text": "hunter2"})
    assert "which no flow keeps" in error["message"]


async def test_what_cannot_end_does_not_begin(agent: Agent, other: Agent, shop: Site, service: RunningService) -> None:
    name = await taught(agent, shop)
    before, path = orders(shop), service.settings.flows_dir / f"{name}.toml"
    whole = path.read_text("utf-8")
    bad: list[tuple[str, dict[str, AnyJson], str]] = [
        (whole, {}, "values.name is missing"),
        (whole, {"values": {"name": "a", "nome": "b"}}, "values.nome: flow"),
        (whole, {"values": {"name": {"secret": "gone"}}}, "There is no secret 'gone'"),
        (whole.replace("version = 1", "version = 2"), {"values": {"name": "a"}}, "version is 2"),
        (whole.replace('"extract_table"', '"run_flow"'), {"values": {"name": "a"}}, "Step 6"),
        (whole.replace('"extract_table"', '"fly"'), {"values": {"name": "a"}}, "'fly' is no action on a page"),
        (whole + "\n[[steps]]\naction = 'reload_page'" * 300, {"values": {"name": "a"}}, "at most 200"),
        (whole.replace("{{to}}", "{{tu}}"), {"values": {"name": "a"}}, "steps name tu"),
        ("steps = [", {}, "is no TOML"),
    ]
    for text, arguments, message in bad:
        path.write_text(text, "utf-8")
        assert message in (await agent.error("run_flow", name=name, **arguments))["message"]
    path.write_text(whole, "utf-8")
    assert (await agent.error("run_flow", name="nope"))["code"] == "INVALID_REQUEST"
    theirs = await agent.reply("open_page", url=shop.url("/teas"))
    page_id = theirs.json()["page"]["pageId"]
    refused = await other.error("run_flow", name=name, values={"name": "a"}, pageId=page_id)
    assert refused["details"]["context"]["code"] == "PAGE_OWNED"
    dry = {"name": name, "values": {"name": "a"}, "dryRun": True}
    assert (await other.error("run_flow", **dry, pageId=page_id))["code"] == "PAGE_OWNED"
    assert "could begin" in (await agent.call("run_flow", **dry, pageId=page_id))["observed"]
    assert orders(shop) == before


async def test_another_client_runs_a_flow_and_leaves_it_as_it_is(agent: Agent, other: Agent, shop: Site) -> None:
    name = await taught(agent, shop)
    await other.call("run_flow", name=name, values={"name": "Flo"})
    assert orders(shop)[3] == "who=Flo&to=work"
    await other.reply("open_page", url=shop.url("/teas"))
    assert (await other.error("save_flow", name=name, replace=True))["code"] == "FORBIDDEN"
    assert (await agent.error("save_flow", name=name))["code"] == "VALIDATION_ERROR"
    assert (await other.error("mend_flow", name=name))["code"] == "INVALID_REQUEST"


async def test_a_dead_end_is_left_out(agent: Agent, shop: Site) -> None:
    name, shop_url = next(NAMES), shop.url("/teas")
    page_id = (await agent.reply("open_page", url=shop_url)).json()["page"]["pageId"]
    shop.page("/teas", SHOP + "<a href=/order>About us</a>")
    await agent.call("reload_page", pageId=page_id)
    await agent.call("click", selector="text=About us", pageId=page_id)
    await agent.call("go_back", pageId=page_id)
    await agent.call("click", selector="#b1", pageId=page_id)
    await agent.call("save_flow", name=name, pageId=page_id)
    text = (await agent.call("list_flows", name=name))["flows"]
    assert "About us" not in text
    assert text.count("[[steps]]") == 3


async def test_the_steps_of_a_batch_before_the_one_that_failed_are_kept(agent: Agent, shop: Site) -> None:
    name = next(NAMES)
    page_id = (await agent.reply("open_page", url=shop.url("/order"))).json()["page"]["pageId"]
    steps = [
        {"action": "fill", "selector": "[name=who]", "value": "Al"},
        {"action": "click", "selector": "role=button[name=Sell]", "timeout": 100},
    ]
    assert (await agent.error("batch", steps=steps, pageId=page_id))["code"] == "ELEMENT_NOT_FOUND"
    await agent.call("click", selector="role=button[name=Order]", pageId=page_id)
    assert (await agent.call("save_flow", name=name, pageId=page_id))["parameters"] == ["name"]
    await agent.call("run_flow", name=name, values={"name": "Bo"})
    assert orders(shop) == ["who=Al&to=home", "who=Bo&to=home"]


async def test_a_long_form_is_saved_whole(agent: Agent, site: Site) -> None:
    name, letters = next(NAMES), "abcdefghijklmn"
    site.page("/long", "<form method=post action=/sent>" + "".join(f"<input name={each}>" for each in letters))
    fields = [{"selector": f"[name={each}]", "value": f"in {each}"} for each in letters]
    page_id = (await agent.reply("open_page", url=site.url("/long"))).json()["page"]["pageId"]
    await agent.call("fill_form", fields=fields, pageId=page_id)
    assert len((await agent.call("save_flow", name=name, pageId=page_id))["parameters"]) == len(letters)


@pytest.mark.usefixtures("impatient")
async def test_one_selector_mends_the_element_that_a_step_with_several_did_not_find(agent: Agent, shop: Site) -> None:
    name = next(NAMES)
    page_id = (await agent.reply("open_page", url=shop.url("/order"))).json()["page"]["pageId"]
    fields = [{"selector": "[name=who]", "value": "Al"}, {"selector": "[name=to]", "value": "work"}]
    await agent.call("fill_form", fields=fields, pageId=page_id)
    await agent.call("save_flow", name=name, pageId=page_id, values={"name": "Al", "to": "work"})
    shop.page("/order", ORDER.replace("name=who", "id=whom").replace("Name", "Nom"))
    assert (await agent.error("run_flow", name=name))["code"] == "FLOW_STOPPED"
    refused = await agent.error("mend_flow", name=name, step=1, selector="#whom")
    assert "names no elements" in refused["message"]
    mended = await agent.call("mend_flow", name=name, selector="#whom")
    assert "step 2 of the file is mended" in mended["observed"]
    assert "is done: 2 steps" in (await agent.call("run_flow", name=name))["observed"]


async def test_a_request_that_comes_late_is_waited_for_and_long_selectors_are_kept(agent: Agent, site: Site) -> None:
    name, long = next(NAMES), "A card whose heading has quite a lot of words"
    act = (
        """<b role=button tabindex=0 onclick="setTimeout(() => fetch('/saved', {{method: 'PUT'}}), {0})">Keep it</b>"""
    )
    cards = "".join(f"<div><h2>{long} {each}</h2>{{0}}</div>" for each in ("one", "two"))
    site.routes["/saved"] = Answer("{}")
    site.page("/cards", cards.replace("{0}", act.format(0)))
    page_id = (await agent.reply("open_page", url=f"{site.url('/cards')}?plain")).json()["page"]["pageId"]
    found = (await agent.call("find", role="button", name="Keep it", pageId=page_id))["matches"]
    await agent.call("click", selector=found[1]["ref"], pageId=page_id)
    saved = await agent.call("save_flow", name=name, pageId=page_id)
    assert saved["parameters"] == ["query"]
    site.page("/cards", cards.replace("{0}", act.format(1_500)))
    await agent.call("run_flow", name=name, values={"query": "plain"})
    assert site.counts["/saved"] == 2


async def test_what_a_site_makes_has_another_name_and_its_requests_come_when_they_like(
    agent: Agent, site: Site
) -> None:
    name, made = next(NAMES), count()
    site.routes["/docs"] = lambda _: Answer(f"Untitled{next(made) or ''}", status=201)
    site.routes["/session"] = Answer("{}")
    page = """<button onclick="make()">New</button><div></div><script>async function make() {{
    const put = () => fetch('/session', {{method: 'PUT'}}), sent = {0} && put();
    const name = await (await fetch('/docs', {{method: 'POST'}})).text(), div = document.querySelector('div');
    await sent; history.pushState(0, '', `/tree/${{name}}`); div.innerHTML = '<input aria-label=Title>';
    if (!{0}) div.firstChild.oninput = put }}</script>"""
    site.page("/list", page.format(0))
    page_id = (await agent.reply("open_page", url=site.url("/list"))).json()["page"]["pageId"]
    await agent.call("click", selector="role=button", pageId=page_id)
    await agent.call("fill", selector="role=textbox", value="Tea", pageId=page_id)
    await agent.call("save_flow", name=name, pageId=page_id, values={"title": "Tea"})
    text = (await agent.call("list_flows", name=name))["flows"]
    assert ("/tree/*" in text, "/session" in text) == (True, True)
    site.page("/list", page.format(1))
    await agent.call("run_flow", name=name, pageId=page_id)
    assert site.counts["/session"] == 2


async def test_an_effect_is_waited_for_as_long_as_its_page_loads(
    agent: Agent, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, loads = next(NAMES), threading.Event()
    page = """<button onclick="fetch('/clicked'); clicked = true; late()">Go</button><script>
    let clicked, loaded, late = () => clicked && loaded && history.pushState(0, '', '#gone')
    </script><img src=/picture onerror="loaded = true; late()">"""

    def clicked(_: Received) -> Answer:
        threading.Timer(4.0, loads.set).start()
        return Answer()

    site.page("/loading", page)
    site.routes["/picture"] = lambda _: Answer(hold=loads)
    site.routes["/clicked"] = clicked
    loads.set()
    page_id = (await agent.reply("open_page", url=site.url("/loading"))).json()["page"]["pageId"]
    await agent.call("click", selector="role=button", pageId=page_id)
    await agent.call("save_flow", name=name, pageId=page_id)
    assert "#gone" in (await agent.call("list_flows", name=name))["flows"]
    monkeypatch.setattr(running, "_SHOWS_MS", 1_000)
    loads.clear()
    await agent.call("run_flow", name=name, pageId=page_id)
