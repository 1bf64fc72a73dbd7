"""One client of the service: its calls, its presence, and the files of its replies."""

import asyncio
import base64
import contextlib
import os
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from pydantic import ValidationError

from browse_together import errors
from browse_together.client import files
from browse_together.client.config_file import WrongFile, explain
from browse_together.client.connecting import ConnectingSettings, begin_service
from browse_together.client.credentials import Credentials
from browse_together.client.events import EventStream, Listener
from browse_together.client.http import ServiceClient
from browse_together.client.reply import Failure, Reply
from browse_together.contract.errors import BrowseError as ServiceError
from browse_together.contract.filenames import safe_name
from browse_together.contract.model import list_at
from browse_together.contract.wire import DEFAULT_SESSION, FILE_BYTES
from browse_together.contract.written import fingerprint
from browse_together.naming import wire_name
from browse_together.refusals import BrowseError, Busy
from browse_together.results import Answer, PageInfo
from browse_together.spelling import in_python, next_calls

_BY_CODE: Final = {error.code: error for error in (*BrowseError.__subclasses__(), *Busy.__subclasses__())}
_NEW: Final = "new"
_ANY_SESSION: Final = frozenset({"create_session", "list_pages", "get_activity"})
"""What is not done in a session, or tells of all of them."""
_CLOSE_WITHIN_S: Final = 2.0
_DOWNLOAD_WITHIN_S: Final = 300.0
_WAIT_MS: Final = 30_000
_COMES_AGAIN_WITHIN_S: Final = 65
"""How long a call that came too soon waits: a minute's limit is over by then. A longer pause is for the caller."""
_LOOK_AGAIN_S: Final = 0.5
_WORDS: Final = 60
_OTHER_LOOP: Final = (
    "This browser was first used in another event loop, to which its connections belong. Make one in each asyncio.run: "
    "`async with AsyncBrowser() as browser:`."
)
Json = dict[str, Any]  # Any: JSON


class Connection:
    """A client of the service, present from its first call until it is closed."""

    def __init__(self, given: Mapping[str, object], label: str | None) -> None:
        """`given` are settings that go before those of the environment. Raises ValueError for wrong ones."""
        stated = {name: value for name, value in given.items() if value is not None}
        try:
            self._settings = settings = ConnectingSettings.model_validate(stated)
        except ValidationError as error:
            raise ValueError("; ".join(explain(error, ConnectingSettings, _as_given(stated)))) from None
        except WrongFile as error:
            raise ValueError(str(error)) from None
        self.session_id = settings.session
        self.client_id = settings.client_id or _client_id(os.getpid())
        self.label = (label or Path(sys.argv[0] or "Python").name)[:_WORDS]
        self.wait: Callable[[Busy, int], Awaitable[None]] = self.wait_for
        """How errors of this connection wait."""
        self._service: ServiceClient | None = None
        self._presence: asyncio.Task[None] | None = None
        self._stream: EventStream | None = None
        self._held, self._kept = set[str](), set[str]()
        """Pages that this connection used, and those of them to be kept while it is away."""
        self._own_session: str | None = None
        self._making_session = asyncio.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        """That of the first call until `close`."""

    async def call(self, action: str, given: Mapping[str, object], *, patient: bool = True) -> Answer:
        """Make a call, wait for its end, and return its reply. A request to a person is waited for without an end, if
        it is `patient`. Raises BrowseError, and RuntimeError in another event loop than that of the first call."""
        if (loop := asyncio.get_running_loop()) is not (self._loop or loop):
            raise RuntimeError(_OTHER_LOOP)
        self._loop = loop
        try:
            service = await self._opened()
            if given.get("session_id", "") is None and given.get("page_id") is None and action not in _ANY_SESSION:
                given = {**given, "session_id": self.session_id}
            body = {wire_name(name): value for name, value in given.items() if value is not None}
            body = await self._complete({"action": action, **body}, service)
            reply = await self._made(service, body)
            while patient and action == "request_human" and "timeout" not in body and _is_pending(reply):
                asked = {"requestId": reply.result["requestId"], "pageId": body.get("pageId")}
                reply = await self._made(service, {"action": action, **asked})
            return await self._read(service, reply)
        except (errors.SessionExpired, errors.SessionNotFound):
            if given.get("session_id") == _NEW:
                self._own_session = None  # the next call makes another
            raise
        except ServiceError as error:
            raise self._error(Failure.from_error(error)) from None

    async def wait_for(self, error: Busy, seconds: int) -> None:
        """Make the call by which an error is waited for, or wait until a person has given the page back."""
        for call in error.next_calls:
            if "waitSeconds" in call.arguments:
                await self.call(call.action, {**call.arguments, "waitSeconds": seconds})
                return
        if not isinstance(error, errors.HumanInControl):
            raise error
        try:
            async with asyncio.timeout(seconds):
                page_id = error.details.get("context", {}).get("pageId")
                while await self._is_with_person(page_id):  # noqa: ASYNC110 - no event tells this to all who wait
                    await asyncio.sleep(_LOOK_AGAIN_S)
        except TimeoutError:
            raise error from None

    async def _is_with_person(self, page_id: object) -> bool:
        listed = await self.call("list_pages", {"all": True})
        pages = [page for part in ("yours", "people", "others") for page in listed.data[part]]
        return any(page["pageId"] == page_id and "person" in page for page in pages)

    async def close(self) -> None:
        """Free what this client holds, and leave."""
        if self._service is None or self._presence is None:
            return
        service, self._service, self._loop = self._service, None, None
        with contextlib.suppress(TimeoutError, ServiceError):
            async with asyncio.timeout(_CLOSE_WITHIN_S):
                await self._free(service)
        self._presence.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._presence
        await service.close(_CLOSE_WITHIN_S)

    async def _opened(self) -> ServiceClient:
        """Return the service, started if need be, with this client present."""
        if self._service is None or self._stream is None:
            settings = self._settings
            token = settings.token.get_secret_value() if settings.token else None
            credentials = Credentials(
                self.client_id, settings.data_dir, self.label, token, settings.token_file, "This program"
            )
            self._service = ServiceClient(settings.url, credentials, begin_service(settings), fingerprint())
            self._stream = EventStream(self._service, Listener())
            self._presence = asyncio.create_task(self._stream.hold())
        service = self._service
        await service.started()
        await self._stream.ready()
        return service

    async def _made(self, service: ServiceClient, body: Json) -> Reply:
        """Make a call, and wait for its end. One that was refused because it came too soon is made again, if that is
        soon: nothing happened."""
        reply, waited_s = await self._once(service, body), 0
        while reply.error and (seconds := _retry_after(reply.error)) and waited_s + seconds <= _COMES_AGAIN_WITHIN_S:
            await asyncio.sleep(seconds)
            reply, waited_s = await self._once(service, body), waited_s + seconds
        if reply.error:
            raise self._error(reply.error)
        return reply

    async def _once(self, service: ServiceClient, body: Json) -> Reply:
        """Make a call once, and wait for its end. If that is cancelled, so is the call."""
        call_id, told = uuid4().hex, list[Json]()
        try:
            reply = await service.call(call_id, body)
            while reply.result.get("stillRunning") and body["action"] != "get_call":
                told += reply.notices
                reply = await service.call(uuid4().hex, {"action": "get_call", "callId": call_id})
        except asyncio.CancelledError:
            service.cancel(call_id)
            raise
        if told and reply.model_extra is not None:
            reply.model_extra["notices"] = [*told, *reply.notices]
        return reply

    async def _complete(self, body: Json, service: ServiceClient) -> Json:
        """Upload the files that a call names by path, and make this client's own session if it needs that."""
        if isinstance(given := body.get("files"), Sequence):
            body["files"] = [await _uploaded(service, each) for each in given]
        if body.get("sessionId") == _NEW:
            async with self._making_session:
                if self._own_session is None:
                    made = await self._made(service, {"action": "create_session", "from": DEFAULT_SESSION})
                    self._own_session = str(made.result["sessionId"])
            body["sessionId"] = self._own_session
        return body

    async def _read(self, service: ServiceClient, reply: Reply) -> Answer:
        """Return the reply, with its files on this machine."""
        extra = reply.model_extra or {}
        page = PageInfo.model_validate(extra["page"]) if extra.get("page") else None
        notices = [str(each["text"]) for each in reply.notices]
        data: Json = dict(reply.result)
        if isinstance(listed := data.get("downloads"), list):
            data["downloads"] = [await _here(service, each) for each in await self._finished(service, listed)]
        self._note(page, data)
        content = b""
        if isinstance(artifact := data.get("artifact"), dict):
            encoded = artifact.pop("data", None)
            data["artifact"] = await _here(service, artifact)
            is_picture = str(artifact.get("mimeType")).startswith("image/")
            if is_picture:
                path = Path(data["artifact"]["path"])
                content = base64.b64decode(encoded) if encoded else await asyncio.to_thread(path.read_bytes)
        return Answer(data, page, notices, content)

    def _note(self, page: PageInfo | None, data: Json) -> None:
        """Note what is this client's by a reply."""
        if page is not None and page.owner is not None and page.owner.you:
            self._held |= {page.page_id, *data.get("popups", [])}
            self._kept |= {page.page_id} if "heldUntil" in data else set()
        elif page is not None:  # given back, or another's
            self._held.discard(page.page_id)
            self._kept.discard(page.page_id)

    async def _free(self, service: ServiceClient) -> None:
        """Give up the pages, so that others need not wait until this client is missed."""
        pages: list[Json] = [{"action": "release_page", "pageId": page_id} for page_id in self._held - self._kept]
        self._held, self._kept = set(), set()
        await asyncio.gather(*(service.call(uuid4().hex, body) for body in pages))

    async def _finished(self, service: ServiceClient, listed: list[Json]) -> list[Json]:
        """Wait until the downloads have ended, for _DOWNLOAD_WITHIN_S at most."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_DOWNLOAD_WITHIN_S):
                while running := {each["downloadId"] for each in listed if each["state"] == "running"}:
                    reply = await self._made(service, {"action": "list_downloads", "wait": _WAIT_MS})
                    now: dict[str, Json] = {each["downloadId"]: each for each in _objects(reply, "downloads")}
                    if not running & now.keys():
                        break  # it is another service by now
                    listed = [now.get(each["downloadId"], each) for each in listed]
        return listed

    def _error(self, failure: Failure) -> BrowseError:
        kind, hint = _BY_CODE.get(failure.code, errors.InternalError), failure.words.get("hint", "")
        error = kind(failure.message, in_python(hint), dict(failure.details), next_calls(hint), failure.request_id)
        if isinstance(error, Busy):
            error.waiter = self.wait
        return error


@lru_cache
def _client_id(process_id: int) -> str:  # noqa: ARG001 - a forked process is another client
    """Make the id of a process."""
    return f"py-{uuid4().hex[:12]}"


def _as_given(names: Iterable[str]) -> dict[str, str]:
    """Return the arguments by the variables that they stand for, as errors of settings name them."""
    return {f"BROWSE_{name.upper()}": name for name in names}


def _is_pending(reply: Reply) -> bool:
    return reply.result.get("state") == "pending"


def _retry_after(error: Failure) -> int | None:
    """Return in how many seconds the refused call may come again; None if that is not the reason."""
    seconds = error.context.get("retryAfter")
    return seconds if error.code == errors.RateLimited.code and isinstance(seconds, int) else None


def _objects(reply: Reply, name: str) -> list[Json]:
    return [each for each in list_at(reply.result, name) if isinstance(each, dict)]


async def _uploaded(service: ServiceClient, given: object) -> object:
    """Return a file as the service takes it. Raises OSError for a path that cannot be read."""
    if not isinstance(given, str | os.PathLike):
        return given
    path = Path(given)
    return {"name": path.name, "artifactId": await service.upload(await asyncio.to_thread(_content, path))}


def _content(path: Path) -> bytes:
    if path.stat().st_size > FILE_BYTES:
        raise ValueError(f"{path} has more bytes than the {FILE_BYTES:,} that one call may upload")
    return path.read_bytes()


async def _here(service: ServiceClient, file: Json) -> Json:
    """Return a file with its path on this machine, to which it is brought from another one."""
    artifact_id, path = file.get("artifactId"), file.get("path")
    if not artifact_id or (path and _is_readable(Path(path), file.get("size"))):
        return file
    name = safe_name(str(file.get("name") or "")) or "file"
    copy = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="browse-together-")) / name
    await files.save(service, str(artifact_id), copy)
    return {**file, "path": str(copy)}


def _is_readable(path: Path, size: object) -> bool:
    try:
        return path.stat().st_size == size and os.access(path, os.R_OK)
    except OSError:
        return False
