"""Tests flows with tools that a page itself declares: their schemas are kept, and compared at each run."""

import json
from itertools import count

import pytest

from tests.support.json import AnyJson
from tests.support.tab import Tab

pytestmark = [pytest.mark.anyio, pytest.mark.thorough]

ORDER = """{{name: 'order', description: 'Orders a tea.', inputSchema: {{type: 'object', required: {1},
    properties: {{tea: {{type: 'string', description: 'Which.'}}, cups: {{type: '{0}'}}, as_gift: {{type: 'boolean'}},
    size: {{type: 'string'}}}}}}, execute: given => {{ o.textContent = JSON.stringify(given); return given; }}}}"""
NUMBERS = count(1)
AGAIN = {"tea": "Matcha", "cups": "2"}


def shop(cups: str = "integer", required: tuple[str, ...] = ("tea",), other: str = "order") -> str:
    """Return a page with a tool that orders tea."""
    tool = ORDER.format(cups, json.dumps(required)).replace("'order'", f"'{other}'")
    return f"<h1>Teas</h1><p id=o>-</p><script>document.modelContext.registerTool({tool})</script>"


async def saved(tab: Tab, html: str, name: str, frame: str = "") -> dict[str, AnyJson]:
    """Call the tool of a page, and save that as a flow."""
    await tab.show(html, "/shop")
    where = {"frame": frame} if frame else {}
    if frame:
        await tab.call("wait_for_load")
        if not (await tab.agent.reply("list_page_tools", frame=frame)).is_success:  # Chromium forgets to, rarely
            await tab.call("reload_page")
    await tab.call("call_page_tool", name="order", arguments={"tea": "Sencha", "cups": 3}, **where)
    return await tab.call("save_flow", name=name, pageId="tab", since="2m", replace=True)


async def test_a_tools_call_is_done_again_with_the_values_of_the_run(tab: Tab) -> None:
    told = await saved(tab, shop(), "orders")
    assert (told["steps"], sorted(told["parameters"])) == (2, ["cups", "tea"])
    assert "left out" not in told["observed"]
    text = str((await tab.call("list_flows", name="orders"))["flows"])
    assert "Sencha" not in text
    done = await tab.call("run_flow", name="orders", values=AGAIN, pageId="tab")
    assert json.loads(done["outputs"]["order"]) == {"tea": "Matcha", "cups": 2}
    assert json.loads(await tab.sees("o.textContent")) == {"tea": "Matcha", "cups": 2}


@pytest.mark.parametrize(
    ("now", "why"),
    [
        (shop("string"), "'cups' does not fit type '\"string\"'"),
        (shop(required=("tea", "size")), "'size' is required now"),
        (shop().replace("cups:", "mugs:"), "'cups' is not there any more"),
        (shop().replace("'Which.'", "'Which.', enum: ['Sencha']"), "'tea' does not fit enum '[\"Sencha\"]'"),
    ],
    ids=["type", "required", "gone", "enum"],
)
async def test_a_run_stops_where_the_tool_takes_something_else_and_says_what(tab: Tab, now: str, why: str) -> None:
    name = f"changed-{next(NUMBERS)}"
    await saved(tab, shop(), name)
    tab.site.page("/shop", now)
    stopped = await tab.error("run_flow", name=name, values=AGAIN, pageId="tab")
    assert (stopped["code"], "stopped at step 2 of 2" in stopped["message"]) == ("FLOW_STOPPED", True)
    assert f"The page's tool 'order' takes something else by now: {why}. It was not called." in stopped["message"]
    assert await tab.sees("o.textContent") == "-"


async def test_a_run_takes_a_tool_that_says_and_takes_more_than_it_did(tab: Tab) -> None:
    await saved(tab, shop(), "more")
    await tab.call("list_page_tools")  # what the chat was shown says nothing about what the flow needs
    more = shop().replace("Orders a tea.", "Orders.").replace("size:", "note: {type: 'string'}, size:")
    tab.site.page("/shop", more)
    await tab.call("run_flow", name="more", values={**AGAIN, "cups": 2}, pageId="tab")
    assert "Matcha" in await tab.sees("o.textContent")


async def test_a_run_stops_where_the_tool_is_gone(tab: Tab) -> None:
    await saved(tab, shop(), "gone")
    tab.site.page("/shop", shop(other="buy"))
    stopped = await tab.error("run_flow", name="gone", values=AGAIN, pageId="tab")
    assert "There is no tool 'order'" in stopped["message"]
    assert await tab.sees("o.textContent") == "-"


async def test_a_call_whose_arguments_the_schema_does_not_name_is_left_out_of_a_flow(tab: Tab) -> None:
    told = await saved(tab, shop().replace("tea:", "'{{tea}}':"), "unnamed")
    assert (
        "left out: call_page_tool: the tool's schema does not name or take its arguments, or cannot be kept"
        in told["observed"]
    )


async def test_a_tool_that_takes_what_elements_are_named_by_takes_it_as_it_is(tab: Tab) -> None:
    named = "tool => ({name: 'move', description: 'd', execute: given => given, inputSchema: {type: 'object',"
    named += "properties: {source: {type: 'array', items: {type: 'string'}}, url: {type: 'string'}}}})"
    await tab.show(f"<script>document.modelContext.registerTool(({named})())</script>")
    await tab.call("call_page_tool", name="move", arguments={"source": ["a", "b"], "url": "x y"})
    await tab.call("save_flow", name="moves", pageId="tab", since="2m", replace=True)
    values = {"source": ["c", "d"], "url": "a b"}
    done = await tab.call("run_flow", name="moves", values=values, pageId="tab")
    assert json.loads(done["outputs"]["move"]) == values


@pytest.mark.parametrize(
    ("schema", "given"),
    [
        ("", {}),
        ("inputSchema: {properties: {tea: {type: 'string'}}},", {"tea": "Sencha"}),
        ("inputSchema: {properties: {annulled: {type: ['integer', 'null'], format: null}}},", {"annulled": 1}),
    ],
    ids=["none", "no type", "null"],
)
async def test_a_tool_whose_schema_says_little_is_called_again(
    tab: Tab, schema: str, given: dict[str, AnyJson]
) -> None:
    tool = f"{{name: 'plain', description: 'd', {schema} execute: given => ({{given}})}}"
    await tab.show(f"<script>document.modelContext.registerTool({tool})</script>")
    await tab.call("call_page_tool", name="plain", arguments=given)
    name = f"plain-{next(NUMBERS)}"
    await tab.call("save_flow", name=name, pageId="tab", since="2m", replace=True)
    done = await tab.call("run_flow", name=name, values=given, pageId="tab")
    assert json.loads(done["outputs"]["plain"]) == {"given": given}


async def test_a_step_in_a_frame_calls_the_frames_tool(tab: Tab) -> None:
    inner = tab.site.page("/inner", shop())
    await saved(tab, f"<h1>Outer</h1><iframe src={inner}></iframe>", "framed", frame="iframe")
    done = await tab.call("run_flow", name="framed", values=AGAIN, pageId="tab")
    assert json.loads(done["outputs"]["order"]) == {"tea": "Matcha", "cups": 2}


async def test_steps_of_a_batch_keep_what_each_of_its_tools_takes(tab: Tab) -> None:
    await tab.show(shop(required=()))
    given: list[AnyJson] = [{"tea": "Sencha"}, {"cups": 1}]
    steps = [{"action": "call_page_tool", "name": "order", "arguments": each} for each in given]
    await tab.call("batch", steps=steps)
    told = await tab.call("save_flow", name="several", pageId="tab", since="2m", replace=True)
    assert (told["parameters"], told["steps"]) == (["tea", "cups"], 3)


@pytest.mark.parametrize("kind", ["deep", "required"])
async def test_a_schema_of_any_shape_stops_neither_a_call_nor_a_flow(tab: Tab, kind: str) -> None:
    """It stands in the record, so that no flow of a stretch that has it could be saved."""
    schema = "{type: 'object', required: [{}, ['tea'], 'tea'], properties: {tea: {required: [{}]}}}"
    deep = "JSON.parse('{\"properties\":{\"tea\":' + '{\"items\":'.repeat(600) + '{}' + '}'.repeat(602))"
    shape = deep if kind == "deep" else schema
    tool = f"{{name: 'order', description: 'Orders.', inputSchema: {shape}, execute: () => 1}}"
    await tab.show(f"<h1>Teas</h1><script>document.modelContext.registerTool({tool})</script>", "/odd")
    assert (await tab.call("list_page_tools"))["count"] == 1
    await tab.call("call_page_tool", name="order", arguments={"tea": "Sencha"})
    told = await tab.call("save_flow", name=f"odd-{kind}", pageId="tab", since="2m", replace=True)
    assert "left out" in told["observed"]
    known = {"required": [{}], "properties": {"tea": {"type": "number"}}}
    refused = await tab.error("call_page_tool", name="order", arguments={"tea": "1"}, schema=known)
    assert refused["code"] == "STALE_REVISION"
