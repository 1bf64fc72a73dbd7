"""The stage that records each call as a span."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from browser_service.spine.call import FrontCall, Go, Stage
from shared.actions.base import Action
from shared.calls import Outcome
from shared.errors import ErrorBody

if TYPE_CHECKING:
    from browser_service.observability.tracing import Tracing


@dataclass(eq=False)
class Traced(Stage):
    """The span of each call, from its admission to its outcome."""

    tracing: "Tracing | None"

    def concerns(self, kind: type[Action]) -> bool:  # noqa: ARG002 - spans are of all calls, or of none
        return self.tracing is not None

    async def run(self, call: FrontCall, go: Go) -> Outcome:
        if self.tracing is None:
            return await go(call)
        with self.tracing.span(call.action.name(), call.call_id, call.parent_span) as span:
            outcome = await go(call)
            page, code = outcome.page, outcome.error.code if outcome.error else None
            self.tracing.note_end(span, code, page.page_id if page else None, page.session_id if page else None)
        return outcome

    def refused(self, call: FrontCall, action: Action, error: ErrorBody) -> None:
        """Record a call that was refused before it began."""
        if self.tracing is not None:
            with self.tracing.span(action.name(), call.call_id, call.parent_span) as span:
                self.tracing.note_end(span, error.code, None, None)
