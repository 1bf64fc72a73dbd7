"""Tests each action with what no careful caller sends: the reply is a typed error or a result, in every form."""

from random import Random

import pytest

from browse_together.contract import wire
from browse_together.contract.catalogue import ACTIONS
from browse_together.contract.replies import ForCompletion, ForModel, ForReader, ForTerminal
from tests.support import odd
from tests.support.json import AnyJson
from tests.support.service import Agent

pytestmark = pytest.mark.anyio

FORMS = [None, ForModel(), ForModel(structured=True), ForTerminal(), ForReader(uri="browse://pages"), ForCompletion()]


async def test_no_arguments_cause_an_internal_error(agent: Agent) -> None:
    random, defects = Random(0), list[AnyJson]()  # noqa: S311 - it fails again as it failed
    for action in 4 * [action for name, action in ACTIONS.items() if name not in odd.NOT_CALLED]:
        form, sent = random.choice(FORMS), odd.body(action, random)
        headers = {wire.REPLY: form.model_dump_json()} if form else {}
        reply = (await agent.http.post(wire.BROWSER, json=sent, headers=headers)).json()
        if not reply["success"] and reply["error"]["code"] == "INTERNAL_ERROR":
            defects.append((sent, reply))
    assert defects == []
