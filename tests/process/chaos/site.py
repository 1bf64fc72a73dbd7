"""Serves the smart home, and beside it desks whose every act is counted under its own key."""

import asyncio
import contextlib
import html
import threading
from collections import Counter
from collections.abc import Iterator
from typing import Final

import uvicorn
from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from examples.smart_home.site import Person, TheLogins, create_site
from examples.smart_home.state import Home

_STARTS_WITHIN_S: Final = 20
_ANSWERS_AFTER_S: Final = 0.15
"""Pause that keeps an act in flight after it was counted."""

DESK: Final = """<!doctype html><title>Desk</title><p class=person><strong>$person</strong>
<input id=field><select id=choice><option>0<option>1</select><input type=checkbox id=box><button id=go>Go</button>
<script>
const did = kind => fetch(`/did${location.search}-${kind}`, {method: 'POST'});
const on = (id, event, kind) => document.querySelector(id).addEventListener(event, () => did(kind));
on('#go', 'click', 'click'); on('#box', 'change', 'check'); on('#field', 'input', 'fill');
on('#choice', 'change', 'select_option');
document.addEventListener('keydown', event => event.key === 'F2' && did('press'));
</script>"""
SCRATCH: Final = """<!doctype html><title>Scratch</title><h1>Scratch</h1><p>x</p><a href="/plain">x</a>
<input id=a><select id=s><option>0<option>1</select><input id=c type=checkbox><button id=b>b</button>
<table><tr><th>x<td>1</table>"""


class ChaosSite:
    """The site in its own thread, on a free port. Its counts may be read at any time."""

    def __init__(self) -> None:
        self.home = Home()
        self.did: Counter[str] = Counter()
        self.url = ""
        site = create_site(self.home)
        site.include_router(self._desks())
        self._server = uvicorn.Server(uvicorn.Config(site, port=0, log_level="error", timeout_graceful_shutdown=1))

    def _desks(self) -> APIRouter:
        router = APIRouter()

        @router.get("/desk/{_name}")
        async def desk(_name: str, request: Request, logins: TheLogins) -> Response:
            person = logins.person(request)
            if person is None:
                return RedirectResponse("/login", status_code=303)
            return HTMLResponse(DESK.replace("$person", html.escape(person)), headers={"Cache-Control": "no-store"})

        @router.get("/plain")
        async def plain() -> Response:
            return HTMLResponse(SCRATCH)

        @router.post("/did")
        async def did(key: str, _: Person) -> str:
            self.did[key] += 1
            await asyncio.sleep(_ANSWERS_AFTER_S)  # so that kills happen while a request is answered
            return key

        return router

    @contextlib.contextmanager
    def running(self) -> Iterator["ChaosSite"]:
        thread = threading.Thread(target=self._server.run, daemon=True)
        thread.start()
        for _ in range(_STARTS_WITHIN_S * 100):
            if self._server.started:
                break
            thread.join(0.01)
        assert self._server.started
        port = self._server.servers[0].sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        try:
            yield self
        finally:
            self.home.release_followers()
            self._server.should_exit = True
            thread.join(_STARTS_WITHIN_S)
