"""Exports spans of calls by OTLP. Only a process in whose environment an endpoint is set imports it.

Names and attributes follow OpenTelemetry's conventions for MCP: `tools/call goto` is a chat's call, and below it
`execute_tool goto` what the service did. A span has no argument, no address and no text of a page.
"""

import logging
import threading
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Final, Self

import structlog
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.trace import Span, SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from browse_together.contract.wire import APP_NAME, VERSION

_ENDS_WITHIN_S: Final = 2.0
_OPERATION: Final = "execute_tool"
_OURS: Final = "browse_together"

log = structlog.get_logger(__name__)


class _Failures(logging.Handler):
    """The exporter's failures as lines of our log, without its attempts before."""

    def emit(self, record: logging.LogRecord) -> None:
        log.warning("spans were not exported", reason=record.getMessage())


class Tracing:
    """The way of spans to an exporter, which has a thread of its own."""

    def __init__(self, exporter: SpanExporter, name: str = APP_NAME) -> None:
        resource = Resource.create({SERVICE_NAME: name, SERVICE_VERSION: VERSION})
        self._provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer(APP_NAME, VERSION)
        self._propagator = TraceContextTextMapPropagator()

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> Self:
        """Return the tracing to the endpoint of the environment, whose other variables the exporter reads by itself."""
        exporting = logging.getLogger("opentelemetry")
        exporting.addHandler(_Failures(logging.ERROR))
        exporting.propagate = False
        return cls(OTLPSpanExporter(), environment.get("OTEL_SERVICE_NAME") or APP_NAME)

    def service_span(self, tool: str, call_id: str, parent: Mapping[str, str]) -> AbstractContextManager[Span]:
        """Record the block as what the service does for a call."""
        return self.span(_OPERATION, tool, parent, {"gen_ai.tool.call.id": call_id})

    @contextmanager
    def span(self, name: str, tool: str, parent: Mapping[str, str], facts: Mapping[str, str]) -> Iterator[Span]:
        """Record the block as a span of a call, below the one that `traceparent` names, or else below the one that is
        open."""
        attributes = {"gen_ai.operation.name": _OPERATION, "gen_ai.tool.name": tool, **facts}
        above = self._propagator.extract(parent) if parent else None
        name = f"{name} {tool}"
        with self._tracer.start_as_current_span(
            name, above, SpanKind.SERVER, attributes, record_exception=False, set_status_on_exception=False
        ) as span:
            yield span

    def below(self) -> dict[str, str]:
        """Return the `traceparent` of what is done below the span that is open."""
        headers = dict[str, str]()
        self._propagator.inject(headers)
        return headers

    def note_end(self, span: Span, code: str | None, page_id: str | None, session_id: str | None) -> None:
        """Add what became of a call to its span. `code` is the error's, if it failed."""
        known = {"page.id": page_id, "session.id": session_id, "error.code": code}
        span.set_attributes({f"{_OURS}.{name}": value for name, value in known.items() if value is not None})
        if code is not None:
            self.note_error(span, said=code)

    @staticmethod
    def note_error(span: Span, kind: str = "tool_error", said: str | None = None) -> None:
        span.set_attribute("error.type", kind)
        span.set_status(Status(StatusCode.ERROR, said))

    def close(self) -> None:
        """Export what is left. An endpoint that does not answer keeps nobody for long."""
        closing = threading.Thread(target=self._provider.shutdown, daemon=True)
        closing.start()
        closing.join(_ENDS_WITHIN_S)
