"""The chats of a connection. One host may carry many, and each is a separate client of the service."""

import asyncio
import contextlib
import hashlib
import re
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from itertools import count
from types import MappingProxyType
from typing import Final, NamedTuple, Self
from uuid import uuid4

import structlog
from httpx_sse import ServerSentEvent
from mcp.server.context import ServerRequestContext as Context
from pydantic import ValidationError

from browse_together.client import caller
from browse_together.client.credentials import Credentials
from browse_together.client.events import EventStream, Listener
from browse_together.client.http import ServiceClient
from browse_together.client.reply import Failure, Reply
from browse_together.contract import catalogue, toolsets
from browse_together.contract.actions.seven import BrowserNavigate
from browse_together.contract.actions.traits import Scope
from browse_together.contract.errors import BrowseError, ServiceUnavailable, SessionExpired, SessionNotFound
from browse_together.contract.events import CallMoved, PageMoved
from browse_together.contract.limits import Limits, readable_limits
from browse_together.contract.model import Json
from browse_together.contract.replies import ReplyForm
from browse_together.contract.wire import (
    ATTEMPT_META,
    CALL_ID_META,
    CLIENT_ID_PATTERN,
    DEFAULT_SESSION,
    TRACE_CONTEXT,
    UNNAMED,
    is_call_id,
)
from mcp_gateway.begun_tasks import BegunTasks
from mcp_gateway.elicitation import Elicitation, OnHumanRequest
from mcp_gateway.logs import Faults
from mcp_gateway.settings import Settings
from mcp_gateway.subscriptions import Subscriptions
from mcp_gateway.toolset_names import valid_toolsets

_CHAT_KEYS: Final = ("vscode.conversationId", "sessionID", "threadId", "openai/session")
"""Where hosts put the chat's id in a request's `_meta`: VS Code, OpenCode, Codex, ChatGPT."""
_NEW: Final = "new"
_TRACE: Final = re.compile(r"[\x21-\x7e][\x20-\x7e]{0,511}")
_ENDED: Final = {SessionExpired.code, SessionNotFound.code}
_MAX_PRESENT: Final = 32
"""The most named chats with an event stream. Without one, the service considers a chat gone."""

log = structlog.get_logger()

ReportProgress = Callable[[float, float | None, str], Awaitable[None]]


class Asker(NamedTuple):
    """The caller that waits for a call and receives its progress, and the call's id if the caller gave one."""

    report_progress: ReportProgress
    call_id: str = ""
    attempt: int = 1
    """2 if a process that has died may already have sent the call."""
    trace: Mapping[str, str] = MappingProxyType({})
    """The span of the client that the call belongs to, as headers."""

    @classmethod
    def of(cls, ctx: Context) -> Self:
        """Make the asker of an MCP request."""
        meta: Mapping[str, object] = ctx.meta or {}
        call_id = _given_call_id(meta)
        attempt = 2 if call_id and meta.get(ATTEMPT_META) else 1
        return cls(ctx.session.report_progress, call_id, attempt, trace_of(meta))


class Chat(Listener):
    """One client of the service, present while it keeps a stream of events open."""

    def __init__(
        self,
        service: ServiceClient,
        settings: Settings,
        subscriptions: Subscriptions,
        faults: Faults,
        folder: str = "",
    ) -> None:
        self.service = service
        self.folder = folder
        """The name of the folder that its host works in, if that is known."""
        self.elicitation = Elicitation(service)
        self.stream = EventStream(service, self)
        self.toolsets = self.read_toolsets = valid_toolsets(settings.toolsets)
        """The chat's toolsets, and those in the list of tools that its host read last."""
        self.settings = settings
        self._subscriptions = subscriptions
        self._faults = faults
        self.is_lost = False
        """True once the client was cut off. Its calls go on; the service cancels them if the client does not return."""
        self.begun = BegunTasks()
        self._call_listeners: dict[str, Callable[[CallMoved], Awaitable[None]]] = {}
        self._presence: asyncio.Task[None] | None = None
        self._own_session: str | None = None
        self._making_session = asyncio.Lock()

    @property
    def limits(self) -> Limits:
        """Return the limits that the given token claims. The service decides."""
        return readable_limits(self.service.credentials.claims())

    def another(self, client_id: str) -> "Chat":
        """Return another chat of the same connection."""
        service = self.service.as_client(credentials(self.settings, client_id))
        return Chat(service, self.settings, self._subscriptions, self._faults, self.folder)

    @property
    def session(self) -> str | None:
        """Return the session of the chat, if the settings gave it one that exists."""
        return self._own_session if self.settings.session == _NEW else self.settings.session

    @property
    def is_waiting(self) -> bool:
        """True while a call is in progress."""
        return bool(self._call_listeners)

    def appear(self) -> None:
        """Keep the stream of events open from now on."""
        if self._presence is None or self._presence.done():
            self._presence = asyncio.create_task(self.stream.hold())

    def introduce(self, name: str) -> None:
        """Use the host's name and folder, which people read, as the client's label, unless the settings give one."""
        if self.service.credentials.introduce(self.settings.name or " · ".join(filter(None, (name, self.folder)))):
            self.stream.renew()

    def leave(self, *, for_good: bool = False) -> None:
        """Be absent. If that is `for_good`, and the client was not cut off, its pages are free at once."""
        if self._presence is not None:
            if for_good and not self.is_lost:
                self.service.depart()
            self._presence.cancel()
            self._presence = None

    def add_toolsets(self, names: list[str]) -> bool:
        """Add toolsets to the list of tools. Returns whether the list grew."""
        before = toolsets.listed_names(self.toolsets)
        self.toolsets |= frozenset(names).intersection(toolsets.NAMES)
        return toolsets.listed_names(self.toolsets) != before

    async def call(
        self,
        asker: Asker,
        body: Json,
        form: ReplyForm | None = None,
        on_human_request: OnHumanRequest = lambda _: None,
    ) -> Reply:
        """Return the reply to a call, in the given form or whole. If the call does not reach the service, the reply
        says why."""
        call_id, began = asker.call_id or uuid4().hex, time.monotonic()
        structlog.contextvars.bind_contextvars(request_id=call_id)  # for all later log lines
        try:
            with self.listening(call_id, asker.report_progress, on_human_request):
                await self.service.started()
                await self.stream.ready()
                body, session = self._as_listed(body), await self._session_for(body)
                reply = await self.service.call(call_id, body, form, asker.attempt, asker.trace, session=session)
                self._note_end(body, reply)
                self._faults.note_catalogue(self.service.other_catalogue)
        except BrowseError as error:
            reply = Reply(success=False, error=Failure.from_error(error, call_id))
        except asyncio.CancelledError:
            if not self.is_lost:
                self.service.cancel(call_id)
            raise
        self._faults.note(self.service.credentials.client_id, reply.error)
        outcome, ms = reply.error.code if reply.error else "ok", round((time.monotonic() - began) * 1000)
        log.debug("call", action=body["action"], outcome=outcome, ms=ms)
        return reply

    @contextlib.contextmanager
    def listening(
        self, call_id: str, report_progress: ReportProgress, on_human_request: OnHumanRequest
    ) -> Iterator[None]:
        """Within the block, report the call's steps as progress, and the requests to a person that it waits for."""
        steps = count(1)

        async def report(event: CallMoved) -> None:
            if event.request is not None:
                self.service.people_url = event.people_url or self.service.url
                on_human_request(event.request)
            await report_progress(next(steps), None, event.progress)

        self._call_listeners[call_id] = report
        try:
            yield
        finally:
            del self._call_listeners[call_id]

    async def on_open(self) -> None:
        self._faults.note(self.service.credentials.client_id, None)
        await self._subscriptions.all_changed()

    async def on_event(self, event: ServerSentEvent) -> None:
        with contextlib.suppress(ValidationError):  # events of a newer service may differ
            if event.event == "page":
                await self._subscriptions.page_changed(PageMoved.model_validate_json(event.data, extra="ignore"))
            elif event.event == "call":
                call_event = CallMoved.model_validate_json(event.data, extra="ignore")
                if report := self._call_listeners.get(call_event.call_id):
                    await report(call_event)

    def on_unavailable(self, error: ServiceUnavailable) -> None:
        self._faults.note(self.service.credentials.client_id, Failure.from_error(error))

    async def _session_for(self, body: Json) -> str | None:
        """Return the session of a call that names none: the one of the settings, or the chat's own."""
        action = catalogue.NAMES[str(body["action"])].action
        needs_own = action.unaddressed.opens or action.part_fields or action.scope is Scope.SESSION
        if self.settings.session == _NEW and needs_own and "sessionId" not in body and not action.makes_session:
            await self._make_session()
        return self.session

    def _as_listed(self, body: Json) -> Json:
        """Return a call as the list that its chat reads documents it: the seven alone begin with browser_launch."""
        navigates = catalogue.NAMES[str(body["action"])].action is BrowserNavigate
        return {**body, "launch": False} if navigates and self.toolsets == {toolsets.APART} else body

    async def _make_session(self) -> None:
        """Make the chat's own session, unless it has one. Raises why there can be none."""
        async with self._making_session:
            if self._own_session is None:
                reply = await self.service.call(uuid4().hex, {"action": "create_session", "from": DEFAULT_SESSION})
                if reply.error is not None:
                    raise reply.error.relayed()
                self._own_session = str(reply.result["sessionId"])

    def _note_end(self, body: Json, reply: Reply) -> None:
        """Forget the chat's own session once it has ended; the next page makes another."""
        ended = reply.error is not None and reply.error.code in _ENDED
        if ended and body.get("sessionId", self._own_session) == self._own_session:
            self._own_session = None


class Chats:
    """The chats of a connection: its own, for hosts that name none, and those that the host names."""

    def __init__(self, own: Chat, scope: str = "") -> None:
        self.own = own
        self._scope = scope
        """Distinguishes these chats from those of another connection whose host uses the same names."""
        self._named: dict[str, Chat] = {}

    def find(self, meta: Mapping[str, object] | None) -> Chat:
        """Return the chat that a request's `_meta` names. With a client id or an unnamed token in the settings, all
        chats are one client. With a named token, chats share its rights but not their pages."""
        client_id, settings = _client_id(meta or {}, self._scope), self.own.settings
        is_given = (settings.token or settings.token_file) and not self.own.service.credentials.is_shared
        if client_id is None or settings.client_id or is_given:
            return self.own
        chat = self._named.pop(client_id, None) or self._add(client_id)
        chat.appear()
        self._named[client_id] = chat
        return chat

    def read_toolsets(self, chat: Chat) -> frozenset[str]:
        """Return the toolsets for the list that a chat reads. A host that names no chat reads for all chats."""
        readers = [chat] if chat is not self.own else [self.own, *self._named.values()]
        toolsets = frozenset[str]().union(*(reader.toolsets for reader in readers))
        for reader in readers:
            reader.read_toolsets = toolsets
        return toolsets

    def added_toolsets(self) -> dict[str, list[str]]:
        """Return the toolsets of each named chat, and under "" those of the connection's own."""
        return {name: sorted(chat.toolsets) for name, chat in {"": self.own, **self._named}.items()}

    def restore(self, toolsets: Mapping[str, list[str]]) -> None:
        """Restore chats and toolsets that another process served."""
        for name, names in toolsets.items():
            chat = self._named.setdefault(name, self.own.another(name)) if name else self.own
            chat.add_toolsets(names)
            chat.read_toolsets = chat.toolsets

    def leave(self, *, for_good: bool = False) -> None:
        for chat in (self.own, *self._named.values()):
            chat.leave(for_good=for_good)

    def lose(self) -> None:
        """Note that the client was cut off and may return."""
        for chat in (self.own, *self._named.values()):
            chat.is_lost = True

    def _add(self, client_id: str) -> Chat:
        """Add a chat. If there are too many, remove those without recent calls, unless they wait for a reply."""
        silent = [name for name, chat in self._named.items() if not chat.is_waiting]
        for name in silent[: max(len(self._named) - _MAX_PRESENT + 1, 0)]:
            self._named.pop(name).leave()
        return self.own.another(client_id)


def credentials(settings: Settings, chat_id: str | None = None, otherwise: str = "") -> Credentials:
    """Make the credentials of a chat. Its client id comes from the settings, its host's request, its host's environment
    or `otherwise`, in this order; else it is random."""
    return Credentials(
        settings.client_id or chat_id or _environment_client_id() or otherwise or f"gw-{uuid4().hex[:12]}",
        settings.data_dir,
        label=settings.name or UNNAMED,
        token=settings.token.get_secret_value() if settings.token else None,
        token_file=settings.token_file,
        caller="This gateway",
    )


def _environment_client_id() -> str | None:
    """Return the chat id that the host sets in the environment. It survives a restart, so that the chat keeps its
    pages."""
    chat_id = caller.environ().get("CLAUDE_CODE_SESSION_ID", "")
    client_id = f"claude-code:{chat_id}"
    return client_id if chat_id and re.fullmatch(CLIENT_ID_PATTERN, client_id) else None


def _given_call_id(meta: Mapping[str, object]) -> str:
    """Return the call id given by the client, for asking about the call after a lost connection; empty without one."""
    given = meta.get(CALL_ID_META)
    return given if isinstance(given, str) and is_call_id(given) else ""


def trace_of(meta: Mapping[str, object]) -> dict[str, str]:
    """Return the client's span, where it has the form of a header."""
    given = {name: meta.get(name) for name in TRACE_CONTEXT}
    return {name: text for name, text in given.items() if isinstance(text, str) and _TRACE.fullmatch(text)}


def _client_id(meta: Mapping[str, object], scope: str) -> str | None:
    """Make a client id from the chat id given by the host, which may contain any characters."""
    for key in _CHAT_KEYS:
        chat_id = meta.get(key)
        if isinstance(chat_id, str) and chat_id:
            return f"chat:{hashlib.sha256(f'{scope}{key}:{chat_id}'.encode()).hexdigest()[:24]}"
    return None
