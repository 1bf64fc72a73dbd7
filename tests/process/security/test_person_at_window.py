"""Tests that agents respect a person who works in the same tab, with real input from the screen."""

import asyncio
import os
import shutil
import subprocess
import time

import pytest

from browser_service.host.stages import around
from browser_service.host.tabs import presses
from tests.support.json import AnyJson
from tests.support.persons import Persons, their_page
from tests.support.service import Agent, RunningService
from tests.support.site import Site
from tests.support.waiting import PATIENCE_S, become

pytestmark = pytest.mark.anyio

FORM = """<title>form</title><input id=a style="position: fixed; left: 40px; top: 40px; width: 300px"><button>b</button>
<script>addEventListener('keydown', () => fetch('/key'))</script>"""
ON_SCREEN = "[screenX + 60, screenY + outerHeight - innerHeight + 50]"
ALL_KINDS = """<title>kinds</title><textarea id=t></textarea><input id=i><input id=r type=range min=0 max=10>
<input id=k type=checkbox><select id=s><option>one<option>two</select><button id=b>b</button>
<p id=d draggable=true>drag</p><p id=onto ondragover="event.preventDefault()">onto</p>
<div id=e contenteditable>old</div><button id=shut disabled>shut</button>
<div role=slider id=v tabindex=0 aria-valuemin=0 aria-valuemax=9 aria-valuenow=3
onkeydown="ariaValueNow = +ariaValueNow + (event.key === 'ArrowRight')">v</div>
<div style="position: relative"><button id=covered>c</button></div>
<script>
let comesOver = 2;
covered.onmousemove = () => {
  if (comesOver-- <= 0) return;
  const over = covered.parentElement.appendChild(document.createElement('i'));
  over.style = 'position: absolute; inset: 0';
  setTimeout(() => over.remove(), 300);
};
</script>"""
OWN = (
    {"action": "click", "selector": "#b", "modifiers": ["Shift", "Alt"]},
    {"action": "double_click", "selector": "#b"},
    {"action": "click", "selector": "#covered"},
    {"action": "hover", "selector": "#b", "modifiers": ["Shift"]},
    {"action": "type", "selector": "#t", "text": "aB1 ?é漢😀\n" * 4},
    {"action": "fill", "selector": "#i", "value": "Some Text"},
    {"action": "fill", "selector": "#i", "value": ""},
    {"action": "fill", "selector": "#r", "value": "7"},
    {"action": "fill", "selector": "#e", "value": "new"},
    {"action": "press", "selector": "#i", "key": "Control+Shift++"},
    {"action": "select_option", "selector": "#s", "value": "two"},
    {"action": "check", "selector": "#k"},
    {"action": "uncheck", "selector": "#k"},
    {"action": "drag_and_drop", "source": "#d", "target": "#onto"},
    {"action": "mouse", "do": "click", "x": 300, "y": 300, "clickCount": 2, "modifiers": ["Control"]},
    {"action": "mouse", "do": "drag", "x": 300, "y": 300, "to": {"x": 320, "y": 320}},
    {
        "action": "fill_form",
        "fields": [{"selector": "#v", "value": 6}, {"selector": "#k", "value": True}],
        "submit": "#b",
    },
)
SHUT = """<title>shut</title>
<style>#first { position: fixed; left: 40px; top: 40px; width: 300px; height: 30px }</style>
<button id=first onclick="later.disabled = false"></button>
<button id=later disabled style="margin-top: 200px">later</button>"""


class Hands:
    """A person's hands at a screen."""

    def __init__(self, display: str) -> None:
        self._program = shutil.which("xdotool") or pytest.skip("there is no xdotool to move the mouse with")
        self._environment = {**os.environ, "DISPLAY": display}

    async def do(self, *steps: str) -> None:
        command = [self._program, *steps]
        await asyncio.to_thread(subprocess.run, command, env=self._environment, check=True, timeout=20)

    async def click_field(self, agent: Agent, page_id: str) -> None:
        place = (await agent.call("evaluate_script", pageId=page_id, expression=ON_SCREEN))["value"]
        await self.do("mousemove", *map(str, place), "click", "1")


async def notices(agent: Agent, action: str, **arguments: AnyJson) -> list[str]:
    reply = (await agent.reply(action, **arguments)).json()
    assert reply["success"], reply
    return [notice["text"] for notice in reply["notices"]]


async def test_what_a_person_types_while_an_agent_acts_is_told_and_the_next_act_waits_until_they_are_still(
    at_windows: RunningService, windows: Persons, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(presses, "STILL_S", 1.0)
    site.page("/key", "")
    hands = Hands(windows.display)
    await windows.open(site.page("/", FORM))
    async with at_windows.agent() as agent:
        await agent.call("goto", pageId="mine", url=site.page("/mine", "mine"))
        await agent.call("close_page", pageId="mine")
        theirs = await their_page(agent, site.url("/"))
        for action in ({"action": "click"}, {"action": "double_click"}, {"action": "press", "key": "Shift+A"}):
            told = await notices(agent, pageId=theirs, selector="#a", **action)
            assert "A person" not in str(told), "an agent's own presses are no person's"
        await hands.click_field(agent, theirs)  # whose window has the screen's keys from then on
        keys = site.counts["/key"]
        types = asyncio.create_task(notices(agent, "type", pageId=theirs, selector="#a", text="xé漢 B" * 6, delay=100))
        await become(lambda: site.counts["/key"] > keys + 2)
        await hands.do("key", "z")
        assert f"A person typed in {theirs} while type ran" in str(await types)
        assert "A person" not in str(await notices(agent, "press", pageId=theirs, selector="#a", key="b"))
        await hands.click_field(agent, theirs)
        told = await notices(agent, "press", pageId=theirs, selector="#a", key="b")
        assert f"A person typed or clicked in {theirs} before press" in str(told)
        await hands.click_field(agent, theirs)
        with monkeypatch.context() as patched:
            patched.setattr(presses, "STILL_S", 1_000)
            patched.setattr(around, "_WAITS_S", 0.1)
            refused = await agent.error("press", pageId=theirs, selector="#a", key="c")
        assert (refused["code"], "did not happen" in refused["message"]) == ("HUMAN_IN_CONTROL", True)
        shown = await agent.call("evaluate_script", pageId=theirs, expression="document.querySelector('#a').value")
        assert ("z" in shown["value"], "c" in shown["value"]) == (True, False)


async def test_no_press_of_an_agents_own_is_taken_for_a_persons(
    at_windows: RunningService, windows: Persons, site: Site
) -> None:
    await windows.open(site.page("/", ALL_KINDS))
    async with at_windows.agent() as agent:
        await agent.call("goto", pageId="mine", url=site.page("/mine", "mine"))
        await agent.call("close_page", pageId="mine")
        theirs = await their_page(agent, site.url("/"))
        for action in OWN:
            told = await notices(agent, pageId=theirs, **action)
            assert "A person" not in str(told), action
        began = time.monotonic()
        await agent.error("click", pageId=theirs, selector="#shut", timeout=200)
        await notices(agent, pageId=theirs, action="press", selector="#i", key="a")
        assert time.monotonic() - began < presses.STILL_S, "nobody else has pressed, for which an act would wait"


async def test_what_a_person_clicks_while_an_agents_click_waits_is_told_whether_the_click_comes_or_not(
    at_windows: RunningService, windows: Persons, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, begin = asyncio.Event(), presses.Presses.begin_act

    def note_begin(of: presses.Presses) -> presses.ActPresses:
        begun.set()
        return begin(of)

    monkeypatch.setattr(presses, "STILL_S", 0.2)
    monkeypatch.setattr(presses.Presses, "begin_act", note_begin)
    hands = Hands(windows.display)
    await windows.open(site.page("/", SHUT))
    async with at_windows.agent() as agent:
        await agent.call("goto", pageId="mine", url=site.page("/mine", "mine"))
        await agent.call("close_page", pageId="mine")
        theirs = await their_page(agent, site.url("/"))
        await agent.call("hover", pageId=theirs, selector="#first")  # which brings the tab to the front
        place = (await agent.call("evaluate_script", pageId=theirs, expression=ON_SCREEN))["value"]
        for selector, code in (("#later", None), ("#never", "ELEMENT_NOT_FOUND")):
            begun.clear()
            clicks = asyncio.create_task(agent.reply("click", pageId=theirs, selector=selector, timeout=3_000))
            await asyncio.wait_for(begun.wait(), PATIENCE_S)
            await hands.do("mousemove", *map(str, place), "click", "1")
            reply = (await clicks).json()
            assert reply.get("error", {}).get("code") == code
            assert f"A person clicked in {theirs} while click ran" in str(reply["notices"])
