"""Calls the service over HTTP. Each call is done once, however often it is sent."""

import asyncio
import contextlib
import copy
import functools
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from http import HTTPStatus
from types import MappingProxyType
from typing import Final
from urllib.parse import quote

import httpx
from httpx_sse import ServerSentEvent, aconnect_sse
from pydantic import ValidationError

from browse_together.client import unavailable
from browse_together.client.autostart import Autostart
from browse_together.client.credentials import Credentials
from browse_together.client.delivery import Delivery, LastReply, now
from browse_together.client.instance import START_WITHIN_S
from browse_together.client.proven import ProvenTransport, Prover
from browse_together.client.reply import Failure, Reply
from browse_together.contract import wire
from browse_together.contract.background import AtMost, Background
from browse_together.contract.errors import ResourceExhausted, ServiceUnavailable, Unauthorized
from browse_together.contract.model import Json
from browse_together.contract.replies import ForTerminal, ReplyForm

UNREACHED: Final = (httpx.HTTPError, OSError, ServiceUnavailable)
"""Errors of a request whose failure may be ignored."""
_NEVER_SENT: Final = (httpx.ConnectError, httpx.ConnectTimeout)
_BROKEN: Final = (httpx.ReadError, httpx.WriteError, httpx.WriteTimeout, httpx.RemoteProtocolError)
_FILE_BYTES: Final = wire.MAX_MESSAGE_BYTES * 7 // 10
_RECENT_S: Final = 60.0
_RETRY_AFTER_S: Final = 0.25
_TIMEOUT: Final = httpx.Timeout(60, connect=5)


class ServiceClient:
    """The service at one address, as one client calls it. Other clients may share the connections: `as_client`."""

    retry_for_s = 20.0
    """For this long after a broken connection, in seconds, a call is sent again."""

    def __init__(
        self, url: str, credentials: Credentials, autostart: Autostart, catalogue: str, *, is_proven: bool = False
    ) -> None:
        """With `is_proven`, a service of this machine must prove itself even before a given token is sent."""
        self.url = self.people_url = url
        """Where this client reaches the service, and where people do."""
        self.credentials, self.autostart = credentials, autostart
        self.other_catalogue = ""
        """The fingerprint of the service's catalogue if it differs from ours, else empty."""
        self._catalogue = catalogue
        self._last_reply, self._background = LastReply(), Background()
        prover = Prover(url, credentials.data_dir, given_token=credentials.are_given and not is_proven)
        self._transport = ProvenTransport(prover)
        make = functools.partial(httpx.AsyncClient, base_url=url, timeout=_TIMEOUT, trust_env=False)
        self.http, self._streams = make(transport=self._transport), make(transport=ProvenTransport(prover))
        """Event streams use separate connections, because each call looks through all connections of its pool."""

    def as_client(self, credentials: Credentials, autostart: Autostart | None = None) -> "ServiceClient":
        """Return another client of the service that shares these connections, and may start the service differently."""
        client = copy.copy(self)
        client.credentials, client.autostart = credentials, autostart or self.autostart
        return client

    async def call(
        self,
        call_id: str,
        body: Json,
        form: ReplyForm | None = None,
        attempt: int = 1,
        trace: Mapping[str, str] = MappingProxyType({}),
        *,
        session: str | None = None,
    ) -> Reply:
        """Return the reply to a call in the given form, or without one the whole envelope. Raises ServiceUnavailable,
        with the tool's name, if there is no reply.

        If the service does not run, this starts it, once. If the connection breaks, here or behind a proxy, the call is
        sent again under its id, for `retry_for_s` after the break; likewise if an ending service refused it. `attempt`
        is 2 if another process may already have sent the call; `trace` is the span that it belongs to, and `session`
        is where it goes if it names no other.
        """
        try:
            headers = {wire.CALL_ID: call_id, **trace, **_form_headers(form)}
            headers |= {wire.SESSION: session} if session else {}
            return await self._deliver(call_id, body, headers, Delivery(self.autostart.enabled, attempt))
        except ServiceUnavailable as error:
            error.details["tool"] = body["action"]
            raise

    async def _deliver(self, call_id: str, body: Json, headers: Mapping[str, str], delivery: Delivery) -> Reply:
        while True:
            try:
                reply = await self._post(body, headers, delivery.attempt)
                if not _is_ending(reply) or delivery.is_over:
                    self._last_reply.at = now()
                    return reply
            except _NEVER_SENT as error:
                if delivery.may_start:
                    delivery.may_start = False
                    await self.start(may_have_happened=delivery.attempt > 1)
                    continue
                if delivery.attempt == 1 and not self._may_be_back(delivery):
                    raise unavailable.not_running(self.url, str(error)) from None
            except _BROKEN:
                delivery.attempt = 2
            except ServiceUnavailable as error:
                if not (unavailable.is_not_passed_on(error) and self._may_be_back(delivery)):
                    raise
                delivery.attempt = 2
            except httpx.TimeoutException:
                raise unavailable.no_answer(self.url, str(body["action"]), call_id) from None
            await self._wait_for_service(delivery, str(body["action"]), call_id)

    async def started(self) -> None:
        """Wait for a start in progress. Raises ServiceUnavailable if it fails."""
        if self.autostart.is_under_way:
            await self.start()

    async def start(self, *, may_have_happened: bool = False) -> None:
        """Start the service. Raises ServiceUnavailable with the reason if it does not run."""
        if not self.autostart.enabled:
            raise unavailable.not_running(self.url)
        if note := self.autostart.kept_down:
            raise unavailable.kept_down(self.url, note.words, may_have_happened=may_have_happened)
        try:
            problem = await asyncio.wait_for(asyncio.wrap_future(self.autostart.begin()), START_WITHIN_S)
        except TimeoutError:
            problem = f"it has not started after {START_WITHIN_S:.0f} s."
        if problem:
            log = self.autostart.data_dir / wire.LOG_FILE
            raise unavailable.not_started(self.url, problem, log)

    def cancel(self, call_id: str) -> None:
        """Cancel a call in the service, in a separate task, because the current task is being cancelled. After `close`
        this does nothing: the service notices the closed connection."""
        if self.http.is_closed:
            return
        self._background.spawn(self._cancel(call_id))

    def depart(self) -> None:
        """Say in a separate task that this client leaves for good, so that its pages are free at once."""
        if not self.http.is_closed:
            self._background.spawn(self._depart())

    async def _depart(self) -> None:
        with contextlib.suppress(*UNREACHED):  # its pages are free a little later
            await self.request("DELETE", wire.EVENTS)

    async def resolve(self, request_id: str, resolution: Mapping[str, str]) -> Failure | None:
        """Answer a request to a person, for the person in this client's chat; the first answer counts. Returns the
        service's error if it refuses the answer. An answer that cannot reach the service is lost."""
        path = f"{wire.REQUESTS}/{quote(request_id, safe='')}/resolve"
        headers = {"Authorization": f"Bearer {self.credentials.person_key(request_id)}"}
        with contextlib.suppress(*UNREACHED):
            return self._read(await self.http.post(path, json=dict(resolution), headers=headers)).error
        return None

    async def request(
        self, method: str, path: str, *, params: Mapping[str, str] | None = None, json: Json | None = None
    ) -> Reply:
        """Return the reply to a request that is no call. Raises the errors in UNREACHED."""
        return self._read(
            await self._authorized(lambda key: self.http.request(method, path, params=params, json=json, headers=key))
        )

    async def reply_to(self, call_id: str, form: ReplyForm | None = None) -> Reply:
        """Return the reply to an earlier call in the given form, and under `call` how far it is. Raises the errors in
        UNREACHED."""
        path, asked = f"{wire.CALLS}/{quote(call_id, safe='')}/reply", _form_headers(form)
        return self._read(await self._authorized(lambda key: self.http.get(path, headers={**asked, **key})))

    async def card(self, page_id: str, after: int | None) -> Reply:
        """Return what a chat's card shows of a page after event `after`; None stops the client there. Raises the errors
        in UNREACHED."""
        method, path = ("POST" if after is None else "GET"), f"{wire.WALL_CARD}/{page_id}?after={after or 0}"
        return await self.request(method, path, json={} if after is None else None)

    async def file(self, artifact_id: str) -> tuple[str, bytes] | None:
        """Return MIME type and bytes of a file from this client's calls; None if there is none. Raises
        ResourceExhausted for a file too large for a message, ServiceUnavailable, Unauthorized."""
        try:
            path = f"{wire.FILES}/{quote(artifact_id, safe='')}"
            async with self.http.stream("GET", path, headers=self.credentials.headers()) as response:
                if response.is_success:
                    _check_size(artifact_id, int(response.headers.get("content-length", 0)))
                await response.aread()
        except httpx.HTTPError as error:
            raise unavailable.not_running(self.url, str(error) or type(error).__name__) from None
        if response.status_code == HTTPStatus.UNAUTHORIZED and (failure := self._read(response).error):
            raise Unauthorized(failure.message, hint=failure.hint)
        return (response.headers["content-type"], response.content) if response.is_success else None

    async def upload(self, data: bytes) -> str:
        """Upload a file before the call that names it. Returns its artifactId. Raises ServiceUnavailable, and Relayed
        for the service's error."""
        await self.started()
        try:
            response = await self._authorized(functools.partial(self._put, data))
        except _NEVER_SENT:
            await self.start()
            response = await self._authorized(functools.partial(self._put, data))
        reply = self._read(response)
        if reply.error:
            raise reply.error.relayed(response.status_code)
        return str(reply.result["artifactId"])

    @asynccontextmanager
    async def events(self, *, pages: bool = True) -> AsyncIterator[AsyncIterator[ServerSentEvent]]:
        """Open a stream of events, of `pages` too or only of calls. While it is open, the service counts the client as
        present. Raises HTTPError if it cannot be opened."""
        path, headers = f"{wire.EVENTS}?pages={int(pages)}", self.credentials.headers()
        async with aconnect_sse(self._streams, "GET", path, headers=headers) as source:
            if source.response.status_code == HTTPStatus.UNAUTHORIZED:
                self.credentials.forget()
            source.response.raise_for_status()
            yield source.aiter_sse()

    async def close(self, within_s: float) -> None:
        """Finish running cancellations and departures, and close the connections of all clients that share them."""
        async with AtMost(within_s):
            await self._background.finish()
            await self._streams.aclose()
            await self.http.aclose()

    async def _wait_for_service(self, delivery: Delivery, action: str, call_id: str) -> None:
        """Wait a moment before the call is sent again. Raises ServiceUnavailable when it is too late."""
        delivery.give_up_at = delivery.give_up_at or now() + self.retry_for_s
        if delivery.is_over:
            if delivery.attempt == 1:
                raise unavailable.not_running(self.url)
            raise unavailable.broken_off(self.url, action, call_id)
        await asyncio.sleep(_RETRY_AFTER_S)  # a refused connection fails at once, but a starting service needs a moment

    def _may_be_back(self, delivery: Delivery) -> bool:
        """Return whether an unreachable service is probably just restarting, because it replied recently."""
        if delivery.give_up_at:
            return not delivery.is_over
        return self._last_reply.at > 0 and now() - self._last_reply.at < _RECENT_S

    async def _cancel(self, call_id: str) -> None:
        with contextlib.suppress(*UNREACHED):
            await self.http.post(f"{wire.CALLS}/{call_id}/cancel", json={}, headers=self.credentials.headers())

    async def _post(self, body: Json, given: Mapping[str, str], attempt: int) -> Reply:
        own = {wire.ATTEMPT: str(attempt), wire.CATALOGUE: self._catalogue, "Content-Type": "application/json"}
        headers = {**given, **own}
        path, content = wire.call_path(body.get("pageId")), json.dumps(body).encode()
        return self._read(await self._authorized(lambda token: self._send(path, content, headers | token)))

    async def _authorized(self, send: Callable[[dict[str, str]], Awaitable[httpx.Response]]) -> httpx.Response:
        """Send with the token's header, and if that is refused, once more with a new token."""
        response = await send(self.credentials.headers())
        if response.status_code == HTTPStatus.UNAUTHORIZED:
            self.credentials.forget()
            response = await send(self.credentials.headers())
        return response

    async def _send(self, path: str, content: bytes, headers: dict[str, str]) -> httpx.Response:
        """Send directly by the transport, because httpx's handling of URLs, cookies and redirects would double the
        time."""
        request = httpx.Request(
            "POST",
            _url(self.http.base_url, path),
            headers=headers,
            content=content,
            extensions={"timeout": _TIMEOUT.as_dict()},
        )
        try:
            response = await self._transport.handle_async_request(request)
            await response.aread()
        except AttributeError as error:  # raised by anyio if the socket was closed at that moment
            raise httpx.ReadError("The connection ended.") from error
        return response

    async def _put(self, data: bytes, token: dict[str, str]) -> httpx.Response:
        headers = token | {"Content-Type": "application/octet-stream"}
        try:
            return await self.http.put(wire.FILES, content=data, headers=headers)
        except _NEVER_SENT:
            raise
        except httpx.HTTPError as error:
            raise ServiceUnavailable(f"The file could not be sent: {error}", hint="Repeat the call.") from None

    def _read(self, response: httpx.Response) -> Reply:
        """Parse the reply in a response. If the token was refused, its error names the token's source."""
        catalogue = response.headers.get(wire.CATALOGUE, "")
        self.other_catalogue = catalogue if catalogue != self._catalogue else ""
        try:
            reply = Reply.model_validate_json(response.content)
        except ValidationError:
            raise unavailable.another_answers(self.url, response.status_code) from None
        if reply.error and response.status_code == HTTPStatus.UNAUTHORIZED:
            reply.error.hint = " ".join(filter(None, [reply.error.hint, self.credentials.source]))
        return reply


def _check_size(artifact_id: str, size: int) -> None:
    if size > _FILE_BYTES:
        raise ResourceExhausted(
            f"The file has {size:,} bytes, and one message carries {_FILE_BYTES:,}.",
            hint=f"A person saves it: browse-together save {artifact_id} FILE.",
        )


def _is_ending(reply: Reply) -> bool:
    """Return whether the service refused the call because it is ending. The next service may do it."""
    return reply.error is not None and reply.error.context.get("ending") is True


@functools.lru_cache(maxsize=64)
def _form_headers(form: ReplyForm | None) -> dict[str, str]:
    """Return the headers that request a form, with no more text than a chat takes. A program without a form, and a
    terminal, get all."""
    if form is None:
        return {}
    most = {} if isinstance(form, ForTerminal) else {wire.INLINE: str(wire.INLINE_TEXT)}
    return {wire.REPLY: form.model_dump_json(), **most}


@functools.lru_cache(maxsize=64)
def _url(base: httpx.URL, path: str) -> httpx.URL:
    return httpx.URL(str(base).rstrip("/") + path)
