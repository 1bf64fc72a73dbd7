"""Routes that show whether the service works, what it has open, its metrics and its settings."""

import asyncio
import json
import math
import os
import re
import time
from collections.abc import Awaitable, Callable
from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, PlainTextResponse, Response
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import JsonValue

from browse_together.contract import wire, written
from browse_together.contract.errors import ValidationFailed, field_details
from browse_together.contract.model import Json
from browse_together.contract.secret import proof
from browser_service import settings_report
from browser_service.http.routes import Caller, body_of, done, services
from browser_service.observability.metrics import HostFigures

FRESH_S: Final = 1.0
"""Figures are computed at most once per this many seconds, no matter how many callers ask."""
_MOST_SETTINGS: Final = 200
_LONGEST_SETTING: Final = 10_000
"""Limit of what is compared, because the event loop does it."""
_EXAMPLE: Final = 'Send {"settings": {"headless": "false"}}.'

router = APIRouter()


@router.get(wire.HEALTH)
async def health(request: Request) -> JSONResponse:
    """Report that the service runs. With a nonce, also prove that it has the account's secret at this address: clients
    check that on each connection before they send their token."""
    about = {"status": "ok", "pid": os.getpid(), "version": wire.VERSION, "catalogue": written.fingerprint()}
    nonce = request.query_params.get(wire.NONCE, "")
    if re.fullmatch(wire.NONCE_PATTERN, nonce):
        about["proof"] = proof(services(request).secret, nonce, request.scope["server"])
    return JSONResponse(about)


@router.get(wire.READY)
async def ready(request: Request) -> Response:
    async def counted() -> bytes:
        figures = await services(request).host.figures()
        states: Json = {each.name: each.state for each in await _hosts(request)}
        hosts: Json = {"hosts": states} if states else {}
        storage = "failing" if services(request).storage.problem else "ok"
        return json.dumps({"status": "ready", **figures.model_dump(mode="json"), **hosts, "storage": storage}).encode()

    return Response(await _fresh(request, counted, FRESH_S), media_type="application/json")


@router.get(wire.OPENAPI, include_in_schema=False)
async def openapi(request: Request, caller: Caller) -> Response:  # noqa: ARG001 - requires a login
    """Describe every route and action, about 400 KB, computed once."""

    async def described() -> bytes:
        return await asyncio.to_thread(lambda: json.dumps(request.app.openapi()).encode())

    return Response(await _fresh(request, described, math.inf), media_type="application/json")


@router.get(wire.METRICS, response_class=PlainTextResponse)
async def metrics(request: Request, caller: Caller) -> Response:  # noqa: ARG001 - requires a login
    return await figures_of(request)


async def figures_of(request: Request) -> Response:
    """Return the metrics in Prometheus' format."""

    async def counted() -> bytes:
        figures = await services(request).host.figures()
        return services(request).ledger.metrics.text(figures, await _hosts(request))

    return Response(await _fresh(request, counted, FRESH_S, wire.METRICS), media_type=CONTENT_TYPE_LATEST)


async def _hosts(request: Request) -> list[HostFigures]:
    """Return the figures of each host, if there may be several."""
    fleet = services(request).fleet
    return [] if fleet is None else await fleet.figures()


async def _fresh(
    request: Request, compute: Callable[[], Awaitable[bytes]], fresh_s: float, name: str | None = None
) -> bytes:
    """Return the last result while it is fresh, so that frequent callers cause no extra work."""
    looked_at: dict[str, tuple[float, asyncio.Future[bytes]]] = request.app.state.looked_at
    name, now = name or request.url.path, time.monotonic()
    until, found = looked_at.get(name, (0.0, None))
    if found is None or now >= until:
        found = asyncio.ensure_future(compute())
        looked_at[name] = now + fresh_s, found
    try:
        return await asyncio.shield(found)
    except Exception:  # whatever failed, the next caller has it computed again
        looked_at.pop(name, None)
        raise


@router.get(wire.SETTINGS)
async def settings(request: Request, caller: Caller) -> Response:
    """Return the settings of this service, without secrets, and which of them are not defaults."""
    services(request).policy.check_settings(caller)
    running = services(request).settings
    changed: Json = {"changed": [*settings_report.changed(running)]}
    return done(request, {"settings": settings_report.told(running), **changed})


@router.post(wire.SETTINGS)
async def ineffective_settings(request: Request, caller: Caller) -> Response:
    """Return which settings of a caller's environment this service does not have, and what it has instead."""
    services(request).policy.check_settings(caller)
    asked = (await body_of(request)).get("settings")
    if not isinstance(asked, dict):
        raise ValidationFailed("The request names no settings.", hint=_EXAMPLE, details=field_details("settings"))
    if len(asked) > _MOST_SETTINGS or not all(map(_is_short, asked.values())):
        limit = f"{_MOST_SETTINGS} settings of {_LONGEST_SETTING:,} characters"
        raise ValidationFailed(f"A request compares at most {limit}.", hint=_EXAMPLE, details=field_details("settings"))
    texts = {name: str(text) for name, text in asked.items()}
    return done(request, {"ineffective": settings_report.ineffective(services(request).settings, texts)})


def _is_short(value: JsonValue) -> bool:
    """Return whether a value can be a variable's and is short. Nested values would take long to compare."""
    return not isinstance(value, dict | list) and (not isinstance(value, str) or len(value) <= _LONGEST_SETTING)
