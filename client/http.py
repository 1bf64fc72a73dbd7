"""Calls go to the service over HTTP: each is done once, however often it must be sent."""

import asyncio
import contextlib
import copy
import functools
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final
from urllib.parse import quote

import httpx
from httpx_sse import ServerSentEvent, aconnect_sse
from pydantic import ValidationError

from client import unavailable
from client.autostart import Autostart
from client.credentials import Credentials
from client.instance import START_WITHIN_S
from client.reply import Failure, Reply
from shared import wire
from shared.errors import ErrorBody, Relayed, ResourceExhausted, ServiceUnavailable, Unauthorized
from shared.model import Json
from shared.replies import ReplyForm

UNREACHED: Final = (httpx.HTTPError, OSError, ServiceUnavailable)
"""These say that what nobody waits for did not get to the service."""
_NEVER_SENT: Final = (httpx.ConnectError, httpx.ConnectTimeout)
_BROKEN: Final = (httpx.ReadError, httpx.WriteError, httpx.WriteTimeout, httpx.RemoteProtocolError)
_FILE_BYTES: Final = wire.MAX_MESSAGE_BYTES * 7 // 10
"""Base64 of it still fits in one message."""
_LATELY_S: Final = 60.0
_PAUSE_S: Final = 0.25
_PATIENCE: Final = httpx.Timeout(60, connect=5)


@dataclass
class _Answered:
    """Remembers when the service answered last, to whichever client shares these connections."""

    at: float = 0.0


@dataclass
class _Sending:
    """Counts how often one call is sent, and knows until when."""

    may_start: bool
    patience_s: float
    attempt: int = 1
    """2 once the service may have got it, which is then told that it may know it."""
    give_up_at: float = 0.0

    @property
    def is_over(self) -> bool:
        return self.give_up_at > 0 and _now() > self.give_up_at

    def failed(self) -> None:
        """Begin to count the time, at the first failure."""
        self.give_up_at = self.give_up_at or _now() + self.patience_s


class ServiceClient:
    """Reaches the service at one address as one client. Others may share its connections: `as_client`."""

    patience_s = 20.0
    """A call that was broken off is sent again for so many seconds from the break."""

    def __init__(self, url: str, credentials: Credentials, autostart: Autostart, catalogue: str) -> None:
        self.url = url
        self.credentials = credentials
        self.autostart = autostart
        self.other_catalogue = ""
        """The fingerprint of the service's catalogue, while it is another than ours."""
        self._catalogue = catalogue
        self._answered = _Answered()
        self._detached: set[asyncio.Task[None]] = set()
        # A TLS context costs 30 ms. Idle connections are dropped before a server would (uvicorn: 5 s): one that it
        # closes under a request would make an unknown outcome of a call that never happened.
        self._transport = httpx.AsyncHTTPTransport(
            verify=url.startswith("https:"), limits=httpx.Limits(keepalive_expiry=4.0), trust_env=False
        )
        self.http = httpx.AsyncClient(base_url=url, transport=self._transport, timeout=_PATIENCE, trust_env=False)

    def as_client(self, credentials: Credentials) -> "ServiceClient":
        """Return the same service over the same connections, as another client reaches it."""
        other = copy.copy(self)
        other.credentials = credentials
        return other

    async def call(self, call_id: str, body: Json, form: ReplyForm | None = None) -> Reply:
        """Return the reply to a call: in a form, or without one the whole envelope. Raises ServiceUnavailable where
        there is none to be had.

        A call that cannot be sent starts the service, once. One whose connection breaks is sent again under its id, for
        `patience_s` from the break; so is one that a service which ends says it has not done.
        """
        sending = _Sending(may_start=self.autostart.enabled, patience_s=self.patience_s)
        while True:
            try:
                reply = await self._post(call_id, body, form, sending.attempt)
                if not _was_ending(reply) or sending.is_over:
                    self._answered.at = _now()
                    return reply
            except _NEVER_SENT as error:
                if sending.may_start:
                    sending.may_start = False
                    await self.start()
                    continue
                if sending.attempt == 1 and not self._may_be_back(sending):
                    raise unavailable.not_running(self.url, str(error)) from None
            except _BROKEN:
                sending.attempt = 2
            except httpx.TimeoutException:
                raise unavailable.no_answer(self.url, str(body["action"]), call_id) from None
            sending.failed()
            if sending.is_over:
                if sending.attempt == 1:
                    raise unavailable.not_running(self.url)
                raise unavailable.broken_off(self.url, str(body["action"]), call_id)
            await asyncio.sleep(_PAUSE_S)  # a refused connection fails at once: a starting service needs a moment

    async def started(self) -> None:
        """Wait for a start that is under way. Raises ServiceUnavailable where it fails."""
        if self.autostart.is_under_way:
            await self.start()

    async def start(self) -> None:
        """Have the service started. Raises ServiceUnavailable, saying why it is not there."""
        if not self.autostart.enabled:
            raise unavailable.not_running(self.url)
        try:
            problem = await asyncio.wait_for(asyncio.wrap_future(self.autostart.begin()), START_WITHIN_S)
        except TimeoutError:
            problem = f"it has not started after {START_WITHIN_S:.0f} s."
        if problem:
            log = self.autostart.data_dir / wire.LOG_FILE
            raise unavailable.not_started(self.url, problem, log)

    def cancel(self, call_id: str) -> None:
        """Tell the service, whatever becomes of the task that we are in."""
        task = asyncio.create_task(self._cancel(call_id))
        self._detached.add(task)
        task.add_done_callback(self._detached.discard)

    async def resolve(self, request_id: str, resolution: Mapping[str, str]) -> Failure | None:
        """Answer what people are asked for; who was first is the one who counts. Returns the service's refusal, if it
        refused the answer; an answer that does not reach the service is lost."""
        path = f"{wire.REQUESTS}/{quote(request_id, safe='')}/resolve"
        with contextlib.suppress(*UNREACHED):
            return self._read(await self.http.post(path, json=dict(resolution), headers=self._headers())).error
        return None

    async def file(self, artifact_id: str) -> tuple[str, bytes] | None:
        """Return MIME type and bytes of a file that this client's calls made; None where there is none. Raises
        ResourceExhausted for one that no message can carry, ServiceUnavailable, Unauthorized."""
        try:
            path = f"{wire.FILES}/{quote(artifact_id, safe='')}"
            async with self.http.stream("GET", path, headers=self._headers()) as found:
                if found.is_success:
                    _check_size(artifact_id, int(found.headers.get("content-length", 0)))
                await found.aread()
        except httpx.HTTPError as error:
            raise unavailable.not_running(self.url, str(error) or type(error).__name__) from None
        if found.status_code == HTTPStatus.UNAUTHORIZED and (refused := self._read(found).error):
            raise Unauthorized(refused.message, hint=refused.hint)
        return (found.headers["content-type"], found.content) if found.is_success else None

    async def upload(self, data: bytes) -> str:
        """Send a file ahead of the call that names it. Returns its artifactId; raises ServiceUnavailable, and Relayed
        for what the service refuses."""
        await self.started()
        try:
            sent = await self._put(data)
        except _NEVER_SENT:
            await self.start()
            sent = await self._put(data)
        if sent.status_code == HTTPStatus.UNAUTHORIZED:
            self.credentials.forget()
            sent = await self._put(data)
        reply = self._read(sent)
        if reply.error:
            known = reply.error.model_dump(include={"code", "message", "hint", "details", "request_id"})
            raise Relayed(ErrorBody(status=sent.status_code, **known))
        return str(reply.result["artifactId"])

    @asynccontextmanager
    async def events(self) -> AsyncIterator[AsyncIterator[ServerSentEvent]]:
        """Hold a stream of events: the service takes the client for present meanwhile. Raises HTTPError where it
        cannot be had."""
        async with aconnect_sse(self.http, "GET", wire.EVENTS, headers=self._headers()) as source:
            if source.response.status_code == HTTPStatus.UNAUTHORIZED:
                self.credentials.forget()
            source.response.raise_for_status()
            yield source.aiter_sse()

    async def close(self, within_s: float) -> None:
        """Say the last words, such as cancellations, and close the connections of all that share them."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                await asyncio.gather(*self._detached)
                await self.http.aclose()

    def _may_be_back(self, sending: _Sending) -> bool:
        """Say whether a service that cannot be reached is likely to be just restarting: it answered lately."""
        if sending.give_up_at:
            return not sending.is_over
        return self._answered.at > 0 and _now() - self._answered.at < _LATELY_S

    async def _cancel(self, call_id: str) -> None:
        with contextlib.suppress(*UNREACHED):
            await self.http.post(f"{wire.CALLS}/{call_id}/cancel", json={}, headers=self._headers())

    async def _post(self, call_id: str, body: Json, form: ReplyForm | None, attempt: int) -> Reply:
        headers = {
            wire.CALL_ID: call_id,
            wire.ATTEMPT: str(attempt),
            wire.INLINE: str(wire.INLINE_TEXT),
            wire.CATALOGUE: self._catalogue,
            "Content-Type": "application/json",
            **_form_header(form),
        }
        path, content = wire.call_path(body.get("pageId")), json.dumps(body).encode()
        response = await self._send(path, content, headers | self._headers())
        if response.status_code == HTTPStatus.UNAUTHORIZED:
            self.credentials.forget()
            response = await self._send(path, content, headers | self._headers())
        return self._read(response)

    async def _send(self, path: str, content: bytes, headers: dict[str, str]) -> httpx.Response:
        """Send by the transport alone: a client's merging of URLs, its cookies and its redirects take as long again."""
        request = httpx.Request(
            "POST",
            _url(self.http.base_url, path),
            headers=headers,
            content=content,
            extensions={"timeout": _PATIENCE.as_dict()},
        )
        try:
            response = await self._transport.handle_async_request(request)
            await response.aread()
        except AttributeError as error:  # anyio's, of a socket that was closed in that very moment
            raise httpx.ReadError("The connection ended.") from error
        return response

    async def _put(self, data: bytes) -> httpx.Response:
        headers = self._headers() | {"Content-Type": "application/octet-stream"}
        try:
            return await self.http.put(wire.FILES, content=data, headers=headers)
        except _NEVER_SENT:
            raise
        except httpx.HTTPError as error:
            raise ServiceUnavailable(f"The file could not be sent: {error}", hint="Repeat the call.") from None

    def _headers(self) -> dict[str, str]:
        return self.credentials.headers()

    def _read(self, response: httpx.Response) -> Reply:
        """Return the reply in a response. The refusal of a token says where we have it from."""
        theirs = response.headers.get(wire.CATALOGUE, "")
        self.other_catalogue = theirs if theirs != self._catalogue else ""
        try:
            reply = Reply.model_validate_json(response.content)
        except ValidationError:
            raise unavailable.another_program(self.url, response.status_code) from None
        if reply.error and response.status_code == HTTPStatus.UNAUTHORIZED:
            reply.error.hint = " ".join(filter(None, [reply.error.hint, self.credentials.source]))
        return reply


def _check_size(artifact_id: str, size: int) -> None:
    if size > _FILE_BYTES:
        raise ResourceExhausted(
            f"The file has {size:,} bytes, and one message carries {_FILE_BYTES:,}.",
            hint=f"A person saves it: browse-together save {artifact_id} FILE.",
        )


def _was_ending(reply: Reply) -> bool:
    """Say whether a service that ends says that it did not do the call, which the next one may."""
    return reply.error is not None and reply.error.context.get("ending") is True


@functools.lru_cache(maxsize=64)
def _form_header(form: ReplyForm | None) -> dict[str, str]:
    return {} if form is None else {wire.REPLY: form.model_dump_json()}


@functools.lru_cache(maxsize=64)
def _url(base: httpx.URL, path: str) -> httpx.URL:
    return httpx.URL(str(base).rstrip("/") + path)


def _now() -> float:
    return asyncio.get_running_loop().time()
