"""Tests that acts send few messages to Playwright's driver before their replies: each costs a way there and back."""

import pytest

from benchmarks.calls import HTML, MOST_MESSAGES
from tests.support.driver_messages import messages_of
from tests.support.service import Agent, RunningService
from tests.support.site import Site

pytestmark = pytest.mark.anyio

ACTS = {
    "click": {"selector": "#go"},
    "fill": {"selector": "#name", "value": "Ana"},
    "evaluate_script": {"expression": "document.title"},
}


@pytest.mark.parametrize("act", ACTS)
async def test_an_act_sends_few_messages_before_its_reply(
    service: RunningService, agent: Agent, site: Site, act: str
) -> None:
    counts = []
    for _ in range(3):  # beside one of them, the logins of the page before may be saved
        await agent.call("goto", pageId="m", url=site.page("/", HTML))
        with messages_of(service.window("m")) as sent:
            await agent.call(act, pageId="m", **ACTS[act])
            counts.append([*sent])
    assert len(min(counts, key=len)) <= MOST_MESSAGES[act], counts
