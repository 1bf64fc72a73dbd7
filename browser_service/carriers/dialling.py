"""Dials the front: the client's side of a WebSocket."""

import contextlib
import json
import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus

from browse_together.contract.errors import ErrorBody, Relayed, Unauthorized
from browse_together.contract.loopback import is_loopback
from browse_together.contract.wire import HOSTS_LINK, MAX_LINK_BYTES
from browser_service.carriers.wire import LinkLost

DIAL_WITHIN_S: Final = 10.0
_FOR_GOOD: Final = frozenset({400, 401, 403, 404})
"""Refusals that repeating does not change."""


@dataclass(frozen=True)
class Front:
    """Where a host dials in."""

    url: str
    """http(s)://host:port."""
    token: Callable[[], str]
    """Returns the host's token; asked anew at each dial."""
    tls: ssl.SSLContext | None = None
    """For https; the system's without."""


class SocketWire:
    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection

    @property
    def peer(self) -> str:
        """Return the address that was connected to, and its port."""
        host, port, *_ = self._connection.remote_address
        return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

    async def send(self, text: bytes) -> None:
        try:
            await self._connection.send(text)
        except ConnectionClosed as error:
            raise LinkLost(str(error)) from None

    async def receive(self) -> bytes:
        try:
            message = await self._connection.recv()
        except ConnectionClosed as error:
            raise LinkLost(str(error)) from None
        if isinstance(message, str):
            raise LinkLost("the front sent what is no message of ours")
        return message

    def abort(self) -> None:
        self._connection.transport.abort()


@contextlib.asynccontextmanager
async def dialled(front: Front, headers: Mapping[str, str]) -> AsyncIterator[SocketWire]:
    """Yield a connection, which is cut afterwards. Raises LinkLost, and Relayed with a refusal that lasts."""
    url = f"ws{front.url.removeprefix('http')}{HOSTS_LINK}"
    try:
        connection = await connect(
            url,
            additional_headers=headers,
            compression=None,
            max_size=MAX_LINK_BYTES,
            open_timeout=DIAL_WITHIN_S,
            ping_interval=None,
            proxy=None if is_loopback(urlsplit(url).hostname or "") else True,
            ssl=(front.tls or True) if url.startswith("wss:") else None,
            close_timeout=0,
        )
    except InvalidStatus as error:
        status = error.response.status_code
        refusal = refused(bytes(error.response.body or b""), status) or Unauthorized(f"The front answered {status}.")
        if status in _FOR_GOOD:
            raise refusal from None
        raise LinkLost(refusal.message, sent=False) from None
    except (OSError, TimeoutError, InvalidHandshake, ConnectionClosed, EOFError) as error:
        raise LinkLost(f"{front.url} cannot be reached: {error}", sent=False) from None
    wire = SocketWire(connection)
    try:
        yield wire
    finally:
        wire.abort()


def refused(body: bytes, status: int) -> Relayed | None:
    """Return the error in a reply of the front's; None if there is none in it."""
    with contextlib.suppress(ValueError, KeyError, TypeError):
        return Relayed(ErrorBody.model_validate({"status": status, **json.loads(body)["error"]}))
    return None
