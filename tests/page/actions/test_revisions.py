"""Tests revisions: they move with what was done to a page, and with nothing else."""

from typing import Any

import pytest

from tests.support.tab import Tab

pytestmark = [pytest.mark.anyio, pytest.mark.one_window]

HTML = (
    "<button id=b onclick='window.hit = 1'>b</button><button>other</button><button id=d disabled>d</button>"
    "<input id=i><select id=s><option>1</select>"
)
NOTHING_DONE: dict[str, tuple[str, str, dict[str, Any]]] = {  # Any: whatever JSON a call takes
    "nothing matches": ("ELEMENT_NOT_FOUND", "click", {"selector": "#none", "timeout": 100}),
    "no selector": ("INVALID_SELECTOR", "click", {"selector": "div["}),
    "several match": ("AMBIGUOUS_SELECTOR", "click", {"selector": "button"}),
    "disabled": ("ELEMENT_NOT_INTERACTABLE", "click", {"selector": "#d", "timeout": 300}),
    "a ref of nothing": ("STALE_REVISION", "click", {"selector": "e999"}),
    "another url": ("STALE_REVISION", "fill", {"selector": "#i", "value": "x", "expectUrl": "*/other"}),
    "an unknown argument": ("VALIDATION_ERROR", "fill", {"selector": "#i", "valeu": "x"}),
}


async def _revision(tab: Tab) -> int:
    return int((await tab.agent.reply("get_current_url")).json()["page"]["revision"])


async def test_an_act_that_did_nothing_leaves_the_revision_as_it_was(tab: Tab) -> None:
    await tab.show(HTML)
    before = await _revision(tab)
    for why, (code, action, arguments) in NOTHING_DONE.items():
        assert (await tab.error(action, **arguments))["code"] == code, why
        assert await _revision(tab) == before, why
    await tab.call("fill", selector="#i", value="x", ifRevision=before)


async def test_an_act_that_was_only_tried_leaves_the_revision_as_it_was(tab: Tab) -> None:
    await tab.show("<input id=b type=checkbox onclick='window.hit = 1'>")
    before = await _revision(tab)
    for action in ("click", "check", "hover"):
        reply = (await tab.agent.reply(action, selector="#b", trial=True)).json()
        assert (reply["success"], reply["page"]["revision"]) == (True, before), reply
    assert await tab.sees("[window.hit, b.checked]") == [None, False]


async def test_an_act_that_was_done_is_a_new_revision(tab: Tab) -> None:
    await tab.show(HTML)
    seen = [await _revision(tab)]
    for action, arguments in (
        ("click", {"selector": "#b"}),
        ("fill", {"selector": "#i", "value": "x"}),
        ("press", {"selector": "#i", "key": "a"}),
        ("select_option", {"selector": "#s", "value": "1"}),
    ):
        await tab.call(action, **arguments)
        seen.append(await _revision(tab))
    assert sorted(set(seen)) == seen


async def test_reading_leaves_the_revision_as_it_was(tab: Tab) -> None:
    await tab.show(HTML)
    before = await _revision(tab)
    for action in ("snapshot", "content", "get_page_title", "screenshot"):
        await tab.call(action)
    assert await _revision(tab) == before
