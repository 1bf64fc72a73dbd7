"""Tests the spans of calls: whose they are, what they say, and what they never say."""

from pathlib import Path

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode, format_span_id, format_trace_id
from pydantic import JsonValue

from browse_together.client.spans import tracing_of
from browse_together.client.tracing import Tracing
from browse_together.contract.model import Json
from tests.support.service import running_service, settings_for
from tests.support.site import Site

pytestmark = pytest.mark.anyio

TRACE_ID, SPAN_ID = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
PARENT = {"traceparent": f"00-{TRACE_ID}-{SPAN_ID}-01"}


async def spans(tmp_path: Path, *bodies: Json, headers: dict[str, str] | None = None) -> dict[str, ReadableSpan]:
    """Return the spans of these calls, by their names."""
    exporter = InMemorySpanExporter()
    tracing = Tracing(exporter)
    async with running_service(settings_for(tmp_path / "data"), tracing=tracing) as service, service.agent() as agent:
        agent.http.headers.update(headers or {})
        for body in bodies:
            await agent.http.post("/api/browser", json=body)
    tracing.close()
    return {span.name: span for span in exporter.get_finished_spans()}


async def test_a_call_is_a_span_below_its_callers_and_its_steps_are_below_it(tmp_path: Path, site: Site) -> None:
    url = site.page("/secret-path", "x")
    steps: list[JsonValue] = [{"action": "goto", "pageId": page_id, "url": url} for page_id in ("a", "b")]
    found = await spans(tmp_path, {"action": "batch", "steps": steps}, headers=PARENT)
    batch, step = found["execute_tool batch"], found["execute_tool goto"]
    assert batch.kind is SpanKind.SERVER
    assert batch.parent is not None
    assert (format_trace_id(batch.parent.trace_id), format_span_id(batch.parent.span_id)) == (TRACE_ID, SPAN_ID)
    assert step.parent == batch.get_span_context()
    assert step.attributes is not None
    assert {**step.attributes}.items() >= {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "goto",
        "browse_together.page.id": "b",
        "browse_together.session.id": "default",
    }.items()
    assert "secret-path" not in step.to_json()


async def test_a_call_that_fails_or_is_refused_says_by_which_code_alone(tmp_path: Path) -> None:
    found = await spans(
        tmp_path,
        {"action": "click", "pageId": "none", "selector": "#none"},
        {"action": "goto", "url": "file:///etc/passwd"},
        headers={"traceparent": "nonsense"},
    )
    for name, code in (("click", "PAGE_NOT_FOUND"), ("goto", "FORBIDDEN")):
        span = found[f"execute_tool {name}"]
        assert (span.status.status_code, span.status.description) == (StatusCode.ERROR, code), name
        assert span.attributes is not None
        assert span.attributes["error.type"] == "tool_error"
        assert span.parent is None


def test_without_an_endpoint_nothing_is_exported() -> None:
    assert tracing_of({}) is None
    assert tracing_of({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "OTEL_TRACES_EXPORTER": "none"}) is None


def test_a_variable_that_cannot_be_used_costs_the_spans_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", "1")
    assert tracing_of({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}) is None
