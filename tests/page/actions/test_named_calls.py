"""Tests that the calls that errors name work, on the page that got the error."""

import asyncio
from typing import Final, NamedTuple

import pytest

from browse_together.contract.actions.traits import Scope
from browse_together.contract.catalogue import ACTIONS
from tests.support.json import AnyJson
from tests.support.named_calls import named_calls
from tests.support.service import Agent
from tests.support.site import Answer, Site
from tests.support.waiting import PATIENCE_S

pytestmark = [pytest.mark.anyio, pytest.mark.one_window]

Call = dict[str, AnyJson]
FILES: Final = [{"name": "a.txt", "text": "tea"}]


class Case(NamedTuple):
    """A page, a call that fails on it, and the tools whose calls the error names."""

    html: str
    call: Call
    names: set[str]


CASES: Final = {
    "an option": Case(
        "<select><option>Green<option>Red</select>",
        {"action": "click", "selector": "role=option[name=Red]"},
        {"select_option"},
    ),
    "a link without a size": Case(
        "<a href='#got' style='position:relative;display:block;width:0;height:0'>"
        "<span style='position:absolute;left:9px;width:90px;height:40px;background:#cde'>EN</span></a>",
        {"action": "click", "selector": "a"},
        {"click"},
    ),
    "a box behind its label": Case(
        "<label for=gift>Gift</label><input id=gift type=checkbox style='position:absolute;width:0;height:0'>",
        {"action": "check", "selector": "#gift"},
        {"check"},
    ),
    "no chooser, but an input": Case(
        "<button>Pick</button><input type=file hidden>",
        {"action": "upload_file", "selector": "button", "files": FILES},
        {"upload_file"},
    ),
    "no chooser, and no input": Case(
        "<button ondragover='event.preventDefault()'>Pick</button>",
        {"action": "upload_file", "selector": "button", "files": FILES},
        {"drop"},
    ),
    "a field for files": Case(
        "<input type=file>", {"action": "fill", "selector": "input", "value": "x"}, {"upload_file"}
    ),
    "a tick": Case("<input type=checkbox>", {"action": "fill", "selector": "input", "value": "x"}, {"fill_form"}),
    "nothing": Case("<p>x", {"action": "click", "selector": "#none"}, {"snapshot"}),
    "words as CSS": Case("<button>Buy now</button>", {"action": "click", "selector": "Buy now"}, {"find"}),
    "two of a kind": Case("<button>A</button><button>A</button>", {"action": "click", "selector": "button"}, set()),
    "covered": Case(
        "<button>Buy</button><div style='position:fixed;inset:0'></div>",
        {"action": "click", "selector": "button"},
        {"press", "snapshot"},
    ),
    "switched off for the mouse": Case(
        "<button style='pointer-events:none'>Buy</button>", {"action": "click", "selector": "button"}, {"press"}
    ),
    "disabled": Case("<button disabled>Buy</button>", {"action": "click", "selector": "button"}, {"snapshot"}),
    "read-only": Case("<input readonly>", {"action": "fill", "selector": "input", "value": "x"}, {"snapshot"}),
    "closed": Case(
        "<details><summary>More</summary><button>Buy</button></details>",
        {"action": "click", "selector": "button"},
        {"snapshot"},
    ),
    "no list": Case("<div>Red</div>", {"action": "select_option", "selector": "div", "value": "Red"}, {"snapshot"}),
    "in a frame": Case(
        "<iframe srcdoc='<button>Buy</button>'></iframe>", {"action": "content", "selector": "button"}, set()
    ),
    "no section": Case("<h1>Tea</h1>", {"action": "content", "section": "9zz"}, {"content"}),
    "nothing to paste": Case("<input autofocus>", {"action": "press", "key": "Control+v"}, {"paste"}),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
async def test_the_calls_that_an_error_names_work_on_its_page(agent: Agent, site: Site, case: Case) -> None:
    await agent.call("goto", pageId="tab", url=site.page("/", case.html))
    action, failing = case.call["action"], {name: value for name, value in case.call.items() if name != "action"}
    error = await agent.error(action, pageId="tab", timeout=300, **failing)
    said = f"{error['message']} {error['hint']}"
    given = {"files": FILES, "key": "Enter", "text": "x", "value": "x", "query": "tea", **failing}
    calls = [*named_calls(said, given)]
    assert {name for name, _ in calls} >= case.names, said
    for name, arguments in calls:
        await agent.call(name, **({"pageId": "tab"} if ACTIONS[name].scope is Scope.PAGE else {}), **arguments)
    if "grant_permissions" in said:
        await agent.call("grant_permissions", permissions=[], origin=site.url("").rstrip("/"))
    if '"frame": ' in said:
        frame = said.partition('"frame": "')[2].partition('"')[0]
        await agent.call(action, pageId="tab", **failing, frame=frame)


EMBEDDED: Final = "<h1>Portal</h1><object data=/inner type=text/html width=400 height=120></object>"
CLOSED: Final = (
    "<div id=h></div><script>h.attachShadow({mode: 'closed'}).innerHTML = '<iframe src=/inner></iframe>'</script>"
)


@pytest.mark.parametrize("html", [EMBEDDED, CLOSED], ids=["object", "closed shadow root"])
async def test_content_beyond_selectors_is_read_as_a_page_of_its_own(agent: Agent, site: Site, html: str) -> None:
    site.page("/inner", "<p>inner words<button>Press</button>")
    url, listed = site.page("/", html), dict[str, AnyJson]()
    async with asyncio.timeout(PATIENCE_S):
        while "advice" not in listed:  # on a busy machine Chromium sometimes makes no frame of an object
            await agent.call("goto", pageId="tab", url=url)
            listed = await agent.call("list_frames", pageId="tab")
    error = await agent.error("click", pageId="tab", selector="text=Press")
    asked = await agent.call("find", pageId="tab", text="inner")
    for said in (error["hint"], listed["advice"], *([asked["advice"]] if html == EMBEDDED else [])):
        ((name, arguments),) = named_calls(said, {})
        opened = (await agent.reply(name, **arguments)).json()
        assert "Press" in opened["result"]["outline"]
        await agent.call("close_page", pageId=opened["page"]["pageId"])


async def test_a_canvas_is_named_with_the_calls_that_show_it_and_act_on_it(agent: Agent, site: Site) -> None:
    html = "<canvas width=300 height=200 onclick=\"document.title = 'hit'\"></canvas>"
    led = await agent.call("goto", pageId="tab", url=site.page("/", html))
    read = await agent.call("content", pageId="tab", format="text")
    assert led["advice"] == read["advice"] == (await agent.call("snapshot", pageId="tab"))["advice"]
    calls = [*named_calls(led["advice"], {"x": 50, "y": 50})]
    assert [name for name, _ in calls] == ["screenshot", "mouse"]
    for name, arguments in calls:
        await agent.call(name, **{"pageId": "tab", **arguments})
    assert (await agent.call("get_page_title", pageId="tab"))["title"] == "hit"


async def test_documents_without_a_body_are_read_by_their_tree(agent: Agent, site: Site) -> None:
    drawn = "<text y='40'>Sales 2026</text><a href='/x'><text y='90'>More</text></a>"
    svg = f"<svg xmlns='http://www.w3.org/2000/svg'>{drawn}</svg>"
    await agent.call("goto", pageId="tab", url=site.page("/", Answer(svg, content_type="image/svg+xml")))
    found = (await agent.call("find", pageId="tab", queries=["Sales", {"role": "link"}]))["found"]
    assert ("Sales 2026" in found, 'link "More"' in found) == (True, True)
    site.page("/inner", "<button>Press</button>")
    frames = Answer("<html><frameset cols='50%,50%'><frame src=/inner><frame src=/inner></frameset></html>")
    led = await agent.call("goto", pageId="tab", url=site.page("/frames", frames))
    assert led["outline"].count('button "Press"') == 2
