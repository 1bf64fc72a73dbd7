"""The shared process: it serves the chats whose launchers connect, and ends some time after the last."""

import asyncio
import contextlib
import gc
import socket
import time
from typing import Final

import structlog
from pydantic import ValidationError

from client import caller
from client.http import ServiceClient
from client.instance import Autostart
from mcp_gateway import ineffective, logs
from mcp_gateway.chats import credentials
from mcp_gateway.connection import Connection
from mcp_gateway.settings import Settings
from mcp_gateway.sharing import frames
from mcp_gateway.sharing.place import NotShared, Place, is_own
from mcp_gateway.sharing.seat import Refused, Seat, Wire, greeting
from mcp_gateway.stdio.relay import Relay
from shared.written import fingerprint

_HELLO_WITHIN_S: Final = 10.0
_FIRST_WITHIN_S: Final = 60.0
_CLOSE_WITHIN_S: Final = 0.5
_ACCEPT_AGAIN_S: Final = 0.2
_LOOK_AGAIN_S: Final = 0.2
_BUFFER_BYTES: Final = 262_144
_GC_AFTER: Final = (20_000, 20, 20)
"""Collect garbage seldom, because all chats wait meanwhile."""

log = structlog.get_logger()


class Services:
    """Has one way to each service, which all of its chats share."""

    def __init__(self) -> None:
        self._clients: dict[tuple[object, ...], ServiceClient] = {}

    def client(self, settings: Settings, client_id: str, autostart: Autostart) -> ServiceClient:
        """Return a client of the settings' service, as the chat of these settings."""
        own = credentials(settings, otherwise=client_id)
        way = settings.url, settings.data_dir, own.are_given
        if way not in self._clients:
            self._clients[way] = ServiceClient(settings.url, own, autostart, fingerprint())
        return self._clients[way].as_client(own, autostart)

    async def close(self) -> None:
        for client in self._clients.values():
            await client.close(_CLOSE_WITHIN_S)


class SharedProcess:
    """Serves each connection of a listening socket as a chat of its own."""

    def __init__(self, listener: socket.socket, place: Place, first: socket.socket | None = None) -> None:
        """`first` is the connection of a chat that has been let in already."""
        self._listener = listener
        self._first = first
        self._place = place
        self._services = Services()
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
            self._first.setblocking(False)  # noqa: FBT003 - as above
            self._let_in(self._first)
        accepting = asyncio.create_task(self._accept())
        while not await self._is_over():
            pass
        accepting.cancel()
        await self._services.close()

    async def _accept(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                connection, _ = await loop.sock_accept(self._listener)
            except OSError as error:  # too many files are open: a chat that ends closes some
                log.warning("a chat cannot be let in", reason=error.strerror)
                await asyncio.sleep(_ACCEPT_AGAIN_S)
                continue
            if not is_own(connection):
                connection.close()
                continue
            self._let_in(connection)

    def _let_in(self, connection: socket.socket) -> None:
        chat = asyncio.create_task(self._serve(connection))
        self._chats.add(chat)
        self._has_come.set()
        chat.add_done_callback(self._chats.discard)

    async def _is_over(self) -> bool:
        """Wait while there are chats, and then for as long as is set. Returns whether none has come, and no launcher
        can find this process any more."""
        if self._chats:
            await asyncio.wait(self._chats, return_when=asyncio.FIRST_COMPLETED)
            self._quiet_since = time.monotonic()
            return False
        if (left_s := self._quiet_since + self._idle_s - time.monotonic()) > 0:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._has_come.wait(), left_s)
            self._has_come.clear()
            return False
        if self._place.socket_id() != self._socket_id:  # it was removed, or another one is there
            return not self._chats
        try:
            with self._place.locked(within_s=0):
                await asyncio.sleep(0)  # who connected before the lock was had is let in
                if not self._chats and not _has_waiting(self._listener):
                    self._place.leave()
                    return True
        except NotShared:  # a launcher is looking for this process
            await asyncio.sleep(_LOOK_AGAIN_S)
        return False

    async def _serve(self, connection: socket.socket) -> None:
        reader, writer = await asyncio.open_unix_connection(sock=connection, limit=_BUFFER_BYTES)
        try:
            await self._serve_wire(Wire(reader, writer))
        except (OSError, EOFError, TimeoutError, ValidationError, frames.WrongFrame) as error:
            log.info("a launcher did not say what it is", reason=type(error).__name__)
        finally:
            writer.close()

    async def _serve_wire(self, wire: Wire) -> None:
        async with asyncio.timeout(_HELLO_WITHIN_S):
            hello, environment = await greeting(wire)
        seat = Seat(wire, hello, environment)
        try:
            seat.prepare()
        except Refused as error:
            wire.send(frames.REFUSED, body=str(error).encode())
            await wire.room()
            return
        self._idle_s = seat.prepared.settings.shared_idle_s
        with caller.on_behalf_of(seat.caller):
            logs.of_chat(seat.prepared.settings)
            await self._serve_chat(seat)

    async def _serve_chat(self, seat: Seat) -> None:
        settings, hello = seat.prepared.settings, seat.hello
        service = self._services.client(settings, hello.client_id, seat.prepared.autostart())
        connection = Connection(settings, service, seat.prepared.instructions)
        seat.keep(connection)
        seat.welcome()
        for call_id in hello.cancelled:
            service.cancel(call_id)
        warning = asyncio.create_task(ineffective.warn(service))
        relay = asyncio.create_task(Relay(seat, f"{hello.generation}-" if hello.generation else "").serve(connection))
        try:
            await relay
        except Exception:
            log.exception("a chat ended by a fault of the gateway")
        finally:
            warning.cancel()


def _has_waiting(listener: socket.socket) -> bool:
    """Return whether a launcher has connected and was not let in yet."""
    import select  # noqa: PLC0415 - for the end alone

    poll = select.poll()
    poll.register(listener, select.POLLIN)
    return bool(poll.poll(0))


def freeze() -> None:
    """Take all that was imported for lasting, and collect the rest seldom."""
    gc.freeze()
    gc.set_threshold(*_GC_AFTER)
    gc.enable()
