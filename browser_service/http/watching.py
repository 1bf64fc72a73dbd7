"""Routes for whoever watches the service: whether it works, what it has open, its figures and its settings."""

import os
from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import JsonValue

from browser_service import settings_report
from browser_service.http.routes import Caller, body_of, done, services
from shared import wire, written
from shared.errors import ValidationFailed, field_details
from shared.model import Json

_MOST_SETTINGS: Final = 200
_LONGEST_SETTING: Final = 10_000
"""Bounds what is compared, because everybody waits meanwhile."""
_EXAMPLE: Final = 'Send {"settings": {"headless": "false"}}.'

router = APIRouter()


@router.get(wire.HEALTH)
async def health() -> JSONResponse:
    about = {"status": "ok", "pid": os.getpid(), "version": wire.VERSION, "catalogue": written.fingerprint()}
    return JSONResponse(about)


@router.get(wire.READY)
async def ready(request: Request) -> JSONResponse:
    figures = await services(request).host.figures()
    storage = "failing" if services(request).storage.problem else "ok"
    return JSONResponse({"status": "ready", **figures.model_dump(mode="json"), "storage": storage})


@router.get(wire.METRICS)
async def metrics(request: Request, caller: Caller) -> Response:  # noqa: ARG001 - a login is needed to look
    return await figures_of(request)


async def figures_of(request: Request) -> Response:
    """Return the figures as Prometheus reads them."""
    figures = await services(request).host.figures()
    return Response(services(request).ledger.metrics.text(figures), media_type=CONTENT_TYPE_LATEST)


@router.get(wire.SETTINGS)
async def settings(request: Request, caller: Caller) -> Response:  # noqa: ARG001 - a login is needed to look
    """Tell with which settings the service runs, without secrets, and which of them are not the defaults."""
    running = services(request).settings
    changed: Json = {"changed": [*settings_report.changed(running)]}
    return done(request, {"settings": settings_report.told(running), **changed})


@router.post(wire.SETTINGS)
async def ineffective_settings(request: Request, caller: Caller) -> Response:  # noqa: ARG001 - as above
    """Tell which settings that a caller has in its environment are not those of this service, and what runs instead."""
    asked = (await body_of(request)).get("settings")
    if not isinstance(asked, dict):
        raise ValidationFailed("The request names no settings.", hint=_EXAMPLE, details=field_details("settings"))
    if len(asked) > _MOST_SETTINGS or not all(map(_is_short, asked.values())):
        limit = f"{_MOST_SETTINGS} settings of {_LONGEST_SETTING:,} characters"
        raise ValidationFailed(f"A request compares at most {limit}.", hint=_EXAMPLE, details=field_details("settings"))
    texts = {name: str(text) for name, text in asked.items()}
    return done(request, {"ineffective": settings_report.ineffective(services(request).settings, texts)})


def _is_short(value: JsonValue) -> bool:
    """Say if a value is one that a variable has, and is not too long: lists of others would take long to look at."""
    return not isinstance(value, dict | list) and (not isinstance(value, str) or len(value) <= _LONGEST_SETTING)
