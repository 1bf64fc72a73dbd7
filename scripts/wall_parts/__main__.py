"""Serves the wall's own files, with a page of their parts in place of the wall."""

from pathlib import Path
from typing import Final

import uvicorn
from fastapi import FastAPI
from fastapi.responses import HTMLResponse
from starlette.staticfiles import StaticFiles

from browse_together.contract import wire
from browser_service.wall import entry

_HERE: Final = Path(__file__).parent
_WALL: Final = Path(entry.__file__).with_name("static") / "wall.html"
_PORT: Final = 8889

app = FastAPI()
app.mount("/parts", StaticFiles(directory=_HERE))


@app.get("/")
async def page() -> HTMLResponse:
    html = _WALL.read_text(encoding="utf-8").replace(f"{wire.WALL_FILES}/main.js", "/parts/parts.js")
    return HTMLResponse(html, headers=entry.HEADERS)


app.include_router(entry.router)  # after the page, which stands at the wall's own path

if __name__ == "__main__":
    uvicorn.run(app, port=_PORT)
