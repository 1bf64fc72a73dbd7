"""Relays connections to the web or to another proxy, and adapts the heads of messages."""

import asyncio
import base64
import contextlib
import re
from dataclasses import dataclass
from ipaddress import IPv4Address
from typing import Final, Self
from urllib.parse import urlsplit

from browse_together.contract.background import until_one_ends
from browser_service.security.addresses import spelled_address
from browser_service.security.web_address import host_spelling

MOST_HEAD: Final = 262_144
"""The most bytes of a message's head, and of data buffered in one direction."""
_PIECE: Final = 65_536
_TLS_HANDSHAKE: Final = b"\x16"
_TLS_HEAD: Final = 5
_OF_CONNECTION: Final = frozenset({b"connection", b"keep-alive", b"proxy-connection", b"proxy-authorization"})
_STILL_COMING: Final = re.compile(rb"HTTP/1\.[01] 1(?!01)\d\d ")
_PORTS: Final = {"http": 80, "https": 443, "socks4": 1080, "socks5": 1080}
_AGREED: Final = re.compile(rb"HTTP/1\.[01] 2\d\d ")
_GRANTED, _ASKS_WHO = 90, 2
_IPV4_BYTES, _MOST_BYTES = 4, 255
Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class BadHeadError(Exception):
    """A message without a readable head."""


async def read_head(reader: asyncio.StreamReader) -> bytes:
    """Read a message's head, including the empty line at its end. Raises BadHeadError."""
    try:
        return await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        raise BadHeadError from None


async def read_start(reader: asyncio.StreamReader) -> bytes:
    """Read the start of a browser's traffic in a tunnel: a TLS greeting or a message's head. Raises BadHeadError."""
    try:
        first = await reader.readexactly(1)
        if not is_encrypted(first):
            return first + await read_head(reader)
        first += await reader.readexactly(_TLS_HEAD - 1)
        return first + await reader.readexactly(int.from_bytes(first[-2:]))
    except asyncio.IncompleteReadError:
        raise BadHeadError from None


def is_encrypted(start: bytes) -> bool:
    return start[:1] == _TLS_HANDSHAKE


def offers_http2(greeting: bytes) -> bool:
    """Return whether a TLS greeting offers HTTP/2, as it does for pages; for WebSockets browsers offer only
    HTTP/1.1."""
    return b"\x02h2" in greeting


def with_headers(head: bytes, target: bytes, more: bytes = b"") -> bytes:
    """Return a request's head for the next hop: with another target, more headers, and closing after this request."""
    method, _, version = head.split(b"\r\n", 1)[0].split(b" ")
    return b" ".join((method, target, version)) + b"\r\n" + more + _closing(head)


async def both_ways(one: Connection, other: Connection) -> None:
    """Carry bytes in both directions until one side ends. Browsers and web servers end both directions at once."""
    await until_one_ends(_carry(one[0], other[1]), _carry(other[0], one[1]))


async def one_answer(browser: Connection, server: Connection) -> None:
    """Carry a request's body and the answer, then end the connection. Raises BadHeadError, OSError."""
    await until_one_ends(_answer(browser, server), _carry(browser[0], server[1]))


async def _answer(browser: Connection, server: Connection) -> None:
    while _STILL_COMING.match(head := await read_head(server[0])):
        browser[1].write(head)
    browser[1].write(head.split(b"\r\n", 1)[0] + b"\r\n" + _closing(head))
    await _carry(server[0], browser[1])


async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Carry bytes in one direction, no faster than the receiver takes them."""
    with contextlib.suppress(OSError):
        while piece := await reader.read(_PIECE):
            writer.write(piece)
            await writer.drain()


def _closing(head: bytes) -> bytes:
    """Return a head's fields without those of the last hop, and with `Connection: close`."""
    fields = head.split(b"\r\n")[1:-2]
    kept = [field for field in fields if field.partition(b":")[0].strip().lower() not in _OF_CONNECTION]
    return b"\r\n".join([*kept, b"Connection: close", b"", b""])


@dataclass(frozen=True)
class Upstream:
    """A proxy between the gate and the web, named by the owner or an agent."""

    host: str
    port: int
    tls: bool = False
    socks: int = 0
    """The SOCKS version; 0 for an HTTP proxy."""
    login: tuple[str, str] = "", ""
    by_owner: bool = True

    @classmethod
    def of(cls, server: str, username: str | None = None, password: str | None = None, *, by_owner: bool) -> Self:
        """Parse a proxy as people write it. Raises ValueError for an unknown kind of proxy."""
        parts = urlsplit(server if "://" in server else f"http://{server}")
        if parts.scheme not in _PORTS or not parts.hostname:
            raise ValueError(f"{parts.scheme} is no kind of proxy that is known; {', '.join(_PORTS)} are")
        return cls(
            host_spelling(parts.hostname),
            parts.port or _PORTS[parts.scheme],
            tls=parts.scheme == "https",
            socks=int(parts.scheme.removeprefix("socks")) if parts.scheme.startswith("socks") else 0,
            login=(username or "", password or ""),
            by_owner=by_owner,
        )

    @property
    def authorization(self) -> bytes:
        """Return the header with the login for an HTTP proxy; empty without a login."""
        if not self.login[0]:
            return b""
        return b"Proxy-Authorization: Basic " + base64.b64encode(":".join(self.login).encode()) + b"\r\n"

    async def tunnel(self, proxy: Connection, host: str, port: int) -> Connection:
        """Have the proxy connect to a host. Raises OSError if it does not."""
        tunnel = {0: self._by_http, 4: self._by_socks4, 5: self._by_socks5}[self.socks]
        try:
            answer = await tunnel(proxy, host, port)
        except (BadHeadError, asyncio.IncompleteReadError):
            answer = "nothing"
        if answer:
            proxy[1].close()
            raise OSError(f"the proxy answered {answer}")
        return proxy

    async def _by_http(self, proxy: Connection, host: str, port: int) -> str:
        """Connect by HTTP. Returns the proxy's answer if it refuses, else ""."""
        place = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        proxy[1].write(f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n".encode() + self.authorization + b"\r\n")
        answer = await read_head(proxy[0])
        return "" if _AGREED.match(answer) else repr(answer.split(b"\r")[0][:80].decode(errors="replace"))

    async def _by_socks4(self, proxy: Connection, host: str, port: int) -> str:
        """Connect by SOCKS 4a, which sends a name after an invalid address. Returns the refusal, or ""."""
        address = spelled_address(host)
        packed, name = (address.packed, b"") if address else (b"\0\0\0\1", host.encode() + b"\0")
        user = self.login[0].encode() + b"\0"
        if len(packed) != _IPV4_BYTES:
            return "nothing: SOCKS 4 knows no address of IPv6"
        proxy[1].write(b"\4\1" + port.to_bytes(2) + packed + user + name)
        code = (await proxy[0].readexactly(8))[1]
        return "" if code == _GRANTED else f"code {code}"

    async def _by_socks5(self, proxy: Connection, host: str, port: int) -> str:
        """Connect by SOCKS 5 (RFC 1928 and 1929). Returns the refusal, or ""."""
        reader, writer = proxy
        username, password = (each.encode()[:_MOST_BYTES] for each in self.login)
        writer.write(b"\5\2\0\2" if username else b"\5\1\0")
        method = (await reader.readexactly(2))[1]
        if method == _ASKS_WHO and username:
            writer.write(b"\1" + bytes([len(username)]) + username + bytes([len(password)]) + password)
            if (await reader.readexactly(2))[1]:
                return "that it refuses the name and the password"
        elif method:
            return "that it wants another proof of who asks"
        address, name = spelled_address(host), host.encode()[:_MOST_BYTES]
        if address is None:
            place = b"\3" + bytes([len(name)]) + name
        else:
            place = (b"\1" if isinstance(address, IPv4Address) else b"\4") + address.packed
        writer.write(b"\5\1\0" + place + port.to_bytes(2))
        code, _, kind_of_own = (await reader.readexactly(4))[1:]
        length = {1: 4, 4: 16}.get(kind_of_own) or (await reader.readexactly(1))[0]
        await reader.readexactly(length + 2)
        return f"code {code}" if code else ""
