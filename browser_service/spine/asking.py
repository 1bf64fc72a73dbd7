"""Asks a person about a call, while it waits."""

from collections.abc import Sequence
from itertools import count

from browse_together.contract.calls import ASKING
from browse_together.contract.cuts import cut
from browse_together.contract.model import Json
from browse_together.contract.quoting import quoted
from browser_service.spine.call import FrontCall, Perform


def asker(call: FrontCall) -> str:
    """Return how a person is told whose call it is."""
    return quoted(call.caller.label) if call.caller.label else "An agent"


async def decided(perform: Perform, call: FrontCall, message: str, choices: Sequence[str], *, number: int) -> Json:
    """Return the reply to a question that a person decides on the call's page, asked with `request_human` as agents do,
    so that every way to answer works. `number` counts the earlier questions of the call. Raises the request's error."""
    asking: Json = {"action": "request_human", "pageId": call.address.page_id}
    body: Json = {**asking, "kind": "decision", "message": cut(message, 500), "choices": [*choices]}
    for wait in count(1):  # one may be too short for a person, and each needs its own callId
        reply = await perform(call.caller, body, f"{call.call_id}{ASKING}{number}-{wait}")
        if reply["state"] != "pending":
            break
        body = {**asking, "requestId": str(reply["requestId"])}
    return reply
