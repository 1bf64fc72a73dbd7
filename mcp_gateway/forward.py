"""Tool calls as HTTP requests to the browser service, over one kept client."""

import asyncio
import contextlib
import copy
import functools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import quote, urlsplit

import httpx
import structlog
from pydantic import JsonValue, ValidationError
from pydantic.alias_generators import to_camel

from mcp_gateway.autostart import START_WITHIN_S, Autostart
from mcp_gateway.convert import Reply
from mcp_gateway.faults import Faults
from mcp_gateway.identity import Identity
from mcp_gateway.settings import Settings
from shared import catalogue, wire
from shared.actions.base import Unaddressed
from shared.errors import ErrorBody, Relayed, ResourceExhausted, ServiceUnavailable, Unauthorized

Arguments = Mapping[str, JsonValue]

_FILE_BYTES = wire.MAX_MESSAGE_BYTES * 7 // 10
"""Base64 of it still fits in one message."""
_NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout)
_BROKEN = (httpx.ReadError, httpx.WriteError, httpx.WriteTimeout, httpx.RemoteProtocolError)
UNREACHED = (httpx.HTTPError, OSError, ServiceUnavailable)
"""Why what nobody waits for did not get to the service."""
_LOOK_FIRST = "It may or may not have happened: look first (snapshot {}), then decide whether to repeat it."
_OTHER_VERSION = "Gateway and service are of different versions: restart the older one."
_NO_ANSWER = 422
"""The status of what does not fit the question."""
_LATELY_S = 60.0
_PATIENCE = httpx.Timeout(60, connect=5)

log = structlog.get_logger()


@dataclass
class Seen:
    """When the service answered last, to whichever client of this gateway."""

    at: float = 0.0


class Service:
    """The browser service as this gateway reaches it."""

    patience_s = 20.0
    """How long a call that was broken off is sent again, from the break."""

    def __init__(self, settings: Settings, identity: Identity, autostart: Autostart) -> None:
        self.settings = settings
        self.identity = identity
        self.autostart = autostart
        self.advice = ""
        """A line for failed results, while the service turns out to have another catalogue."""
        self.faults = Faults()
        self._seen = Seen()
        self._detached: set[asyncio.Task[None]] = set()
        # A TLS context costs 30 ms. Idle connections are dropped before a server would (uvicorn: 5 s): one that it
        # closes under a request would make an unknown outcome of a call that never happened.
        self._transport = httpx.AsyncHTTPTransport(
            verify=settings.url.startswith("https:"), limits=httpx.Limits(keepalive_expiry=4.0), trust_env=False
        )
        self.http = httpx.AsyncClient(
            base_url=settings.url, transport=self._transport, timeout=_PATIENCE, trust_env=False
        )

    def for_client(self, identity: Identity) -> "Service":
        """The same service and connection, as another client reaches it."""
        other = copy.copy(self)
        other.identity = identity
        return other

    async def call(self, call_id: str, tool: str, arguments: Arguments) -> Reply:
        """Raises ServiceUnavailable when there is no reply to be had."""
        attempt, may_start, give_up_at = 1, True, 0.0
        while True:
            try:
                reply = await self._post(call_id, tool, arguments, attempt)
                if not _was_ending(reply) or (give_up_at and _now() > give_up_at):
                    self._seen.at = _now()
                    return reply
                give_up_at = give_up_at or _now() + self.patience_s
            except _NEVER_SENT as error:
                if may_start and self.autostart.enabled:
                    await self.start()
                    may_start = False
                    continue
                if attempt == 1 and not self._may_be_back(give_up_at):
                    raise self.not_running(str(error)) from None
                give_up_at = give_up_at or _now() + self.patience_s
            except _BROKEN:
                give_up_at = give_up_at or _now() + self.patience_s
                attempt = 2
            except httpx.TimeoutException:
                message = f"The browser service has not answered {tool} for a minute."
                hint = f'It may still be at it: get_call {{"callId": "{call_id}"}}.'
                raise self._unavailable("no answer", message, hint, tool=tool, call_id=call_id) from None
            if _now() > give_up_at:
                if attempt == 1:
                    raise self.not_running()
                message = f"The connection to the browser service broke during {tool}, and it has not come back."
                raise self._unavailable("broken off", message, _LOOK_FIRST, tool=tool, call_id=call_id)
            await asyncio.sleep(0.25)

    def _may_be_back(self, give_up_at: float) -> bool:
        """Whether a service that cannot be reached is likely to be just restarting: it answered lately."""
        if give_up_at:
            return _now() <= give_up_at
        return self._seen.at > 0 and _now() - self._seen.at < _LATELY_S

    async def started(self) -> None:
        """Wait for a start that is under way."""
        if self.autostart.is_under_way:
            await self.start()

    async def start(self) -> None:
        """Have the service started, or say why it is not there."""
        if not self.autostart.enabled:
            raise self.not_running()
        try:
            problem = await asyncio.wait_for(asyncio.wrap_future(self.autostart.begin()), START_WITHIN_S)
        except TimeoutError:
            problem = f"it has not started after {START_WITHIN_S:.0f} s."
        if problem:
            hint = (
                "`browse-together doctor` says what is missing; its whole log is in "
                f"{self.settings.data_dir / wire.LOG_FILE}."
            )
            raise self._unavailable("not started", f"The browser service could not be started: {problem}", hint)

    def cancel(self, call_id: str) -> None:
        """Tell the service, whatever becomes of the task that we are in."""
        task = asyncio.create_task(self._cancel(call_id))
        self._detached.add(task)
        task.add_done_callback(self._detached.discard)

    async def resolve(self, request_id: str, resolution: Mapping[str, str]) -> str:
        """Bring the answer of the person in this chat; whoever was first is the one who counts. Why it is no answer to
        what was asked, if it is none."""
        path = f"{wire.REQUESTS}/{quote(request_id, safe='')}/resolve"
        with contextlib.suppress(*UNREACHED):
            reply = await self.http.post(path, json=dict(resolution), headers=self.identity.headers())
            if not reply.is_success:
                log.info("an answer came too late or does not fit", request=request_id, status=reply.status_code)
            if reply.status_code == _NO_ANSWER:
                return str(reply.json()["error"]["message"])
        return ""

    async def file(self, artifact_id: str) -> tuple[str, bytes] | None:
        """MIME type and bytes of a file that this client's calls made; none where there is none. Raises
        ResourceExhausted for one that no message can carry."""
        try:
            path = f"{wire.FILES}/{quote(artifact_id, safe='')}"
            async with self.http.stream("GET", path, headers=self.identity.headers()) as found:
                if found.is_success and (size := int(found.headers.get("content-length", 0))) > _FILE_BYTES:
                    raise ResourceExhausted(
                        f"The file has {size:,} bytes, and one message carries {_FILE_BYTES:,}.",
                        hint=f"A person saves it: browse-together save {artifact_id} FILE.",
                    )
                await found.aread()
        except httpx.HTTPError as error:
            raise self.not_running(str(error) or type(error).__name__) from None
        if found.status_code == HTTPStatus.UNAUTHORIZED and (refused := self._refusal(self._read(found)).error):
            raise Unauthorized(refused.message, hint=refused.hint)
        return (found.headers["content-type"], found.content) if found.is_success else None

    async def upload(self, data: bytes) -> str:
        """The artifactId of a file that is sent ahead of the call that names it."""
        await self.started()
        try:
            sent = await self._put(data)
        except _NEVER_SENT:
            await self.start()
            sent = await self._put(data)
        if sent.status_code == HTTPStatus.UNAUTHORIZED:
            self.identity.forget()
            sent = await self._put(data)
        reply = self._read(sent)
        if sent.status_code == HTTPStatus.UNAUTHORIZED:
            reply = self._refusal(reply)
        if reply.error:
            known = reply.error.model_dump(include={"code", "message", "hint", "details", "request_id"})
            raise Relayed(ErrorBody(status=sent.status_code, **known))
        return str(reply.result["artifactId"])

    async def _put(self, data: bytes) -> httpx.Response:
        headers = self.identity.headers() | {"Content-Type": "application/octet-stream"}
        try:
            return await self.http.put(wire.FILES, content=data, headers=headers)
        except _NEVER_SENT:
            raise
        except httpx.HTTPError as error:
            raise ServiceUnavailable(f"The file could not be sent: {error}", hint="Repeat the call.") from None

    async def close(self, within_s: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                await asyncio.gather(*self._detached)
                await self.http.aclose()

    async def _cancel(self, call_id: str) -> None:
        with contextlib.suppress(*UNREACHED):
            await self.http.post(f"{wire.CALLS}/{call_id}/cancel", json={}, headers=self.identity.headers())

    async def _post(self, call_id: str, tool: str, arguments: Arguments, attempt: int) -> Reply:
        path, body = self._addressed(tool, arguments)
        headers = {
            wire.CALL_ID: call_id,
            wire.ATTEMPT: str(attempt),
            wire.INLINE: str(wire.INLINE_TEXT),
            wire.CATALOGUE: catalogue.fingerprint(),
        }
        content = json.dumps(body).encode()
        response = await self._send(path, content, headers | self.identity.headers())
        if response.status_code == HTTPStatus.UNAUTHORIZED:
            self.identity.forget()
            response = await self._send(path, content, headers | self.identity.headers())
        reply = self._read(response)
        return self._refusal(reply) if response.status_code == HTTPStatus.UNAUTHORIZED else reply

    def _refusal(self, reply: Reply) -> Reply:
        """The refusal of a token, with where this gateway has it from."""
        if reply.error is None:
            return reply
        hint = " ".join(filter(None, [reply.error.hint, self.identity.source]))
        return reply.model_copy(update={"error": reply.error.model_copy(update={"hint": hint})})

    async def _send(self, path: str, content: bytes, headers: dict[str, str]) -> httpx.Response:
        """By the transport alone: a client's merging of URLs, its cookies and its redirects take as long again."""
        request = httpx.Request(
            "POST",
            _url(self.http.base_url, path),
            headers=headers | {"Content-Type": "application/json"},
            content=content,
            extensions={"timeout": _PATIENCE.as_dict()},
        )
        try:
            response = await self._transport.handle_async_request(request)
            await response.aread()
        except AttributeError as error:  # anyio's, of a socket that was closed in that very moment
            raise httpx.ReadError("The connection ended.") from error
        return response

    def _addressed(self, tool: str, arguments: Arguments) -> tuple[str, dict[str, JsonValue]]:
        body = {**arguments, "action": tool}
        page_id = arguments.get("pageId")
        if isinstance(page_id, str) and re.fullmatch(wire.ANY_PAGE_ID_PATTERN, page_id):
            return f"{wire.BROWSER}/{page_id}", body
        action = catalogue.NAMES[tool].action
        takes_session = "session_id" in action.model_fields and action.unaddressed is not Unaddressed.OWN_PAGE
        if self.settings.session and takes_session and not {"pageId", "sessionId"} & body.keys():
            body["sessionId"] = self.settings.session
        return wire.BROWSER, body

    def _read(self, response: httpx.Response) -> Reply:
        theirs, ours = response.headers.get(wire.CATALOGUE), catalogue.fingerprint()
        advice = _OTHER_VERSION if theirs and theirs != ours else ""
        if advice and not self.advice:
            log.warning(advice, gateway=ours, service=theirs)
        self.advice = advice
        try:
            return Reply.model_validate_json(response.content)
        except ValidationError:
            url, other = self.settings.url, self._port + 1
            hint = "Another program listens there, it seems. BROWSE_URL says where the service is"
            if self.settings.is_local:
                address = f"http://{urlsplit(url).hostname}:{other}"
                start = f"browse-together up --detach --port {other}"
                hint += f"; to have it at another port: {start}, and BROWSE_URL={address} for the gateway"
            message = f"{url} answered {response.status_code}, with no reply of the browser service."
            raise self._unavailable("another program", message, f"{hint}.", status=response.status_code) from None

    def not_running(self, last_error: str = "") -> ServiceUnavailable:
        port = f" --port {self._port}" if self._port != wire.DEFAULT_PORT else ""
        start = f"Start it: browse-together up --detach{port}"
        hint = start if self.settings.is_local else "Start it there. BROWSE_URL says where it is looked for."
        message = f"The browser service is not running at {self.settings.url}."
        return self._unavailable("not running", message, hint, last_error=last_error)

    def _unavailable(self, reason: str, message: str, hint: str, **context: JsonValue) -> ServiceUnavailable:
        known = {to_camel(name): value for name, value in context.items() if value}
        where: dict[str, JsonValue] = {"service": self.settings.url, "reason": reason}
        return ServiceUnavailable(message, hint=hint, details={"context": {**where, **known}})

    @property
    def _port(self) -> int:
        url = urlsplit(self.settings.url)
        return url.port or (443 if url.scheme == "https" else 80)


def _was_ending(reply: Reply) -> bool:
    """Whether a service that ends says that it did not do the call, which the next one may."""
    context = reply.error.details.get("context") if reply.error else None
    return isinstance(context, dict) and context.get("ending") is True


@functools.lru_cache(maxsize=64)
def _url(base: httpx.URL, path: str) -> httpx.URL:
    return httpx.URL(str(base).rstrip("/") + path)


def _now() -> float:
    return asyncio.get_running_loop().time()
