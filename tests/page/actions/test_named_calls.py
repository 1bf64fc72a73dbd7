"""Tests that the calls that errors name work, on the page that got the error."""

from typing import Final, NamedTuple

import pytest

from tests.support.json import AnyJson
from tests.support.named_calls import named_calls
from tests.support.service import Agent
from tests.support.site import Site

pytestmark = [pytest.mark.anyio, pytest.mark.one_window]

Call = dict[str, AnyJson]
FILES: Final = [{"name": "a.txt", "text": "tea"}]


class Case(NamedTuple):
    """Is a page, a call that fails on it, and the tools whose calls the error names."""

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
        await agent.call(name, **{"pageId": "tab", **arguments})
    if '"frame": ' in said:
        frame = said.partition('"frame": "')[2].partition('"')[0]
        await agent.call(action, pageId="tab", **failing, frame=frame)
