"""The shared process. It serves the chats whose launchers connect, and ends some time after the last."""

import asyncio
import contextlib
import gc
import io
import select
import socket
import time
from pathlib import Path
from typing import Final

import structlog

from browse_together.client import caller
from browse_together.client.caller import Caller, on_behalf_of
from browse_together.client.http import ServiceClient
from browse_together.contract.written import fingerprint
from mcp_gateway import ineffective, logs, spans
from mcp_gateway.arguments import take
from mcp_gateway.chats import credentials
from mcp_gateway.connection import Connection
from mcp_gateway.sharing.shared_socket import NotShared, SharedSocket, is_own
from mcp_gateway.startup import Prepared, prepare
from mcp_gateway.stdio import hello
from mcp_gateway.stdio.hello import Hello
from mcp_gateway.stdio.wire import MOST_LINE_BYTES, Wire

_HELLO_WITHIN_S: Final = 10.0
_FIRST_WITHIN_S: Final = 60.0
_CLOSE_WITHIN_S: Final = 0.5
_LOOK_AGAIN_S: Final = 0.2
_GC_AFTER: Final = (20_000, 20, 20)
"""Makes garbage collection rare, because it blocks all chats."""

log = structlog.get_logger()


class Seat:
    """A chat's place in this process: its settings and its stderr."""

    def __init__(self, wire: Wire, about: Hello) -> None:
        self._wire, self._about = wire, about
        self._said: list[str] | None = []
        """Texts to write once the chat is served. If it is refused, its own process will write them again."""
        self.caller = Caller({**about.environment}, Path(about.folder), self._say, about.since)

    def prepared(self) -> Prepared | None:
        """Return the chat's prepared settings; None if the chat needs its own process, which will say why."""
        said = io.StringIO()
        try:
            with on_behalf_of(self.caller), contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
                environment = {**self.caller.environment}
                flags = take(self._about.arguments, environment) if self._about.arguments else {}
                self.caller = self.caller._replace(environment=environment)
                with on_behalf_of(self.caller):
                    prepared = prepare(flags)
        except SystemExit:
            return None
        is_shared = prepared.transports.transport == ("stdio",) and prepared.settings.shared
        return prepared if is_shared else None

    def welcome(self) -> None:
        """Tell the launcher that its chat is served, and write the texts that have waited."""
        said, self._said = self._said or [], None
        self._wire.tell(hello.WELCOME)
        for text in said:
            self._wire.say(text)

    def _say(self, text: str) -> None:
        if self._said is None:
            self._wire.say(text)
        else:
            self._said.append(text)


class SharedProcess:
    """The chats of a listening socket, one for each connection."""

    def __init__(self, listener: socket.socket, place: SharedSocket, first: socket.socket | None = None) -> None:
        """`first` is the connection of a chat that was already let in."""
        self._listener, self._first, self._place = listener, first, place
        self._services: dict[tuple[object, ...], ServiceClient] = {}
        """One client for each service, whose connections all of its chats share."""
        self._chats: set[asyncio.Task[None]] = set()
        self._idle_s = _FIRST_WITHIN_S
        self._quiet_since = time.monotonic()
        self._has_come = asyncio.Event()
        self._socket_id = place.socket_id()

    async def run(self) -> None:
        """Serve until no chat has come for a while."""
        logs.to_stderr("debug")
        self._listener.setblocking(False)  # noqa: FBT003 - socket's own
        if self._first is not None:
            self._let_in(self._first)
        accepting = asyncio.create_task(self._accept())
        while not await self._is_over():
            pass
        accepting.cancel()
        for service in self._services.values():
            await service.close(_CLOSE_WITHIN_S)
        spans.close()

    async def _accept(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                connection, _ = await loop.sock_accept(self._listener)
            except OSError as error:  # too many files are open: a chat that ends will close some
                log.warning("a chat cannot be let in", reason=error.strerror)
                await asyncio.sleep(_LOOK_AGAIN_S)
                continue
            if is_own(connection):
                self._let_in(connection)
            else:
                connection.close()

    def _let_in(self, connection: socket.socket) -> None:
        connection.setblocking(False)  # noqa: FBT003 - as above
        chat = asyncio.create_task(self._serve(connection))
        self._chats.add(chat)
        self._has_come.set()
        chat.add_done_callback(self._chats.discard)

    async def _is_over(self) -> bool:
        """Wait while there are chats, and then for the idle time. Returns whether no chat came and no launcher can find
        this process any more."""
        if self._chats:
            await asyncio.wait(self._chats, return_when=asyncio.FIRST_COMPLETED)
            self._quiet_since = time.monotonic()
            return False
        if (left_s := self._quiet_since + self._idle_s - time.monotonic()) > 0:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._has_come.wait(), left_s)
            self._has_come.clear()
            return False
        now = self._place.socket_id()
        if not now or now != self._socket_id:  # removed, maybe before this process looked, or replaced by another
            return not self._chats
        try:
            with self._place.locked(within_s=0):
                await asyncio.sleep(0)  # first let in what connected before the lock was taken
                if not self._chats and not _has_waiting(self._listener):
                    self._place.leave()
                    return True
        except NotShared:  # a launcher is looking for this process
            await asyncio.sleep(_LOOK_AGAIN_S)
        return False

    async def _serve(self, connection: socket.socket) -> None:
        reader, writer = await asyncio.open_unix_connection(sock=connection, limit=MOST_LINE_BYTES)
        try:
            await self._serve_wire(Wire(reader, writer))
        except (OSError, ValueError, TimeoutError) as error:
            log.info("a launcher did not say what it is", reason=type(error).__name__)
        except Exception:
            log.exception("a chat ended by a fault of the gateway")
        finally:
            writer.close()

    async def _serve_wire(self, wire: Wire) -> None:
        async with asyncio.timeout(_HELLO_WITHIN_S):
            about = await wire.hello()
        seat = Seat(wire, about)
        if (prepared := seat.prepared()) is None:
            wire.tell(hello.REFUSED, "")
            await wire.room()
            return
        self._idle_s = prepared.settings.shared_idle_s
        with caller.on_behalf_of(seat.caller):
            logs.of_chat(prepared.settings)
            service = self._service(prepared, about.client_id)
            seat.welcome()
            warning = asyncio.create_task(ineffective.warn(service))
            try:
                connection = Connection(prepared.settings, service, prepared.instructions, folder=caller.folder_name())
                await wire.serve(connection, about)
            finally:
                warning.cancel()

    def _service(self, prepared: Prepared, client_id: str) -> ServiceClient:
        """Return a client of a chat's service for this chat."""
        settings, autostart = prepared.settings, prepared.autostart()
        own = credentials(settings, otherwise=client_id)
        way = settings.url, settings.data_dir, own.are_given
        if way not in self._services:
            self._services[way] = ServiceClient(settings.url, own, autostart, fingerprint())
        return self._services[way].as_client(own, autostart)


def _has_waiting(listener: socket.socket) -> bool:
    """Return whether a launcher has connected but was not yet let in."""
    poll = select.poll()
    poll.register(listener, select.POLLIN)
    return bool(poll.poll(0))


def freeze() -> None:
    """Exclude all imported objects from garbage collection, and make collections rare."""
    gc.freeze()
    gc.set_threshold(*_GC_AFTER)
    gc.enable()
