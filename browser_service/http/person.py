"""Serves the page on which a person answers a request. The page holds no data: its script fetches the request with the
key behind the link's `#`, which browsers send to no server."""

from pathlib import Path
from typing import Annotated, Final, Literal

from fastapi import APIRouter
from fastapi import Path as InPath
from fastapi.responses import FileResponse

from shared import wire

router = APIRouter(include_in_schema=False)

_STATIC: Final = Path(__file__).parent / "static"
_HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}


@router.get(wire.PERSON + "/static/{name}")
async def static(name: Literal["person.js", "person.css"]) -> FileResponse:
    return FileResponse(_STATIC / name, headers=_HEADERS)


@router.get(wire.PERSON + "/{request_id}")
async def page(request_id: Annotated[str, InPath(max_length=40)]) -> FileResponse:  # noqa: ARG001 - its script reads it
    return FileResponse(_STATIC / "person.html", headers=_HEADERS)
