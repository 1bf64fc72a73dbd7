"""Passes messages between a chat's host and the process that serves the chat. If that process ends, another continues.

One thread reads from the host, and one from each process. The main thread provides a process: the shared one, or else
this one, which then serves the other end of a socket pair.
"""

import contextlib
import json
import os
import re
import signal
import socket
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Final

from browse_together.contract.json_lines.lines import Lines
from mcp_gateway import jsonrpc
from mcp_gateway.jsonrpc import Message
from mcp_gateway.stdio import hello
from mcp_gateway.stdio.early import EarlyReplies
from mcp_gateway.unanswered import Request, Unanswered

EXIT_WITHIN_S: Final = 0.7
_QUIET_S: Final = 2.0
_PONG_WITHIN_S: Final = 5.0
_STARTS_WITHIN_S: Final = 30.0
_MOST_SHARED_BYTES: Final = 1_000_000
"""Maximum size of a message in the shared process, where other chats wait while it is parsed and sent on."""
_LOSSES, _LOSSES_WITHIN_S = 3, 20.0
_STDERR: Final = 2
_ANSWER: Final = re.compile(rb'\{"jsonrpc":"2\.0","id":(-?\d+|"(?:[^"\\]|\\.)*"),"(?:result|error)":')
"""The start of an answer as the SDK writes it."""


class Link:
    """The connection to one process."""

    def __init__(self, connection: socket.socket, *, is_shared: bool, welcome_within_s: float = 0) -> None:
        self.connection, self.is_shared = connection, is_shared
        self.is_welcome = self.is_over = False
        self.heard_at = time.monotonic()
        self.give_up_at = self.heard_at + welcome_within_s if is_shared else 0
        """When the process is given up unless it sends something; 0 while nothing is expected."""

    def send(self, line: bytes, request: Request | None = None) -> None:
        """Send a line. If the process is gone, drop the line: the receiving thread will notice."""
        rest = memoryview(line + b"\n")
        with contextlib.suppress(OSError):
            while rest:
                rest = rest[self.connection.send(rest) :]
                if request:
                    request.is_sent = True

    def close(self) -> None:
        """Shut down the connection for the threads that use it."""
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def hear(self) -> None:
        self.heard_at = time.monotonic()
        if self.is_welcome:
            self.give_up_at = 0


class Launcher:
    """One chat, whichever process serves it."""

    def __init__(
        self, lines: Lines, early: EarlyReplies, arguments: Sequence[str], environment: Mapping[str, str]
    ) -> None:
        self._lines, self._early = lines, early
        self._arguments, self._environment = [*arguments], {**environment}
        self._client_id, self._since = f"gw-{os.urandom(6).hex()}", time.time()
        self._unanswered = Unanswered("The gateway's process ended")
        self._state: dict[str, list[str]] = {}
        self._changed = threading.Condition()
        """Protects the state that threads share. Sending, which may take long, has a lock of its own."""
        self._sending = threading.Lock()
        self._link: Link | None = None
        self._is_served = self._has_ended = False
        self._ended_by = 0
        self._refusal: str | None = None
        """Why this process has to serve the chat."""

    def begin(self) -> None:
        """Start reading from the host."""
        threading.Thread(target=self._read, daemon=True).start()

    def run_shared(self) -> str | None:
        """Let the shared process serve the chat until it ends. Returns why this process must serve it instead, possibly
        as an empty text; None once the chat has ended."""
        from mcp_gateway.sharing.shared_socket import NotShared, SharedSocket  # noqa: PLC0415 - not on every system

        losses, given_up = list[float](), 0
        try:
            place = SharedSocket.of(self._environment)
            while not (losses and self._has_ended):
                connection, given_up = place.reach(self._environment, given_up)
                within_s = _STARTS_WITHIN_S if place.age_s() <= _STARTS_WITHIN_S else _PONG_WITHIN_S
                link = Link(connection, is_shared=True, welcome_within_s=within_s)
                self._connect(link)
                self._watch(link)
                if self._refusal is not None:
                    return self._refusal
                losses = [at for at in losses if at > time.monotonic() - _LOSSES_WITHIN_S] + [time.monotonic()]
                if len(losses) >= _LOSSES:
                    return f"the shared process was lost {_LOSSES} times; {place.log} may say why"
        except NotShared as error:
            return str(error)
        return None

    def serve_here(self) -> socket.socket:
        """Return the socket at which this process must serve the chat from now on."""
        ours, theirs = socket.socketpair()
        connect = threading.Thread(target=self._connect, args=[Link(ours, is_shared=False)], daemon=True)
        connect.start()  # in a thread: the lines may not fit into the socket before somebody reads them
        return theirs

    def offer(self, tools: Sequence[Message], instructions: str) -> None:
        """Answer waiting and later requests with these tools and instructions."""
        with self._changed:
            self._early.tools, self._early.instructions = (lambda: tools), instructions
            for request_id, request in [*self._unanswered.waiting.items()]:
                result = self._early.result(request.message)
                if result is not None and self._unanswered.answer(request_id):
                    self._lines.write(jsonrpc.answer(request_id, result))

    def _connect(self, link: Link) -> None:
        """Tell a process whose chat this is, and send it the unanswered requests."""
        with self._sending:
            with self._changed:
                told, again = [*self._unanswered.lose()], [*self._unanswered.resumed()]
                about = hello.Hello(
                    self._client_id,
                    self._arguments,
                    _folder(),
                    self._environment,
                    self._state,
                    self._unanswered.cancelled,
                    self._since,
                )
                self._unanswered.cancelled = []
            for message in told:
                self._lines.write(jsonrpc.encoded(message))
            self._link = link
            threading.Thread(target=self._receive, args=[link], daemon=True).start()
            link.send(hello.line(hello.HELLO, about._asdict()))
            for message, request in again:
                link.send(jsonrpc.encoded(message), request)
            if self._has_ended:
                link.send(hello.line(hello.END))

    def _watch(self, link: Link) -> None:
        """Wait until a process is gone. Ping it if it owes an answer, and give it up if it stays silent."""
        with self._changed:
            while not link.is_over:
                is_expected = link.give_up_at or self._unanswered.is_due
                due = (link.give_up_at or link.heard_at + _QUIET_S) - time.monotonic()
                if not is_expected or due > 0:
                    self._changed.wait(min(due, _QUIET_S) if is_expected else None)
                elif link.give_up_at:
                    link.close()
                    self._changed.wait(_QUIET_S)
                else:
                    link.give_up_at = time.monotonic() + _PONG_WITHIN_S
                    if self._sending.acquire(blocking=False):  # otherwise, something is already being sent
                        link.send(hello.line(hello.PING))
                        self._sending.release()

    def _read(self) -> None:
        """Pass on the host's messages until it closes."""
        try:
            for message, line in jsonrpc.messages(self._lines):
                self._take(message, line)
                with self._changed:
                    self._changed.wait_for(lambda: not self._unanswered.is_full)
        finally:
            self.end()

    def end_by(self, number: int, _: object) -> None:
        """End the chat in good order because of a signal. The same again ends the process at once."""
        signal.signal(number, signal.SIG_DFL)
        self._ended_by = number
        threading.Thread(target=self.end, daemon=True).start()

    def finish(self) -> None:
        """End the process by the signal that ended the chat, if one did."""
        if self._ended_by:
            os.kill(os.getpid(), self._ended_by)

    def end(self) -> None:
        """End the chat, and this process soon."""
        timer = threading.Timer(EXIT_WITHIN_S, os._exit, [0])  # the host waits, so abandon what still runs
        timer.daemon = True
        timer.start()
        with self._sending:
            self._has_ended = True
            if self._link:
                self._link.send(hello.line(hello.END))

    def _take(self, message: Message, line: bytes) -> None:
        """Answer a host's message, or pass it on."""
        with self._changed:
            result = None if self._is_served else self._early.result(message)
        if result is not None:
            self._lines.write(jsonrpc.answer(message["id"], result))
        with self._sending:
            with self._changed:
                expected = self._unanswered.from_client(message)
                if expected is None:
                    return
                was_due = self._unanswered.is_due
                passed, request = self._unanswered.note(expected, len(line), is_answered=result is not None)
                link = self._link
                if link and not was_due:
                    link.heard_at = time.monotonic()
                    self._changed.notify_all()
                if link and link.is_shared and len(line) > _MOST_SHARED_BYTES:
                    self._refuse(link, f"a message of {len(line):,} bytes would keep others waiting")
                    return
            if link:
                link.send(line if passed is message else jsonrpc.encoded(passed), request)

    def _refuse(self, link: Link, reason: str) -> None:
        self._refusal = reason
        link.close()

    def _receive(self, link: Link) -> None:
        """Pass on a process's messages until it ends."""
        try:
            with contextlib.suppress(OSError), link.connection, link.connection.makefile("rb") as lines:
                for line in lines:
                    link.hear()
                    if line.endswith(b"\n"):  # otherwise the process ended within the line
                        self._pass_back(link, line[:-1])
        finally:
            with self._changed:
                link.is_over = True
                self._changed.notify_all()

    def _pass_back(self, link: Link, line: bytes) -> None:
        if said := hello.words(line):
            self._hear(link, said)
            return
        if answer := _ANSWER.match(line):  # answers may be large, and only their ids matter
            with self._changed:
                was_full = self._unanswered.is_full
                if not self._unanswered.answer(json.loads(answer[1])):
                    return
                if was_full:
                    self._changed.notify_all()
        else:
            message = json.loads(line)
            with self._changed:
                passed = self._unanswered.to_client(message)
            line = line if passed is message else jsonrpc.encoded(passed)
        link.heard_at = time.monotonic() + _STARTS_WITHIN_S  # nothing is received while the host reads slowly
        self._lines.write(line)
        link.hear()

    def _hear(self, link: Link, said: list[object]) -> None:
        """Handle a process's message to this launcher."""
        match said:
            case [hello.WELCOME]:
                link.is_welcome = self._is_served = True
                link.hear()
            case [hello.REFUSED, str(reason)]:
                self._refuse(link, reason)
            case [hello.STATE, dict(state)]:
                self._state = state
            case [hello.LOG, str(text)]:
                with contextlib.suppress(OSError):
                    os.write(_STDERR, text.encode(errors="backslashreplace"))


def _folder() -> str:
    try:
        return os.getcwd()  # noqa: PTH109 - without pathlib
    except OSError:  # the folder was removed
        return "/"
