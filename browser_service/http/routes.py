"""Routes HTTP requests into the spine, which alone decides what a call means.

It is longer than 300 lines because every path stands here, with its text for `/openapi.json`.
"""

import asyncio
import codecs
import contextlib
import json
import time
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import replace
from datetime import datetime
from typing import Annotated, cast

from fastapi import APIRouter, Depends, Request
from fastapi.params import Depends as DependsOn
from fastapi.responses import FileResponse, JSONResponse, Response
from starlette.requests import ClientDisconnect

from browse_together.contract import catalogue, toolsets, wire, written
from browse_together.contract.actions.activity import GetActivity
from browse_together.contract.actions.files import Drop, UploadFile
from browse_together.contract.errors import Forbidden, InvalidRequest, ValidationFailed
from browse_together.contract.events import PageMoved
from browse_together.contract.json_lines import strict
from browse_together.contract.model import Json
from browse_together.contract.schema import full_schema
from browser_service.http.streams import EventStream
from browser_service.observability import search
from browser_service.security.auth import Identity, identify, person_for
from browser_service.services import Services
from browser_service.spine.call import FrontCall
from browser_service.spine.register import Reply
from browser_service.spine.rendering.reply import asked_form, in_form

router = APIRouter()


def services(request: Request) -> Services:
    return cast("Services", request.app.state.services)  # the application stores them there


async def identity(request: Request) -> Identity:
    """Identify the caller. The function is async, though it awaits nothing, because FastAPI would run it in a thread
    otherwise."""
    parts, headers = services(request), request.headers
    caller = identify(parts.secret, headers.get("authorization"), parts.revoked, headers.get(wire.CHAT))
    if caller.token_name:
        parts.tokens.note_use(caller)
    named = parts.names.named(caller)
    if named is not caller:
        parts.revoked.check(named)
    return named


Caller = Annotated[Identity, Depends(identity)]


def for_owner(command: str) -> DependsOn:
    """Keep a route for the account's owner, who has a command for it. An agent gets Forbidden: it could else give
    itself more than it has."""

    async def check(request: Request, caller: Caller) -> None:
        if not caller.operator:
            problem = f"{request.method} {request.url.path} is for the account's owner alone."
            raise Forbidden(problem, hint=command)

    return cast("DependsOn", Depends(check))


async def act(request: Request) -> Response:
    """Run a call, on the page that the path names or on none. It is a plain Starlette route, because FastAPI's routing
    takes longer than the policy check of a call."""
    caller, session = await identity(request), request.headers.get(wire.SESSION)
    if chosen := services(request).directory.sessions.chosen_for(caller.client_id):
        session = chosen  # a person's word is the last
    if session is not None:
        if not wire.is_host_name(session):
            raise InvalidRequest(f"{wire.SESSION} is no name of a session.")
        caller = caller.model_copy(update={"session": session})
    return await _run(request, caller, await body_of(request), request.path_params.get("page_id"))


@router.get(wire.PAGES)
async def list_pages(request: Request, caller: Caller) -> Response:
    return await _run(request, caller, {"action": "list_pages", "all": True})


@router.get(wire.SESSIONS)
async def list_sessions(request: Request, caller: Caller) -> Response:
    return await _run(request, caller, {"action": "list_sessions"})


@router.get(wire.CALLS + "/{call_id}")
async def get_call(call_id: str, request: Request, caller: Caller) -> Response:
    return await _run(request, caller, {"action": "get_call", "callId": call_id, "wait": 0})


@router.get(wire.CALLS + "/{call_id}/reply")
async def get_reply(call_id: str, request: Request, caller: Caller) -> Response:
    """Return the reply to a call again, in any form, and under `call` how far it is. Nothing waits for it."""
    reply, followed = services(request).dispatcher.follow(caller, call_id)
    form, catalogue_of_caller = asked_form(request.headers.get(wire.REPLY)), request.headers.get(wire.CATALOGUE)
    shown = in_form(reply, {"action": followed.action}, form, catalogue_of_caller)
    return _response(request, replace(shown, body={**shown.body, "call": followed.model_dump(mode="json")}))


@router.post(wire.CALLS + "/{call_id}/cancel")
async def cancel_call(call_id: str, request: Request, caller: Caller) -> Response:
    return await _run(request, caller, {"action": "cancel_call", "callId": call_id})


@router.get(wire.TOOLS)
async def list_tools(request: Request, caller: Caller) -> Response:
    tools = [
        {
            "name": name,
            "title": action.title(),
            "description": action.whole_description(),
            "inputSchema": full_schema(action),
            "annotations": toolsets.annotations(action),
            "aliases": [alias.name for alias in action.aliases],
        }
        for name, action in catalogue.ACTIONS.items()
        if caller.limits.lists(action)
    ]
    body = {"success": True, "result": {"tools": tools, "catalogue": written.fingerprint()}}
    return _response(request, Reply(200, {**body, "page": None, "notices": []}))


def _check_sends_files(caller: Identity) -> None:
    if not (caller.limits.lists(UploadFile) or caller.limits.lists(Drop)):
        raise Forbidden("This token sends no files to pages, so that it may leave and look for none here.")


@router.get(wire.FILES)
async def find_file(path: str, request: Request, caller: Caller) -> Response:
    """Say whether this path is a file in the upload folders, which an upload may name."""
    _check_sends_files(caller)
    return done(request, {"found": await services(request).artifacts.may_upload(path)})


@router.put(wire.FILES)
async def put_file(request: Request, caller: Caller) -> Response:
    """Store a file for a later call of the same client, which names it by the `artifactId` in this reply."""
    _check_sends_files(caller)
    services(request).quotas.count_beside(caller.client_id, UploadFile.name())
    artifacts, mime_type = services(request).artifacts, "application/octet-stream"
    try:
        artifact = await artifacts.receive(request.stream(), mime_type, caller.client_id)
    except ClientDisconnect:
        raise InvalidRequest("The connection ended before its file did.") from None
    return done(request, artifact.model_dump(mode="json", by_alias=True, exclude_none=True))


@router.get(wire.FILES + "/{artifact_id}", response_class=FileResponse)
async def get_file(artifact_id: str, request: Request, caller: Caller) -> Response:
    file = await services(request).reads.file(caller, artifact_id)
    headers = {"X-Content-Type-Options": "nosniff"}
    return FileResponse(file.path, media_type=file.mime_type, filename=file.name, headers=headers)


@router.get(wire.EVENTS)
async def events(request: Request, caller: Caller) -> EventStream:
    """Stream events to the caller, who counts as present meanwhile: progress of its calls, and changes of pages that it
    may know of. `pages=0` leaves the pages out, which saves work. `activity=1`, with the filters of /api/activity,
    streams new records instead; such a reader does not count as present."""
    open_streams = request.app.state.open_streams
    services(request).clients.remember(caller.client_id, caller.label)
    if request.query_params.get("activity", "0") not in {"0", "false"}:
        return EventStream(_until_expiry(caller, _activity_feed(request, caller)), open_streams, caller.client_id)
    policy, pages = services(request).policy, request.query_params.get("pages", "1") not in {"0", "false"}

    async def feed() -> AsyncGenerator[dict[str, str]]:
        yield {"event": "hello", "data": json.dumps({"catalogue": written.fingerprint()})}
        async for moved in services(request).clients.stream(caller.client_id, pages=pages):
            if not isinstance(moved, PageMoved):
                yield {"event": "call", "data": moved.model_dump_json()}
            elif policy.may_hear(caller, moved):
                yield {"event": "page", "data": moved.model_dump_json()}

    return EventStream(_until_expiry(caller, feed()), open_streams, caller.client_id)


@router.delete(wire.EVENTS)
async def depart(request: Request, caller: Caller) -> Response:
    """Say that the caller leaves for good. Once its last stream of events has ended, its calls are cancelled and its
    pages are free, without the pause in which it could come back."""
    services(request).clients.depart(caller.client_id)
    return done(request, {})


async def _until_expiry(caller: Identity, events: AsyncGenerator[dict[str, str]]) -> AsyncIterator[dict[str, str]]:
    """Pass events on until the caller's token ends."""
    async with contextlib.aclosing(events):
        while (ends_at := caller.expires_at) is None or time.time() < ends_at:  # also while each event comes at once
            left_s = None if ends_at is None else ends_at - time.time()
            try:
                async with asyncio.timeout(left_s):
                    event = await anext(events)
            except (TimeoutError, StopAsyncIteration):
                return
            yield event


@router.get(wire.ACTIVITY)
async def get_activity(request: Request, caller: Caller) -> Response:
    for_programs: Json = {"format": "records", "budget": 1_000_000}
    return await _run(request, caller, {**for_programs, **_activity_call(request)})


@router.delete(wire.ACTIVITY, dependencies=[for_owner("browse-together forget --client LABEL")])
async def forget(request: Request) -> Response:
    """Remove a client's records, for the account's own command line: a client that could would not be accountable."""
    client = request.query_params.get("client")
    if not client:
        raise ValidationFailed(
            "The request does not say whose records to remove.", hint=f"Name it: {wire.ACTIVITY}?client=LABEL"
        )
    forgotten = await services(request).administration.forget(client)
    return done(request, forgotten)


@router.get(wire.REQUESTS)
async def list_requests(request: Request, caller: Caller) -> Response:
    return done(request, {"requests": [*await services(request).requests.listed(caller)]})


async def answerer(request_id: str, request: Request) -> Identity:
    """Identify who answers a request: the person with its link, or a client."""
    parts = services(request)
    person = person_for(parts.secret, request_id, request.headers.get("authorization"))
    return await identity(request) if person is None else parts.names.named(person)


Answerer = Annotated[Identity, Depends(answerer)]


@router.get(wire.REQUESTS + "/{request_id}")
async def get_request(request_id: str, request: Request, caller: Answerer) -> Response:
    return done(request, await services(request).requests.one(caller, request_id))


@router.post(wire.REQUESTS + "/{request_id}/resolve")
async def resolve_request(request_id: str, request: Request, caller: Answerer) -> Response:
    """Answer a request, as the account's own command line or as a person with the key of its link or chat form."""
    return done(request, await services(request).requests.resolve(caller, request_id, await body_of(request)))


def _activity_call(request: Request) -> Json:
    """Turn the query into a get_activity call. The filter for actions may also be called `action`, as in records."""
    filters = {"actionName" if name == "action" else name: value for name, value in request.query_params.items()}
    return {"action": "get_activity", **filters}


def _activity_feed(request: Request, caller: Identity) -> AsyncGenerator[dict[str, str]]:
    body = {name: value for name, value in _activity_call(request).items() if name != "activity"}
    action, policy = catalogue.parse_as(GetActivity, body), services(request).policy
    policy.check(caller, action)
    own = policy.narrowed(caller, action)
    row_filter = search.row_filter(own, caller.client_id, datetime.now().astimezone())

    async def feed() -> AsyncGenerator[dict[str, str]]:
        with services(request).ledger.activity.watch(row_filter, caller.client_id) as watcher:
            yield {"event": "hello", "data": json.dumps({"catalogue": written.fingerprint()})}
            while (record := await watcher.next()) is not None:
                if isinstance(record, int):
                    yield {"event": "dropped", "data": json.dumps({"count": record})}
                else:
                    yield {"event": "activity", "data": record.model_dump_json(exclude_none=True)}

    return feed()


async def _run(request: Request, caller: Identity, body: Json, page_id: str | None = None) -> Response:
    call_id = _call_id(request)
    call = FrontCall(
        caller,
        body,
        path_page=page_id,
        call_id=call_id or "",
        attempt=_number(request, wire.ATTEMPT, 1),
        inline_text=_number(request, wire.INLINE, 0) or None,
        request_id=request.state.request_id,
        parent_span={name: text for name in wire.TRACE_CONTEXT if (text := request.headers.get(name))},
    )
    form = asked_form(request.headers.get(wire.REPLY))
    run = services(request).dispatcher.run(call)
    reply = await (run if call_id is not None else _unless_gone(request, caller, asyncio.ensure_future(run)))
    is_first = call.attempt == 1  # the reply to an earlier attempt may have been lost
    reader = services(request).readers.reader(caller.client_id, body, page_id) if is_first else None
    return _response(request, in_form(reply, body, form, request.headers.get(wire.CATALOGUE), reader))


async def _unless_gone(request: Request, caller: Identity, work: "asyncio.Future[Reply]") -> Reply:
    """Cancel the call when its connection ends: without a callId, nobody can ask for its reply again."""
    disconnected = asyncio.ensure_future(_disconnected(request))
    both: set[asyncio.Future[Reply] | asyncio.Future[None]] = {work, disconnected}
    await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
    disconnected.cancel()
    if not work.done():
        await services(request).host_calls.cancel(caller.client_id, request.state.request_id)
    return await work


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def body_of(request: Request) -> Json:
    try:
        raw = await request.body()
    except ClientDisconnect:  # for instance a gateway that was killed
        raise InvalidRequest("The connection ended before its request did.") from None
    try:
        body = strict.loads(raw.removeprefix(codecs.BOM_UTF8))
    except ValueError as error:
        raise InvalidRequest(
            f"The body is no JSON: {error}", hint='Send {"action": "goto", "url": "https://example.com"}.'
        ) from None
    if not isinstance(body, dict):
        raise InvalidRequest("The body must be a JSON object.", hint='Send {"action": "list_pages"}.')
    return cast("Json", body)  # from JSON


def _call_id(request: Request) -> str | None:
    call_id = request.headers.get(wire.CALL_ID)
    if call_id is not None and not wire.is_call_id(call_id):
        raise InvalidRequest(
            f"{wire.CALL_ID} {call_id[:80]!r} is not a valid id.", hint="Letters, digits, '.', '_', '-'."
        )
    return call_id


def _number(request: Request, header: str, default: int) -> int:
    value = request.headers.get(header, "")
    return int(value) if value.isdecimal() and value.isascii() and len(value) < 10 else default  # noqa: PLR2004 - an int of any sense


def done(request: Request, result: Json) -> JSONResponse:
    return _response(request, Reply(200, {"success": True, "result": result, "page": None, "notices": []}))


def _response(request: Request, reply: Reply) -> JSONResponse:
    headers = {wire.CATALOGUE: written.fingerprint(), wire.REQUEST_ID: request.state.request_id}
    if reply.retry_after_s is not None:
        headers["Retry-After"] = str(reply.retry_after_s)
    return JSONResponse(reply.body, status_code=reply.status, headers=headers)
