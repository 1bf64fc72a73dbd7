"""Tests each action with what no careful caller sends: the reply is a typed error or a result, in every form."""

from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shared import wire
from shared.actions.base import Action
from shared.catalogue import ACTIONS
from shared.replies import ForCompletion, ForModel, ForReader, ForTerminal
from tests.support import odd
from tests.support.service import Agent

pytestmark = pytest.mark.anyio

FORMS = [None, ForModel(), ForModel(structured=True), ForTerminal(), ForReader(uri="browse://pages"), ForCompletion()]
CALLED = {name: action for name, action in ACTIONS.items() if name not in odd.NOT_CALLED}


@pytest.mark.parametrize("action", CALLED.values(), ids=CALLED)
@settings(max_examples=4, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(random=st.randoms(use_true_random=False), form=st.sampled_from(FORMS))
async def test_no_arguments_are_a_defect_of_the_service(
    agent: Agent, action: type[Action], random: Random, form: ForModel | None
) -> None:
    headers = {wire.REPLY: form.model_dump_json()} if form else {}
    reply = await agent.http.post(wire.BROWSER, json=odd.body(action, random), headers=headers)
    body = reply.json()
    assert body["success"] or body["error"]["code"] != "INTERNAL_ERROR", body
