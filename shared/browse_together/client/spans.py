"""Decides whether spans are exported. What exports them is imported only then."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import structlog

if TYPE_CHECKING:
    from browse_together.client.tracing import Tracing

_ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")

log = structlog.get_logger(__name__)


def tracing_of(environment: Mapping[str, str]) -> "Tracing | None":
    """Return what exports spans to the endpoint in the environment; None without one, or without the extra `otel`."""
    if not any(map(environment.get, _ENDPOINTS)) or environment.get("OTEL_TRACES_EXPORTER") == "none":
        return None
    try:
        from browse_together.client.tracing import Tracing  # noqa: PLC0415 - most processes have no endpoint

        return Tracing.of(environment)
    except ImportError as error:
        log.warning("no spans are exported", missing=error.name, advice="pip install 'browse-together[otel]'")
    except (ValueError, RuntimeError) as error:  # a variable of OpenTelemetry that its SDK refuses
        log.warning("no spans are exported", reason=str(error))
    return None
