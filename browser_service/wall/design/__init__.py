"""Shows each part of the wall in each state, light and dark, for who works on it: in development alone."""

from pathlib import Path
from typing import Final

from fastapi import APIRouter
from fastapi.responses import FileResponse, HTMLResponse

from browser_service.wall.entry import HEADERS
from shared import wire
from shared.errors import NoSuchRoute

_FILES: Final = {path.name: path for path in Path(__file__).parent.glob("design.*")}
_WALL: Final = Path(__file__).parents[1] / "static" / "wall.html"
router = APIRouter(include_in_schema=False)


@router.get(wire.WALL_DESIGN)
async def page() -> HTMLResponse:
    wall = _WALL.read_text("utf-8").replace(f"{wire.WALL_FILES}/main.js", f"{wire.WALL_DESIGN}/design.js")
    return HTMLResponse(wall, headers=HEADERS)


@router.get(wire.WALL_DESIGN + "/{name}")
async def file(name: str) -> FileResponse:
    if name not in _FILES:
        raise NoSuchRoute(f"There is no {wire.WALL_DESIGN}/{name}.")
    return FileResponse(_FILES[name], headers=HEADERS)
