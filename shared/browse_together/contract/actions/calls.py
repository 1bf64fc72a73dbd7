"""Calls that take long: read on, or stop."""

from pydantic import Field

from browse_together.contract.actions.arguments import CallId
from browse_together.contract.actions.base import ServiceAction
from browse_together.contract.actions.traits import Effect


class GetCall(ServiceAction):
    """Get the outcome of an earlier call by its callId; waits for a call that still runs."""

    unmetered = True
    untrusted = True

    call_id: CallId = Field(description="The callId that a reply named.")
    wait: int = Field(default=30_000, ge=0, le=45_000, description="Milliseconds to wait for it to end.")


class CancelCall(ServiceAction):
    """Stop one of your calls. One that still waited did not happen; one that ran may have happened in part."""

    effect = Effect.ACTS
    serves_reading = True
    unmetered = True

    call_id: CallId = Field(description="The callId that a reply named.")
