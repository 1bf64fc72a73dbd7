"""Records calls: in the register, for undo, in the activity, and in the metrics."""

import time
from dataclasses import dataclass

import structlog

from browser_service.host.seam import CallKey
from browser_service.observability.activity import Activity
from browser_service.observability.metrics import Metrics
from browser_service.security.auth import Identity
from browser_service.spine.call import FrontCall, Go, Stage
from browser_service.spine.register import CallRegister
from browser_service.spine.undo import UndoStore
from shared.actions.base import Action
from shared.actions.traits import Batching
from shared.calls import Outcome
from shared.errors import ErrorBody
from shared.events import CallEnded

log = structlog.get_logger(__name__)


@dataclass(eq=False)
class Ledger(Stage):
    register: CallRegister
    undos: UndoStore
    activity: Activity
    metrics: Metrics

    def refused(self, call: FrontCall, action: Action, error: ErrorBody) -> None:
        """Record a call that was refused before it began."""
        self.activity.note(call.caller, action, Outcome(call_id=call.call_id, error=error), call.call_id, 0)

    async def run(self, call: FrontCall, go: Go) -> Outcome:
        """Record the end of a call. If a batch's steps are calls, each has been recorded itself."""
        began = time.monotonic()
        outcome, action = await go(call), call.action
        seconds, ended = time.monotonic() - began, outcome.error.code if outcome.error else "ok"
        self.metrics.count_call(action.name(), ended, seconds, outcome.waited_ms)
        if action.batching is not Batching.SEPARATE_CALLS:
            self.activity.note(call.caller, action, outcome, call.call_id, seconds, via=call.via)
        log.info(
            "call",
            action=action.name(),
            client=call.caller.label,
            page=outcome.page.page_id if outcome.page else None,
            outcome=ended,
            ms=round(seconds * 1000),
        )
        return outcome

    def ended_late(self, event: CallEnded) -> None:
        """Store the outcome of a call that a dialog had suspended, for get_call."""
        key = CallKey.parse(event.outcome.call_id)
        record = self.register.find(key.client_id, key.call_id)
        if record.done:
            return
        caller = Identity(client_id=key.client_id)
        self.register.note_last(record, self.undos.keep(caller, key.call_id, record.action, event.outcome))
