"""Serves the house as a site: a login, a page that follows the house live, and the small API behind it."""

import html
import json
import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from pathlib import Path
from string import Template
from typing import Annotated

from fastapi import APIRouter, Depends, FastAPI, Form, HTTPException, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from fastapi.staticfiles import StaticFiles
from pydantic import BaseModel, ConfigDict
from sse_starlette import EventSourceResponse, ServerSentEvent

from examples.smart_home.state import Home
from mcp_home_simulator.state import LightNotFoundError

COOKIE = "home_session"
RECONNECT_MS = 500
PASSWORDS = {"ana": "casa"}
FOLDER = Path(__file__).parent
LOGIN_PAGE = Template((FOLDER / "login.html").read_text(encoding="utf-8"))
HOME_PAGE = Template((FOLDER / "page.html").read_text(encoding="utf-8"))


class LightChange(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")
    on: bool


class AlarmChange(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")
    armed: bool


class PresenceChange(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")
    present: bool


class Logins:
    """The user behind each token. A token outlives the browser that got it; logout or the end of this process ends
    it."""

    def __init__(self) -> None:
        self._people: dict[str, str] = {}

    def add(self, person: str) -> str:
        token = secrets.token_urlsafe(32)
        self._people[token] = person
        return token

    def person(self, request: Request) -> str | None:
        return self._people.get(request.cookies.get(COOKIE, ""))

    def remove(self, request: Request) -> None:
        self._people.pop(request.cookies.get(COOKIE, ""), None)


def home_of(request: Request) -> Home:
    home: Home = request.app.state.home
    return home


def logins_of(request: Request) -> Logins:
    logins: Logins = request.app.state.logins
    return logins


TheHome = Annotated[Home, Depends(home_of)]
TheLogins = Annotated[Logins, Depends(logins_of)]


def logged_in(request: Request, logins: TheLogins) -> str:
    person = logins.person(request)
    if person is None:
        raise HTTPException(401, "Not logged in")
    return person


Person = Annotated[str, Depends(logged_in)]
pages = APIRouter(default_response_class=HTMLResponse)
api = APIRouter()


def is_password(username: str, password: str) -> bool:
    expected = PASSWORDS.get(username)
    return expected is not None and secrets.compare_digest(password.encode(), expected.encode())


def login_page(username: str = "", error: str = "") -> str:
    message = f'<p class="problem" role="alert">{html.escape(error)}</p>' if error else ""
    return LOGIN_PAGE.substitute(username=html.escape(username), message=message)


def home_page(home: Home, person: str) -> str:
    # A script element ends at the first "</script", even within a string.
    view = json.dumps(home.view()).replace("<", "\\u003c")
    return HOME_PAGE.substitute(person=html.escape(person), view=view)


@pages.get("/login")
async def show_login() -> str:
    return login_page()


@pages.post("/login")
async def login(
    home: TheHome,
    logins: TheLogins,
    username: Annotated[str, Form()] = "",
    password: Annotated[str, Form()] = "",
) -> Response:
    if not is_password(username, password):
        return HTMLResponse(login_page(username, "Wrong username or password."), status_code=401)
    person = username.capitalize()
    home.login(person)
    response = RedirectResponse("/", status_code=303)
    response.set_cookie(COOKIE, logins.add(person), httponly=True, samesite="lax")
    return response


@pages.post("/logout")
async def logout(request: Request, home: TheHome, logins: TheLogins) -> Response:
    person = logins.person(request)
    if person is not None:
        logins.remove(request)
        home.logout(person)
    response = RedirectResponse("/login", status_code=303)
    response.delete_cookie(COOKIE, httponly=True, samesite="lax")
    return response


@pages.get("/")
async def show_home(request: Request, home: TheHome, logins: TheLogins) -> Response:
    person = logins.person(request)
    if person is None:
        return RedirectResponse("/login", status_code=303)
    return HTMLResponse(home_page(home, person), headers={"Cache-Control": "no-store"})


@api.get("/events")
async def events(request: Request, home: TheHome, logins: TheLogins, _: Person) -> Response:
    # When the server stops, `release_followers` may end the stream before it is cut off.
    return EventSourceResponse(view_events(request, home, logins), shutdown_grace_period=1)


async def view_events(request: Request, home: Home, logins: Logins) -> AsyncIterator[ServerSentEvent]:
    async with aclosing(home.follow()) as views:
        async for view in views:
            # A logout is a change too: it ends the streams of its token.
            if logins.person(request) is None:
                return
            yield ServerSentEvent(json.dumps(view), retry=RECONNECT_MS)


@api.get("/api/state")
async def state(home: TheHome, _: Person) -> Mapping[str, object]:
    return {**home.states(), "counts": home.counts}


@api.post("/api/lights/{name}")
async def set_light(name: str, change: LightChange, home: TheHome, person: Person) -> Mapping[str, bool]:
    try:
        home.set_light_state(name, on=change.on, who=person)
    except LightNotFoundError as error:
        raise HTTPException(404, str(error)) from error
    return {"ok": True}


@api.post("/api/alarm")
async def set_alarm(change: AlarmChange, home: TheHome, person: Person) -> Mapping[str, bool]:
    home.set_alarm_state(armed=change.armed, who=person)
    return {"ok": True}


@api.post("/api/presence")
async def set_presence(change: PresenceChange, home: TheHome, person: Person) -> Mapping[str, bool]:
    home.set_presence(present=change.present, who=person)
    return {"ok": True}


@api.get("/api/counts")
async def counts(home: TheHome) -> Mapping[str, int]:
    return home.counts


@api.get("/health")
async def health() -> Mapping[str, str]:
    return {"status": "ok"}


def create_site(home: Home | None = None) -> FastAPI:
    site = FastAPI(title="Smart home")
    site.state.home = home or Home()
    site.state.logins = Logins()
    site.include_router(pages)
    site.include_router(api)
    site.mount("/static", StaticFiles(directory=FOLDER / "static"))
    return site
