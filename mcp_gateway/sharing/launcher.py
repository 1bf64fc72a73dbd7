"""Passes a chat's messages between its host and the shared process, and goes on with another should that one die."""

import contextlib
import json
import os
import select
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from mcp_gateway.jsonrpc import Message
from mcp_gateway.sharing import frames
from mcp_gateway.sharing.kept import Kept, Request
from mcp_gateway.sharing.link import Link
from mcp_gateway.sharing.place import NotShared, Place
from mcp_gateway.stdio.early import EarlyServer
from mcp_gateway.stdio.outbox import Outbox
from shared.json_lines.lines import CHUNK_BYTES
from shared.wire import ATTEMPT_META, CALL_ID_META

EXIT_WITHIN_S: Final = 0.7
_QUIET_S: Final = 2.0
_PONG_WITHIN_S: Final = 5.0
_STARTS_WITHIN_S: Final = 30.0
_MOST_UNREAD: Final = 1_000_000
_MOST_UNSENT: Final = 1_000_000
_MOST_SHARED_BYTES: Final = 1_000_000
"""Bounds the messages of a chat that is served with others, who wait while one is parsed and sent on."""
_LOSSES, _LOSSES_WITHIN_S = 3, 20.0
_STDERR: Final = 2
_HUNG_UP: Final = select.POLLHUP | select.POLLERR | select.POLLNVAL


class Launcher:
    """Serves one chat by the shared process."""

    def __init__(
        self,
        outbox: Outbox,
        early: EarlyServer,
        *,
        arguments: Sequence[str],
        environ: Mapping[str, str],
        offer: Callable[[], None],
        come: Sequence[tuple[Message, bytes]],
    ) -> None:
        self._outbox = outbox
        self._come = come
        """The messages that the early server has already."""
        self._offer = offer
        """Gives the early server the list of tools, if that is certain."""
        self._early = early
        self._arguments = [*arguments]
        self._environ = environ
        self._kept = Kept()
        self._client_id = f"gw-{os.urandom(6).hex()}"
        self._generation = 0
        self._losses: list[float] = []
        self._end_at = 0.0
        """When this process ends at the latest, once the client has closed; 0 before."""
        self._hung_up_at = 0.0
        """When the client closed while it was not read, because it had not taken its answers."""
        self._is_served = False
        self._largest = 0
        self._poll = select.poll()
        self._place = Place.of(environ)
        self._link = self._reach(0)

    def run(self) -> None:
        """Pass messages on until the client closes. Raises NotShared if this process has to serve it, which the early
        server can then do: it has all that takes."""
        for message, line in self._come:
            self._pass_on(message, line)
        while not self._is_over():
            try:
                self._turn()
            except frames.WrongFrame:
                self._link.is_broken = True
            if self._link.is_broken and not self._end_at:
                self._hand_over()
        self._outbox.go_direct()

    def _is_over(self) -> bool:
        if self._end_at and time.monotonic() >= self._end_at:
            os._exit(0)  # whatever is still unread is abandoned
        return bool(self._end_at) and self._link.is_broken and not self._outbox.unwritten

    def _reach(self, given_up: int) -> Link:
        """Connect to the shared process, and say whose chat this is."""
        connection, socket_id = self._place.reach(self._environ, given_up)
        left_s = _PONG_WITHIN_S if self._place.age_s() > _STARTS_WITHIN_S else _STARTS_WITHIN_S
        link = Link(connection, socket_id, time.monotonic() + left_s)
        head = {
            "arguments": [*map(frames.spelt, self._arguments)],
            "folder": frames.spelt(_folder()),
            "client_id": self._client_id,
            "generation": self._generation,
            "state": json.loads(self._kept.state),
            "cancelled": self._kept.cancelled,
        }
        variables = "\0".join(f"{name}={value}" for name, value in self._environ.items())
        body = variables.encode(errors="surrogateescape")
        link.send(frames.frame(frames.HELLO, json.dumps(head).encode(), body))
        return link

    def _turn(self) -> None:
        """Wait for whatever can go on, and let it."""
        link, outbox = self._link, self._outbox
        is_open = not self._end_at
        is_read = is_open and outbox.size < _MOST_UNREAD and link.size < _MOST_UNSENT and not self._kept.is_full
        wanted = {
            outbox.stdin: select.POLLIN if is_read else 0 if is_open and not self._hung_up_at else None,
            outbox.stdout: select.POLLOUT if outbox.unwritten else None,
            link.connection.fileno(): self._of_link() if not link.is_broken else None,
        }
        for descriptor, events in wanted.items():
            self._watch(descriptor, events)
        for descriptor, events in self._poll.poll(self._patience_ms()):
            if descriptor == outbox.stdout:
                outbox.write_some()
            elif descriptor == outbox.stdin:
                self._read(is_read=is_read, events=events)
            else:
                self._carry(events)
        self._look_at_time()

    def _of_link(self) -> int:
        incoming = select.POLLIN if self._outbox.size < _MOST_UNREAD else 0
        return incoming | (select.POLLOUT if self._link.unsent else 0)

    def _watch(self, descriptor: int, events: int | None) -> None:
        if events is not None:
            self._poll.register(descriptor, events)
        else:
            try:
                self._poll.unregister(descriptor)
            except KeyError:
                return

    def _patience_ms(self) -> float | None:
        """Return how long nothing need happen; None for ever."""
        link, now = self._link, time.monotonic()
        if self._end_at:
            due = self._end_at
        elif link.give_up_at:
            due = link.give_up_at
        elif self._kept.is_waiting:
            due = link.heard_at + _QUIET_S
        else:
            return None
        if self._hung_up_at:
            due = min(due, self._hung_up_at + EXIT_WITHIN_S)
        return max(0.0, due - now) * 1_000 + 1

    def _look_at_time(self) -> None:
        """Ask a process that owes an answer for a sign, and give up one that gives none."""
        link, now = self._link, time.monotonic()
        if link.give_up_at and now >= link.give_up_at:
            link.is_broken = True
        elif link.is_welcome and not link.give_up_at and self._kept.is_waiting and now >= link.heard_at + _QUIET_S:
            link.give_up_at = now + _PONG_WITHIN_S
            link.send(frames.frame(frames.PING))
        if self._hung_up_at and now >= self._hung_up_at + EXIT_WITHIN_S:
            os._exit(0)  # the client has closed, and takes nothing any more

    def _read(self, *, is_read: bool, events: int) -> None:
        """Read what the client has sent. Once it has closed, what is answered soon is still passed on."""
        if not is_read:
            self._hung_up_at = time.monotonic() if events & _HUNG_UP else 0.0
            return
        self._hung_up_at = 0.0
        try:
            chunk = os.read(self._outbox.stdin, CHUNK_BYTES)
        except OSError:
            chunk = b""
        for message, line in self._outbox.messages_in(chunk):
            self._answer_early(message)
            self._pass_on(message, line)
        if self._largest > _MOST_SHARED_BYTES:
            raise NotShared(f"a message of {self._largest:,} bytes would keep others waiting")
        if not chunk:
            self._end_at = time.monotonic() + EXIT_WITHIN_S
            self._link.send(frames.frame(frames.END))

    def _answer_early(self, message: Message) -> None:
        if not self._is_served:
            if message.get("method") == "tools/list":
                self._offer()
            self._early.receive(message)

    def _pass_on(self, message: Message, line: bytes) -> None:
        if not self._kept.is_waiting:
            self._link.heard_at = time.monotonic()
        is_answered = not self._is_served and "method" in message and message.get("id") in self._early.answered
        if self._kept.expects(message):
            request = self._kept.note(message, line, is_answered=is_answered)
            self._largest = max(self._largest, len(line))
            self._link.send(frames.frame(frames.LINE, request.head if request else b"", line), request)

    def _carry(self, events: int) -> None:
        """Send to the shared process, and take what it sends."""
        if events & select.POLLOUT:
            self._link.send_some()
        if events & (select.POLLIN | _HUNG_UP):
            for kind, head, body in self._link.frames.feed(self._link.receive()):
                self._take(kind, head, body)

    def _take(self, kind: int, head: bytes, body: bytes) -> None:
        if kind == frames.LINE:
            about = json.loads(head) if head else {}
            if "asks" in about:
                self._kept.asked[about["asks"]] = None
            if about.get("answers") is None or self._kept.answer(about["answers"]):
                self._outbox.write(body)
        elif kind == frames.LOG:
            with contextlib.suppress(OSError):
                os.write(_STDERR, body)
        elif kind == frames.STATE:
            self._kept.state = body
        elif kind == frames.REFUSED:
            raise NotShared(body.decode())
        elif kind == frames.WELCOME:
            self._link.is_welcome = self._is_served = True
            self._link.give_up_at = 0
            self._early.resume((), ())  # nothing more is answered here

    def _hand_over(self) -> None:
        """Have another process go on with the chat. Raises NotShared if that fails, or was needed too often."""
        self._watch(self._link.connection.fileno(), None)
        self._link.connection.close()
        now = time.monotonic()
        self._losses = [at for at in self._losses if at > now - _LOSSES_WITHIN_S] + [now]
        if len(self._losses) >= _LOSSES:
            raise NotShared(f"the shared process was lost {_LOSSES} times; {self._place.log} may say why")
        for line in self._kept.lose():
            self._outbox.write(line)
        self._generation += 1
        self._link = self._reach(self._link.socket_id)
        self._kept.cancelled = []
        for resumed in self._kept.resumed():
            head = resumed.request.head if resumed.request else b""
            self._link.send(frames.frame(frames.LINE, head, resumed.line), resumed.request)

    def give_back(self) -> None:
        """Give the chat to the early server, for this process to serve."""
        self._link.connection.close()
        for line in self._kept.lose():
            self._outbox.write(line)
        self._outbox.go_direct()
        if not self._is_served:
            return
        messages, answered = [], set[object]()
        for resumed in self._kept.resumed():
            messages.append(_again(resumed.message, resumed.request))
            if resumed.request is None and "id" in resumed.message:
                answered.add(resumed.message["id"])
        self._early.resume(messages, answered)
        self._early.prefix, self._early.client_id = f"{self._generation + 1}-", self._client_id
        self._early.toolsets = json.loads(self._kept.state)


def _again(message: Message, request: Request | None) -> Message:
    """Return a message with the id by which the service knows the call."""
    params = message.get("params")
    if request is None or not request.is_call or not isinstance(params, dict):
        return message
    given = params.get("_meta")
    meta = {CALL_ID_META: request.call_id, **(given if isinstance(given, dict) else {})}
    meta |= {ATTEMPT_META: True} if request.attempt > 1 else {}
    return {**message, "params": {**params, "_meta": meta}}


def _folder() -> str:
    try:
        return os.getcwd()  # noqa: PTH109 - without pathlib
    except OSError:  # it was removed
        return "/"
