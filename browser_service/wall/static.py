"""Serves the wall's files. They hold no data, which only viewers get, by the socket."""

from pathlib import Path
from typing import Final

from fastapi import APIRouter
from fastapi.responses import FileResponse

from shared import wire
from shared.errors import NoSuchRoute

router = APIRouter(include_in_schema=False)

_FILES: Final = {path.name: path for path in (Path(__file__).parent / "static").iterdir()}
_HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' blob: data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-cache",
}


@router.get(wire.WALL)
async def page() -> FileResponse:
    return FileResponse(_FILES["wall.html"], headers=_HEADERS)


@router.get(wire.WALL_FILES + "/{name}")
async def file(name: str) -> FileResponse:
    if name not in _FILES:
        raise NoSuchRoute(f"There is no {wire.WALL_FILES}/{name}.")
    return FileResponse(_FILES[name], headers=_HEADERS)
