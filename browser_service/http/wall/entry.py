"""Lets people in to the wall: the command line makes a link, and the page behind it becomes a viewer's."""

import asyncio
from typing import Final, cast

from fastapi import APIRouter, Request
from fastapi.responses import Response
from starlette.requests import HTTPConnection
from starlette.websockets import WebSocket

from browser_service.http.routes import Caller, body_of, done, services
from browser_service.http.wall.messages import Hello, parse
from browser_service.http.wall.requests import identity_of
from browser_service.rules.viewing import LINK_LIVES_S, Viewer, Viewing
from browser_service.security.auth import Identity, person_for
from browser_service.services import Services
from shared import wire
from shared.errors import Forbidden, InvalidRequest, Unauthorized, ValidationFailed, field_details
from shared.loopback import is_loopback
from shared.words import quotable

router = APIRouter(include_in_schema=False)

_HELLO_WITHIN_S: Final = 10.0
_MOST_CODE: Final = 200
_MOST_NAME: Final = 80


@router.post(wire.WALL_LINK)
async def make_link(request: Request, caller: Caller) -> Response:
    """Make a link for the account's own command line."""
    if not caller.operator:
        raise Forbidden("Links to the wall are made by the account's owner.", hint="browse-together show")
    body = await body_of(request)
    name = quotable(str(body.get("name") or "")[:_MOST_NAME])
    code = services(request).viewing.make_link(name, read_only=body.get("readOnly") is True)
    return done(request, {"code": code, "worksForS": LINK_LIVES_S})


@router.post(wire.WALL_ENTER)
async def enter(request: Request) -> Response:
    """Make a viewer of whoever has a link, once: the cookie is for the browser, the proof for the page alone."""
    code = (await body_of(request)).get("code")
    if not isinstance(code, str) or not 0 < len(code) <= _MOST_CODE:
        raise ValidationFailed("The request has no code.", hint="browse-together show", details=field_details("code"))
    check_connection(request)
    viewing = services(request).viewing
    viewer, cookie, proof = viewing.enter(code)
    left_s = round(viewing.left_s(viewer))
    reply = done(request, {"proof": proof, "readOnly": viewer.read_only, "leftS": left_s})
    _set_cookie(reply, request, cookie, left_s)
    return reply


@router.post(wire.WALL_LEAVE)
async def leave(request: Request) -> Response:
    """End the time of the viewer who asks."""
    parts, cookie = services(request), request.cookies.get(cookie_name(request), "")
    parts.viewing.check_proof(parts.viewing.viewer(cookie), request.headers.get(wire.PROOF, ""))
    parts.viewing.leave(cookie)
    reply = done(request, {})
    _set_cookie(reply, request, "", 0)
    return reply


def cookie_name(connection: HTTPConnection) -> str:
    """Return a name with the port, because services of two data directories share this machine's cookies."""
    return f"browse_wall_{connection.app.state.port}"


def viewer_of(connection: HTTPConnection, viewing: Viewing) -> Viewer:
    """Return the viewer who asks. Raises Unauthorized, which says how to get in."""
    check_connection(connection)
    return viewing.viewer(connection.cookies.get(cookie_name(connection), ""))


async def let_in(websocket: WebSocket, parts: Services) -> tuple[Viewer, Identity]:
    """Return who looks: one with a cookie and the proof of its page, or one with the key of a request."""
    if (request_id := websocket.query_params.get("request")) is None:
        viewer = viewer_of(websocket, parts.viewing)
        parts.viewing.check_proof(viewer, await _hello(websocket))
        return viewer, identity_of(viewer)
    check_connection(websocket)
    person = await _person_asked(parts, request_id, await _hello(websocket))
    return parts.viewing.guest(f'The person at "{person.label}"' if person.in_chat else "A person"), person


async def _person_asked(parts: Services, request_id: str, key: str) -> Identity:
    """Return who has the key of an open request. Raises Unauthorized, and RequestNotFound once it is over."""
    person = person_for(parts.secret, request_id, f"Bearer {key}")
    if person is None:
        raise Unauthorized("This link is not one of this service, or is a day old.", hint="browse-together requests")
    await parts.requests.one(person, request_id)
    return person


async def _hello(websocket: WebSocket) -> str:
    try:
        async with asyncio.timeout(_HELLO_WITHIN_S):
            message = parse(await websocket.receive_text())
    except (TimeoutError, KeyError):  # nothing, or bytes
        message = None
    if not isinstance(message, Hello):
        raise InvalidRequest("A viewer begins with hello.", hint="Load the page anew.")
    return message.proof


def check_connection(connection: HTTPConnection) -> None:
    """Raise Forbidden for who comes from another machine without TLS: others could read cookie and pictures."""
    settings = cast("Services", connection.app.state.services).settings
    is_here = connection.client is None or is_loopback(connection.client.host)
    if not (is_here or settings.behind_proxy or connection.url.scheme in {"https", "wss"}):
        raise Forbidden(
            "From another machine the wall is shown over TLS alone.",
            hint="Set BROWSE_TLS_CERT and BROWSE_TLS_KEY, or forward the port: ssh -L.",
        )


def _set_cookie(reply: Response, request: Request, value: str, max_age: int) -> None:
    """Set the cookie, which no script reads, and which the browser sends with nothing that another site asks for."""
    secure = request.url.scheme == "https"
    reply.set_cookie(cookie_name(request), value, max_age=max_age, httponly=True, samesite="strict", secure=secure)
