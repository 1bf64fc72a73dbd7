"""Serves the attacking pages, and what they request, from a separate process."""

import argparse
import asyncio

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from benchmarks.attacks.scripts import document

_HEADER_LINES = 100
_HEADER_BYTES = 500
_CHUNK = b"x" * 1_000


async def page(request: Request) -> Response:
    return HTMLResponse(document(request.path_params["name"]))


async def empty(_: Request) -> Response:
    return Response("", media_type="text/plain")


async def headers(_: Request) -> Response:
    return Response("", headers={f"x-{n}": "x" * _HEADER_BYTES for n in range(_HEADER_LINES)})


async def file(_: Request) -> Response:
    return Response("x", headers={"content-disposition": "attachment; filename=x.txt"})


async def stream(_: Request) -> Response:
    async def chunks() -> object:
        while True:
            yield _CHUNK
            await asyncio.sleep(0)  # each chunk by itself

    return StreamingResponse(chunks(), media_type="text/plain")  # type: ignore[arg-type] # an async generator


async def flood(socket: WebSocket) -> None:
    """Send small messages as fast as the browser takes them."""
    await socket.accept()
    try:
        while True:
            await socket.send_text("x" * 100)
    except (WebSocketDisconnect, RuntimeError, OSError):
        return


app = Starlette(
    routes=[
        Route("/attack/{name:path}", page),
        Route("/empty", empty),
        Route("/headers", headers),
        Route("/file", file),
        Route("/stream", stream),
        WebSocketRoute("/flood", flood),
    ]
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("descriptor", type=int, help="a socket that listens")
    uvicorn.run(app, fd=parser.parse_args().descriptor, log_level="critical", lifespan="off")


if __name__ == "__main__":
    main()
