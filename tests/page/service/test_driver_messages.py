"""Tests that acts send few messages to Playwright's driver before their replies, because each costs a round trip, and
leave little garbage."""

import gc
import re
from types import FrameType

import pytest

from benchmarks.calls import HTML, MOST_MESSAGES
from tests.support.driver_messages import messages_of, scripts_of
from tests.support.service import Agent, RunningService
from tests.support.site import Site

pytestmark = pytest.mark.anyio

ACTS = [
    ("click", {"selector": "#go"}),
    ("click", {"ref of": "Go"}),
    ("fill", {"selector": "#name", "value": "Ana"}),
    ("fill", {"ref of": "Name", "value": "Ana"}),
    ("evaluate_script", {"expression": "document.title"}),
]


@pytest.mark.parametrize(("act", "arguments"), ACTS)
async def test_an_act_sends_few_messages_before_its_reply(
    service: RunningService, agent: Agent, site: Site, act: str, arguments: dict[str, str]
) -> None:
    counts = []
    own = (await agent.call("create_session"))["sessionId"]  # to which no test gave a secret, whose fields are guarded
    for _ in range(6):  # beside some of them, the logins of the page before may be saved, or its title read
        await agent.call("goto", pageId="m", sessionId=own, url=site.page("/", HTML))
        given = {name: value for name, value in arguments.items() if name != "ref of"}
        if name := arguments.get("ref of"):
            shown = (await agent.call("snapshot", pageId="m"))["snapshot"]
            given["selector"] = re.findall(rf'"{name}" \[ref=(\w+)\]', shown)[0]
        with messages_of(service.window("m")) as sent:
            await agent.call(act, pageId="m", **given)
            counts.append([*sent])
        if len(counts[-1]) <= MOST_MESSAGES[act]:
            return
    pytest.fail(f"{act} sent {counts}")


async def test_chromium_gets_the_same_script_for_each_click_in_a_document(
    service: RunningService, agent: Agent, site: Site
) -> None:
    for _ in range(2):  # the window of a new document is not that of the one before
        await agent.call("goto", pageId="m", url=site.page("/", HTML))
        await agent.call("click", pageId="m", selector="#go")
        with scripts_of(service.window("m")) as sent:
            await agent.call("click", pageId="m", selector="#go")
            await agent.call("click", pageId="m", selector="#go")
        assert len(sent) >= 2
        assert len({*sent}) < len(sent)


async def test_acts_keep_no_frames_until_garbage_is_collected(agent: Agent, site: Site) -> None:
    await agent.call("goto", pageId="m", url=site.page("/", HTML))
    gc.collect()
    gc.freeze()  # what thousands of tests before left is not looked at below
    gc.disable()
    try:
        for _ in range(10):
            await agent.call("click", pageId="m", selector="#go")
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        assert sum(isinstance(each, FrameType) for each in gc.garbage) < 10
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
