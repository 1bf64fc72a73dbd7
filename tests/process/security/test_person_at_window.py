"""Tests that agents respect a person who works in the same tab, with real input from the screen."""

import asyncio
import os
import shutil
import subprocess

import pytest

from browser_service.host.stages import short
from browser_service.host.tabs import presses
from tests.support.json import AnyJson
from tests.support.listening import become
from tests.support.persons import Persons, their_page
from tests.support.service import Agent
from tests.support.sharing import StartService
from tests.support.site import Site

pytestmark = pytest.mark.anyio

FORM = """<title>form</title><input id=a style="position: fixed; left: 40px; top: 40px; width: 300px"><button>b</button>
<script>addEventListener('keydown', () => fetch('/key'))</script>"""
ON_SCREEN = "[screenX + 60, screenY + outerHeight - innerHeight + 50]"


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
    start: StartService, windows: Persons, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(presses, "STILL_S", 1.0)
    site.page("/key", "")
    hands = Hands(windows.display)
    await windows.open(site.page("/", FORM))
    service = await start(attached_tabs="shared", cdp_url=windows.url)
    async with service.agent() as agent:
        await agent.call("goto", pageId="mine", url=site.page("/mine", "mine"))
        await agent.call("close_page", pageId="mine")
        theirs = await their_page(agent, site.url("/"))
        for action in ({"action": "click"}, {"action": "double_click"}, {"action": "press", "key": "Shift+A"}):
            told = await notices(agent, pageId=theirs, selector="#a", **action)
            assert "A person" not in str(told), "an agent's own presses are no person's"
        await hands.click_field(agent, theirs)  # whose window has the screen's keys from then on
        keys = site.counts["/key"]
        types = asyncio.create_task(notices(agent, "type", pageId=theirs, selector="#a", text="x" * 20, delay=100))
        await become(lambda: site.counts["/key"] > keys + 2)
        await hands.do("key", "z")
        assert f"A person typed in {theirs} while type ran" in str(await types)
        assert "A person" not in str(await notices(agent, "press", pageId=theirs, selector="#a", key="b"))
        await hands.click_field(agent, theirs)
        with monkeypatch.context() as patched:
            patched.setattr(presses, "STILL_S", 1_000)
            patched.setattr(short, "_WAITS_S", 0.1)
            refused = await agent.error("press", pageId=theirs, selector="#a", key="c")
        assert (refused["code"], "did not happen" in refused["message"]) == ("HUMAN_IN_CONTROL", True)
        shown = await agent.call("evaluate_script", pageId=theirs, expression="document.querySelector('#a').value")
        assert ("z" in shown["value"], "c" in shown["value"]) == (True, False)
