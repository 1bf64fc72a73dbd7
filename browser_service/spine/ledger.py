"""Records calls and what became of them: in the activity, the metrics, the log and the caller's trace."""

import time
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog

from browse_together.contract.actions.base import Action
from browse_together.contract.actions.traits import Batching
from browse_together.contract.calls import Outcome
from browse_together.contract.errors import ErrorBody
from browse_together.contract.events import CallEnded
from browser_service.host.seam import CallKey
from browser_service.observability.activity import Activity
from browser_service.observability.metrics import Metrics
from browser_service.spine.call import FrontCall
from browser_service.spine.register import CallRegister

if TYPE_CHECKING:
    from opentelemetry.trace import Span

    from browse_together.client.tracing import Tracing

log = structlog.get_logger(__name__)


@dataclass(eq=False)
class Ledger:
    register: CallRegister
    activity: Activity
    metrics: Metrics
    tracing: "Tracing | None" = None

    def span(self, call: FrontCall) -> "AbstractContextManager[Span | None]":
        """Trace a call, if the service traces."""
        if self.tracing is None:
            return nullcontext()
        return self.tracing.service_span(call.action.name(), call.call_id, call.parent_span)

    def ended(self, call: FrontCall, outcome: Outcome, began: float, span: "Span | None") -> None:
        """Record the end of a call. If a batch's steps are calls, each has been recorded itself."""
        action, page, seconds = call.action, outcome.page, time.monotonic() - began
        code = outcome.error.code if outcome.error else None
        self.metrics.count_call(action.name(), code or "ok", seconds, outcome.waited_ms)
        if action.batching is not Batching.SEPARATE_CALLS:
            self.activity.note(call.caller, action, outcome, call.call_id, seconds, via=call.via)
        page_id = page.page_id if page else None
        log.info(
            "call",
            action=action.name(),
            client=call.caller.label,
            page=page_id,
            outcome=code or "ok",
            ms=round(seconds * 1000),
        )
        if self.tracing is not None and span is not None:
            self.tracing.note_end(span, code, page_id, page.session_id if page else None)

    def refused(self, call: FrontCall, action: Action, error: ErrorBody) -> None:
        """Record a call that was refused before it began."""
        self.activity.note(call.caller, action, Outcome(call_id=call.call_id, error=error), call.call_id, 0)
        if self.tracing is not None:
            with self.tracing.service_span(action.name(), call.call_id, call.parent_span) as span:
                self.tracing.note_end(span, error.code, None, None)

    def ended_late(self, event: CallEnded) -> None:
        """Store the outcome of a call that a dialog had suspended, for get_call."""
        key = CallKey.parse(event.outcome.call_id)
        record = self.register.find(key.client_id, key.call_id)
        if record.done:
            return
        self.register.note_last(record, event.outcome)
