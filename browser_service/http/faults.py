"""Wraps errors outside the spine in the same envelope as those inside."""

from typing import cast

import structlog
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from browse_together.contract import wire, written
from browse_together.contract.errors import BrowseError, InvalidRequest, MethodNotAllowed, NoSuchRoute
from browse_together.contract.model import Json
from browser_service.observability.logging import unexpected
from browser_service.spine.envelope import failed
from browser_service.spine.rendering.own_words import for_programs

log = structlog.get_logger(__name__)


def error_response(error: BrowseError, request_id: str = "") -> JSONResponse:
    reply = failed(error.body(request_id))
    headers = {wire.CATALOGUE: written.fingerprint(), wire.REQUEST_ID: request_id}
    if reply.status == 401:  # noqa: PLR2004 - HTTP asks for it there
        headers["WWW-Authenticate"] = "Bearer"
    return JSONResponse(for_programs(cast("Json", reply.body)), status_code=reply.status, headers=headers)


def install(app: FastAPI) -> None:
    app.add_exception_handler(BrowseError, _browse_error)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(Exception, _unexpected)


async def _browse_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, BrowseError)  # noqa: S101 - registered for nothing else
    return error_response(error, request.state.request_id)


async def _http_error(request: Request, error: Exception) -> JSONResponse:
    """Translate the router's 404 and 405."""
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for nothing else
    kinds: dict[int, BrowseError] = {
        404: NoSuchRoute(f"There is no {request.url.path}."),
        405: MethodNotAllowed(
            f"{request.method} is not possible at {request.url.path}.", hint="Actions are sent by POST."
        ),
    }
    ours = kinds.get(error.status_code) or InvalidRequest(str(error.detail))
    return error_response(ours, request.state.request_id)


async def _unexpected(request: Request, error: Exception) -> JSONResponse:
    log.error("request failed unexpectedly", path=request.url.path, exc_info=error)
    return error_response(unexpected("The service failed at this request."), request.state.request_id)
