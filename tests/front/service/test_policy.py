"""Tests that what a token allows is checked in one step, which no way of asking for an action gets round."""

from collections.abc import Iterator

import pytest

from browse_together.contract import wire
from browse_together.contract.actions.base import Action
from browse_together.contract.errors import Forbidden
from browser_service.security.auth import Identity
from tests.support.json import AnyJson
from tests.support.service import Agent, RunningService

pytestmark = pytest.mark.anyio

CLICK: AnyJson = {"action": "click", "selector": "#buy"}
DOORS: dict[str, AnyJson] = {
    "by itself": CLICK,
    "by another name": {**CLICK, "action": "double_click"},
    "on a page of the path": {**CLICK, "pageId": "p"},
    "through call_tool": {"action": "call_tool", "name": "click", "arguments": {"selector": "#buy"}},
    "as a step": {"action": "batch", "steps": [{"action": "wait", "duration": 0}, CLICK]},
    "as a step through call_tool": {
        "action": "batch",
        "steps": [{"action": "call_tool", "name": "click", "arguments": {"selector": "#buy"}}],
    },
    "as a step of several pages": {"action": "batch", "steps": [{"action": "list_pages"}, {**CLICK, "pageId": "p"}]},
    "during a wait": {"action": "wait_for_response", "url": "*", "during": CLICK},
    "as a step that waits during it": {
        "action": "batch",
        "steps": [{"action": "list_pages"}, {"action": "wait_for_response", "url": "*", "during": CLICK}],
    },
    "as what a call is made of": {"action": "navigate_to", "url": "http://127.0.0.1/"},
}


@pytest.fixture
def refused(service: RunningService) -> Iterator[list[str]]:
    """Hold the names of actions that no token allows for now."""
    names: list[str] = []

    def rule(_: Identity, action: Action) -> None:
        if action.name() in names:
            raise Forbidden(f"The token does not allow {action.name()}.")

    service.parts.policy.rules.append(rule)
    yield names
    service.parts.policy.rules.remove(rule)


@pytest.mark.parametrize("door", DOORS)
async def test_every_door_refuses_what_the_policy_refuses(agent: Agent, refused: list[str], door: str) -> None:
    refused += ["click", "create_session"]
    body = dict(DOORS[door])
    error = await agent.error(body.pop("action"), **body)
    assert error["code"] == Forbidden.code
    assert "The token does not allow" in error["message"]


async def test_a_view_is_a_call_that_the_policy_may_refuse(agent: Agent, refused: list[str]) -> None:
    refused.append("list_sessions")
    assert (await agent.http.get(wire.SESSIONS)).status_code == Forbidden.status
    refused.clear()
    assert (await agent.http.get(wire.SESSIONS)).status_code == 200


async def test_a_refusal_by_the_policy_is_recorded(agent: Agent, refused: list[str]) -> None:
    refused.append("create_session")
    await agent.error("create_session")
    found = (await agent.call("get_activity", format="records", actionName="create_session", client=agent.label))[
        "records"
    ]
    assert [each["outcome"] for each in found] == [Forbidden.code]
