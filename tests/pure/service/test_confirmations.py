"""Tests that a person may take their time over an act that a rule leaves to them."""

import asyncio

import pytest

from browse_together.contract.calls import Outcome
from browse_together.contract.catalogue import parse
from browse_together.contract.errors import Forbidden
from browse_together.contract.model import Json
from browse_together.contract.pages import PageState
from browser_service.security.auth import Identity
from browser_service.sessions.directory import Directory
from browser_service.spine.addressing import Address
from browser_service.spine.call import FrontCall
from browser_service.spine.confirmation import Confirmations
from browser_service.spine.cross_origin import CrossOriginGuard
from browser_service.spine.register import CallRegister, Reply

pytestmark = pytest.mark.anyio

WAITS = 3
CALLER = Identity(client_id="shopper", label="Shopper")
QUESTION: Json = {"rule": "payments", "what": "click", "key": "k", "ways": "the owner may"}


async def test_a_person_may_take_longer_than_one_wait_and_their_answer_counts() -> None:
    register, asked = CallRegister(), list[Json]()

    async def perform(caller: Identity, body: Json, call_id: str) -> Json:
        async def work() -> Reply:
            return Reply(200, {})

        await register.begin(caller.client_id, call_id, 1, parse(body), work).task
        asked.append(body)
        state: Json = {"requestId": "ask-1", "state": "pending", "observed": "nobody yet"}
        return state if len(asked) <= WAITS else {**state, "state": "done", "answer": "Allow once"}

    async def go(call: FrontCall) -> Outcome:
        page = PageState(page_id="p", session_id="default")
        if call.confirmed:
            return Outcome(call_id="c", result={"observed": "paid"}, page=page)
        error = Forbidden("A person confirms that.", details={"context": QUESTION}).body()
        return Outcome(call_id="c", error=error, page=page)

    action = parse({"action": "click", "pageId": "p", "selector": "#pay"})
    record = register.begin("shopper", "c", 1, action, lambda: asyncio.sleep(0, Reply(200, {})))
    call = FrontCall(CALLER, {}, call_id="c")
    call.action, call.record, call.address = action, record, Address("p", "default")
    guard = CrossOriginGuard(Directory(), lambda _: [])
    outcome = await Confirmations(perform, guard).confirmed(call, go)
    assert (outcome.error, outcome.result) == (None, {"observed": "paid"})
    assert [body.get("requestId") for body in asked] == [None, *["ask-1"] * WAITS]
