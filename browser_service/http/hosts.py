"""Routes by which hosts elsewhere reach the service: their links, and the files of their calls."""

import asyncio
from collections.abc import Callable
from typing import Final, TypeVar, cast
from urllib.parse import unquote

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse, Response
from pydantic import ValidationError
from starlette.requests import ClientDisconnect
from starlette.websockets import WebSocket, WebSocketDisconnect

from browse_together.contract import wire
from browse_together.contract.errors import BrowseError, Forbidden, InvalidRequest
from browse_together.contract.local_times import worded
from browse_together.contract.model import Model
from browser_service.carriers.front_end import Links, Members
from browser_service.carriers.host_requests import check_read
from browser_service.carriers.messages import FILE, LINK, GivenFile, WantedFile, misread
from browser_service.carriers.remote_host import RemoteHost
from browser_service.carriers.wire import LinkLost
from browser_service.host_settings import HostSettings
from browser_service.http.faults import error_response
from browser_service.http.routes import services
from browser_service.security.auth import identify_host
from browser_service.services import Services

router = APIRouter(include_in_schema=False)

_MOST_PUT: Final = 200_000_000
"""The most bytes of a file that is held in memory, because it becomes part of a reply."""
_HELD: Final = asyncio.Semaphore(4)

M = TypeVar("M", bound=Model)


class _Wire:
    """A WebSocket of a host."""

    def __init__(self, websocket: WebSocket) -> None:
        self._websocket = websocket

    async def send(self, text: bytes) -> None:
        try:
            await self._websocket.send_bytes(text)
        except (WebSocketDisconnect, RuntimeError) as error:
            raise LinkLost(f"the host is not there: {error}") from None

    async def receive(self) -> bytes:
        try:
            return await self._websocket.receive_bytes()
        except WebSocketDisconnect as error:
            raise LinkLost(error.reason or f"closed by {error.code}") from None
        except KeyError:  # text
            raise InvalidRequest("A host sends bytes alone.", hint="Run the same version on both machines.") from None


@router.websocket(wire.HOSTS_LINK)
async def link(websocket: WebSocket) -> None:
    """Serve a link of a host, or the second connection of one, which names it by a key."""
    parts, links = cast("Services", websocket.app.state.services), _links(websocket)
    key, headers = websocket.headers.get(LINK, ""), websocket.headers
    try:
        token = identify_host(parts.secret, headers.get("authorization"), parts.revoked)
        if key:
            links.host_of(key, token)
        else:
            links.admit()
    except BrowseError as error:
        await websocket.send_denial_response(error_response(error))
        return
    parts.tokens.note_host(token)
    await websocket.accept()
    there = _Wire(websocket)
    if key:
        await links.serve_bulk(there, key)
    else:
        await links.serve(there, token, websocket.client.host if websocket.client else "")


@router.put(wire.HOSTS_FILES)
async def put_file(request: Request) -> Response:
    """Keep a file of a call or of a page that is on this host."""
    given, host, artifacts = _about(request, GivenFile), _host(request), services(request).artifacts
    if not host.checks.knows(given.client_id):
        host.checks.drop("file")
        raise Forbidden("The file's client has no page on this host, and had no call there lately.")
    try:
        async with artifacts.arrived(request.stream(), given.client_id) as path:
            if given.moved:
                kept = await artifacts.take(path, given.mime_type, given.client_id, name=given.name)
            elif path.stat().st_size > _MOST_PUT:
                raise InvalidRequest(f"The file has more than {_MOST_PUT:,} bytes.", hint="Ask for less.")
            else:
                async with _HELD:
                    data = await asyncio.to_thread(path.read_bytes)
                    how = given.model_dump(include={"inline", "name", "searched"})
                    kept = await artifacts.put(data, given.mime_type, given.client_id, **how)
    except ClientDisconnect:
        raise InvalidRequest("The connection ended before its file did.") from None
    return Response(kept.model_dump_json(exclude_none=True), media_type="application/json")


@router.get(wire.HOSTS_FILES)
async def get_file(request: Request) -> Response:
    """Give a file that a call on this host names."""
    wanted, host, artifacts = _about(request, WantedFile), _host(request), services(request).artifacts
    if wanted.upload:
        if not host.checks.may_upload(wanted.upload):
            host.checks.drop("upload")
            raise Forbidden("No call that runs on this host names the file.")
        return Response(await artifacts.upload(wanted.upload, wanted.most), media_type="application/octet-stream")
    check_read(host, wanted.artifact_id, wanted.client_id)
    if wanted.as_text:
        return Response((await artifacts.text(wanted.artifact_id, wanted.client_id)).encode(), media_type="text/plain")
    path, mime_type = await artifacts.path(wanted.artifact_id, wanted.client_id)
    return FileResponse(path, media_type=mime_type)


def open_links(services: Services, members: Members, own_hosts: Callable[[], frozenset[str]]) -> Links:
    """Let hosts dial in. No page on them opens `own_hosts`, which are the service's own."""
    told = HostSettings.of(services.settings).model_dump(mode="json")
    links = Links(
        members,
        services.artifacts,
        services.revoked.check_host,
        front_start=services.host_calls.front_start,
        lease_ms=services.settings.host_lease_ms,
        most_pages=services.settings.max_pages,
        settings=lambda: told,
        own_places=lambda: sorted(own_hosts()),
    )
    services.revoked.on_token = links.revoke
    return links


def _links(connection: Request | WebSocket) -> Links:
    return cast("Links", connection.app.state.links)  # the application stores them there


def _host(request: Request) -> RemoteHost:
    """Return the host that sends a file, proven by its token and by the key of its link."""
    parts = services(request)
    token = identify_host(parts.secret, request.headers.get("authorization"), parts.revoked)
    return _links(request).host_of(request.headers.get(LINK, ""), token)


def _about(request: Request, kind: type[M]) -> M:
    try:
        return kind.model_validate_json(worded(unquote(request.headers.get(FILE, "")).encode()))
    except ValidationError as error:
        raise misread(f"header {FILE}", error) from None
