"""Lets people in to the wall: the command line makes a link, and the page behind it becomes a viewer."""

import asyncio
import gzip
import mimetypes
from functools import cache
from pathlib import Path
from typing import Final, cast

from fastapi import APIRouter, Request
from fastapi.responses import Response
from starlette.requests import ClientDisconnect, HTTPConnection
from starlette.websockets import WebSocket

from browse_together import contract
from browse_together.contract import wire
from browse_together.contract.actions.files import UploadFile
from browse_together.contract.errors import (
    Forbidden,
    InvalidRequest,
    NoSuchRoute,
    Unauthorized,
    ValidationFailed,
    field_details,
)
from browse_together.contract.loopback import is_loopback
from browse_together.contract.words import quotable
from browser_service.http.routes import body_of, done, for_owner, services
from browser_service.security.auth import Identity, person_for
from browser_service.services import Services
from browser_service.wall.messages import Hello, parse
from browser_service.wall.seat import identity_of
from browser_service.wall.viewing import LINK_LIVES_S, Viewer, Viewing

_ACTS: Final = Path(contract.__file__).with_name("acts.js")
_FILES: Final = {path.name: path for path in [*(Path(__file__).parent / "static").iterdir(), _ACTS]}
HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' blob: data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-cache",
}
router = APIRouter(include_in_schema=False)

_HELLO_WITHIN_S: Final = 10.0
_MOST_CODE: Final = 200
_MOST_NAME: Final = 80


@router.post(wire.WALL_LINK, dependencies=[for_owner("browse-together show")])
async def make_link(request: Request) -> Response:
    """Make a link for the account's own command line."""
    body = await body_of(request)
    name = quotable(str(body.get("name") or "")[:_MOST_NAME])
    parts = services(request)
    code = parts.viewing.make_link(name, read_only=body.get("readOnly") is True)
    url = f"{parts.requests.address()}{wire.WALL}#{code}"
    return done(request, {"code": code, "url": url, "worksForS": LINK_LIVES_S})


@router.post(wire.WALL_ENTER)
async def enter(request: Request) -> Response:
    """Turn a link, once, into a viewer: with a cookie for the browser and a proof for the page alone."""
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
    """End this viewer's visit."""
    await services(request).viewing.leave(_proven(request))
    reply = done(request, {})
    _set_cookie(reply, request, "", 0)
    return reply


@router.post(wire.WALL_RENEW)
async def renew(request: Request) -> Response:
    """Give the account's own person on this machine their full time from now on. Others need a new link."""
    viewer, parts = _proven(request), services(request)
    is_here = not parts.settings.behind_proxy and request.client is not None and is_loopback(request.client.host)
    cookie = parts.viewing.renewed(viewer) if is_here and not viewer.read_only else ""
    left_s = round(parts.viewing.left_s(viewer))
    reply = done(request, {"leftS": left_s})
    if cookie:
        _set_cookie(reply, request, cookie, left_s)
    return reply


@router.put(wire.WALL_GIVEN)
async def receive(request: Request) -> Response:
    """Receive, while it arrives, a file that a person chose for a page they hold; at most FILE_BYTES."""
    parts, identity = services(request), await _person_of(request)
    parts.quotas.count_beside(identity.client_id, UploadFile.name())
    try:
        artifact = await parts.artifacts.receive(request.stream(), "application/octet-stream", identity.client_id)
    except ClientDisconnect:
        raise InvalidRequest("The connection ended before its file did.") from None
    return done(request, {"artifactId": artifact.artifact_id})


async def _person_of(request: Request) -> Identity:
    """Return the person behind a request, known by the proof of their wall page or the key of a request. Raises
    Forbidden for a read-only viewer."""
    parts, proof = services(request), request.headers.get(wire.PROOF, "")
    if request_id := request.query_params.get("request"):
        check_connection(request)
        return identity_of(_guest(parts, await _person_asked(parts, request_id, proof)))
    identity = identity_of(_proven(request))
    if not identity.operator:
        raise Forbidden("You may look, and do nothing: your link was a read-only one.", hint="browse-together show")
    return identity


def _proven(request: Request) -> Viewer:
    """Return the viewer whose own page sends this. Raises Unauthorized and Forbidden."""
    viewing = services(request).viewing
    viewer = viewer_of(request, viewing)
    viewing.check_proof(viewer, request.headers.get(wire.PROOF, ""))
    return viewer


def cookie_name(connection: HTTPConnection) -> str:
    """Return a name that contains the port, because all services on this machine share its cookies."""
    return f"browse_wall_{connection.app.state.port}"


def viewer_of(connection: HTTPConnection, viewing: Viewing) -> Viewer:
    """Return the viewer who sends this. Raises Unauthorized, which says how to get in."""
    check_connection(connection)
    return viewing.viewer(connection.cookies.get(cookie_name(connection), ""))


async def let_in(websocket: WebSocket, parts: Services) -> tuple[Viewer, Identity]:
    """Return the viewer and who they are: a person with a cookie and their page's proof, or one with a request's
    key."""
    if (request_id := websocket.query_params.get("request")) is None:
        viewer = viewer_of(websocket, parts.viewing)
        parts.viewing.check_proof(viewer, await _hello(websocket))
        return viewer, identity_of(viewer)
    check_connection(websocket)
    person = await _person_asked(parts, request_id, await _hello(websocket))
    return _guest(parts, person), person


def _guest(parts: Services, person: Identity) -> Viewer:
    name = f'The person at "{person.label}"' if person.in_chat else "A person"
    return parts.viewing.guest(person.request_id, name)


async def _person_asked(parts: Services, request_id: str, key: str) -> Identity:
    """Return the person with the key of an open request. Raises Unauthorized, and RequestNotFound once it is over."""
    person = person_for(parts.secret, request_id, f"Bearer {key}")
    if person is None:
        raise Unauthorized("This link is not one of this service, or is a day old.", hint="browse-together requests")
    await parts.requests.one(person, request_id)
    return parts.names.named(person)


async def _hello(websocket: WebSocket) -> str:
    try:
        async with asyncio.timeout(_HELLO_WITHIN_S):
            message = parse(await websocket.receive_text())
    except (TimeoutError, KeyError):  # KeyError for bytes
        message = None
    if not isinstance(message, Hello):
        raise InvalidRequest("A viewer begins with hello.", hint="Load the page anew.")
    return message.proof


def check_connection(connection: HTTPConnection) -> None:
    """Raise Forbidden for another machine without TLS, because others could read the cookie and the pictures."""
    settings = cast("Services", connection.app.state.services).settings  # the application stores them there
    is_here = connection.client is None or is_loopback(connection.client.host)
    if not (is_here or settings.behind_proxy or connection.url.scheme in {"https", "wss"}):
        raise Forbidden(
            "From another machine the wall is shown over TLS alone.",
            hint="Set BROWSE_TLS_CERT and BROWSE_TLS_KEY, or forward the port: ssh -L.",
        )


def _set_cookie(reply: Response, request: Request, value: str, max_age: int) -> None:
    """Set the cookie so that no script can read it and no other site's request carries it."""
    public_url = services(request).people_url()
    secure = request.url.scheme == "https" or f"https://{request.headers.get('host')}" == public_url
    reply.set_cookie(cookie_name(request), value, max_age=max_age, httponly=True, samesite="strict", secure=secure)


@router.get(wire.WALL)
async def page(request: Request) -> Response:
    return _sent(request, "wall.html")


@router.get(wire.WALL_FILES + "/{name}")
async def file(request: Request, name: str) -> Response:
    if name not in _FILES:
        raise NoSuchRoute(f"There is no {wire.WALL_FILES}/{name}.")
    return _sent(request, name)


def _sent(request: Request, name: str) -> Response:
    """Return a file of the wall, packed for whoever can unpack it: a third of its size."""
    packs = "gzip" in request.headers.get("Accept-Encoding", "")
    kind = mimetypes.guess_type(name)[0]
    headers = {**HEADERS, "Vary": "Accept-Encoding", **({"Content-Encoding": "gzip"} if packs else {})}
    return Response(_read(name, packs=packs), media_type=kind, headers=headers)


@cache
def _read(name: str, *, packs: bool) -> bytes:
    data = _FILES[name].read_bytes()
    return gzip.compress(data) if packs else data
