"""A proxy of the service's own for every connection of a browser, whatever part of the browser opens it.

It looks up a name once, and connects only to addresses that the URL policy permits, so changing a name's address
between check and use gains nothing. Of encrypted traffic it sees host and port; it decrypts nothing.
"""

import asyncio
import contextlib
import socket
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final

from playwright.async_api import ProxySettings

from browse_together.contract.background import Background
from browse_together.contract.errors import ValidationFailed
from browse_together.contract.model import Json
from browse_together.contract.pages import Proxy
from browser_service.host.network.relay import (
    MOST_HEAD,
    BadHeadError,
    Connection,
    Upstream,
    both_ways,
    is_encrypted,
    offers_http2,
    one_answer,
    read_head,
    read_start,
    with_headers,
)
from browser_service.security.addresses import Address, spelled_address
from browser_service.security.urls import UrlPolicy
from browser_service.security.web_address import web_address

_HOST: Final = "127.0.0.1"
_MOST_CONNECTIONS: Final = 2_048
_HEAD_WITHIN_S: Final = 60
_LOOKS_UP_WITHIN_S: Final = 10
_CONNECTS_WITHIN_S: Final = 10
_LOOKUPS_AT_ONCE: Final = 16
_LOOPBACK: Final = ("127.0.0.1", "::1")
_SHARED: Final = ""
_PROXY_FIELD: Final[Json] = {"context": {"field": "proxy.server"}}
_NO_WAY_ROUND: Final = (
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",  # the name in other builds
    "--disable-quic",
)
"""Switches for use with a gate: Chromium then looks up no names itself, and sends nothing by UDP."""
_FIELDS: Final = (
    b"Connection: close",
    b"Cache-Control: no-store",
    b"Content-Type: text/plain; charset=utf-8",
    b"X-Content-Type-Options: nosniff",
)


def network_switches(policy: UrlPolicy) -> tuple[str, ...]:
    """Return the Chromium switches that keep its own connections within the URL policy. Without a gate they make hosts
    that are always refused unresolvable: nothing else checks WebSockets, speculation rules and workers."""
    if policy.needs_gate:
        return _NO_WAY_ROUND
    return ("--host-resolver-rules=" + ", ".join(f"MAP {host} ~NOTFOUND" for host in policy.unreachable_hosts()),)


class RefusedError(Exception):
    """The URL policy refuses a connection. The text says why."""


class Gate:
    """A proxy that passes on what the URL policy permits, directly or through another proxy."""

    def __init__(self, policy: UrlPolicy, upstream: Upstream | None = None) -> None:
        self._policy = policy
        self._upstream = upstream
        self._servers: list[asyncio.Server] = []
        self._serving = Background()
        self._lookups = ThreadPoolExecutor(_LOOKUPS_AT_ONCE, thread_name_prefix="names")
        """Separate threads, so that a slow lookup delays only other lookups."""

    @property
    def port(self) -> int:
        """Return the port of a gate that has started."""
        return int(self._servers[0].sockets[0].getsockname()[1])

    async def start(self) -> None:
        self._servers.append(await asyncio.start_server(self._accept, _HOST, 0, limit=MOST_HEAD))

    async def stop(self) -> None:
        for server in self._servers:
            server.close()
        await self._serving.stop()
        self._lookups.shutdown(wait=False, cancel_futures=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._serving) >= _MOST_CONNECTIONS:
            writer.close()
            return
        self._serving.spawn(self._serve((reader, writer)))

    async def _serve(self, browser: Connection) -> None:
        writer = browser[1]
        try:
            async with asyncio.timeout(_HEAD_WITHIN_S):
                head = await read_head(browser[0])
            method, target, *_ = head.split(b"\r\n", 1)[0].split(b" ")
            serve = self._tunnel if method == b"CONNECT" else self._forward
            await serve(browser, target.decode("ascii"), head)
        except RefusedError as error:
            writer.write(_answer("403 Forbidden", f"{error} It was refused by this browser's owner, not by the site."))
        except (BadHeadError, ValueError):
            writer.write(_answer("400 Bad Request", "This is a proxy."))
        except (OSError, TimeoutError):
            pass  # with no answer the browser fails as it would without a proxy, and takes none of ours for the site's
        finally:
            writer.close()
            with contextlib.suppress(OSError, TimeoutError):
                await writer.wait_closed()

    async def _tunnel(self, browser: Connection, target: str, _: bytes) -> None:
        """Connect a tunnel, as browsers want for encrypted traffic and WebSockets."""
        host, _colon, port = target.rpartition(":")
        place = web_address(f"https://{host}:{port}/")
        self._check_host(place.host, place.port)
        server = await self._connect(place.host, place.port)
        try:
            browser[1].write(b"HTTP/1.1 200 OK\r\n\r\n")
            if self._policy.rules.for_requests and self._policy.rules.goes_by_path(place.host, place.port):
                server[1].write(await self._checked_start(browser[0], target))
            await both_ways(browser, server)
        finally:
            server[1].close()

    async def _checked_start(self, browser: asyncio.StreamReader, place: str) -> bytes:
        """Return the first bytes in a tunnel to a host where rules allow only some paths. Refuses WebSockets to other
        paths, and encrypted WebSockets, whose path is invisible."""
        async with asyncio.timeout(_HEAD_WITHIN_S):
            start = await read_start(browser)
        if is_encrypted(start):
            why = "" if offers_http2(start) else "of an encrypted WebSocket there the path is not seen"
        else:
            why = self._policy.refusal(f"http://{place}{start.split(b' ', 2)[1].decode('ascii')}")
        if why:
            raise RefusedError(f"{place}: {why}.")
        return start

    async def _forward(self, browser: Connection, url: str, head: bytes) -> None:
        """Forward one request and end the connection, because the next request may be for another host."""
        place = web_address(url)
        if not url.startswith("http://"):
            raise BadHeadError
        if self._policy.rules.for_requests and (why := self._policy.refusal(url)):
            raise RefusedError(f"{url[:200]}: {why}.")
        self._check_host(place.host, place.port)
        if self._upstream is None or self._upstream.socks:
            server = await self._connect(place.host, place.port)
            target, more = "/" + url.removeprefix("http://").partition("/")[2], b""
        else:
            await self._check_lookup(self._upstream, place.host, place.port)
            server, target, more = await self._open_upstream(self._upstream), url, self._upstream.authorization
        try:
            server[1].write(with_headers(head, target.encode(), more))
            await one_answer(browser, server)
        finally:
            server[1].close()

    def _check_host(self, host: str, port: int) -> None:
        if why := self._policy.refusal_of_host(host, port):
            raise RefusedError(f"{host}:{port}: {why}.")

    async def _connect(self, host: str, port: int) -> Connection:
        """Connect to a host at an address that the policy permits."""
        if self._upstream is not None:
            await self._check_lookup(self._upstream, host, port)
            server = await self._open_upstream(self._upstream)
            async with asyncio.timeout(_HEAD_WITHIN_S):
                return await self._upstream.tunnel(server, host, port)
        return await _open(self._permitted(host, await self._addresses(host), port), port)

    async def _open_upstream(self, upstream: Upstream) -> Connection:
        """Connect to the other proxy. If an agent chose it, its address must be one that the policy permits."""
        addresses = await self._addresses(upstream.host)
        if not upstream.by_owner:
            addresses = self._permitted(upstream.host, addresses, upstream.port)
        return await _open(addresses, upstream.port, tls_name=upstream.host if upstream.tls else None)

    async def _check_lookup(self, upstream: Upstream, host: str, port: int) -> None:
        """Refuse a host whose addresses are all refused. The other proxy resolves names itself; if the owner named it
        and the policy needs no gate, no name is looked up here."""
        try:
            addresses = await self._addresses(host, looks_up=self._policy.needs_gate or not upstream.by_owner)
        except OSError:
            return  # a name that only the other proxy can resolve
        self._permitted(host, addresses, port)

    async def _addresses(self, host: str, *, looks_up: bool = True) -> list[Address]:
        if address := spelled_address(host):
            return [address]
        if f".{host}".endswith(".localhost"):
            return [address for text in _LOOPBACK if (address := spelled_address(text))]
        if not looks_up:
            return []
        look_up = partial(socket.getaddrinfo, host, None, type=socket.SOCK_STREAM)
        async with asyncio.timeout(_LOOKS_UP_WITHIN_S):
            found = await asyncio.get_running_loop().run_in_executor(self._lookups, look_up)
        texts = dict.fromkeys(str(each[4][0]).partition("%")[0] for each in found)
        return [address for text in texts if (address := spelled_address(text))]

    def _permitted(self, host: str, addresses: list[Address], port: int) -> list[Address]:
        reasons = {address: self._policy.refusal_of_address(address, port) for address in addresses}
        permitted = [address for address, why in reasons.items() if not why]
        if not permitted and reasons:
            address, why = next(iter(reasons.items()))
            raise RefusedError(f"{host} leads to {address}: {why}.")
        return permitted


class Gates:
    """The gates for browsers: one for browsers themselves, and one for each session with its own proxy."""

    def __init__(self, policy: UrlPolicy, proxy: str | None) -> None:
        self._policy = policy
        self._proxy = proxy
        self._gates: dict[str, Gate] = {}
        self._lock = asyncio.Lock()

    async def for_browser(self) -> ProxySettings | None:
        """Return the proxy settings for starting a browser: a gate, if the policy needs one or the owner named a proxy;
        else None. Through another proxy, Chromium itself would refuse no WebSocket."""
        if not (self._policy.needs_gate or self._proxy):
            return None
        return await self._open(_SHARED, Upstream.of(self._proxy, by_owner=True) if self._proxy else None)

    async def for_session(self, session_id: str, proxy: Proxy) -> ProxySettings:
        """Return the proxy settings for the pages of a session. Raises Forbidden for a proxy that the policy
        refuses."""
        self.check(proxy)
        return await self._open(session_id, Upstream.of(proxy.server, proxy.username, proxy.password, by_owner=False))

    def check(self, proxy: Proxy) -> None:
        """Raise Forbidden if a session's proxy is where no page may go, and ValidationFailed if it is no proxy."""
        try:
            upstream = Upstream.of(proxy.server, by_owner=False)
        except ValueError as error:
            raise ValidationFailed(
                f"The proxy {proxy.server!r} cannot be used: {error}.",
                hint="Name a proxy such as http://host:port.",
                details=_PROXY_FIELD,
            ) from None
        host = f"[{upstream.host}]" if ":" in upstream.host else upstream.host
        self._policy.check_server(f"{host}:{upstream.port}")

    async def close(self, session_id: str) -> None:
        gate = self._gates.pop(session_id, None)
        if gate is not None:
            await gate.stop()

    async def stop(self) -> None:
        for session_id in [*self._gates]:
            await self.close(session_id)

    async def _open(self, session_id: str, upstream: Upstream | None) -> ProxySettings:
        async with self._lock:
            if session_id not in self._gates:
                gate = Gate(self._policy, upstream)
                await gate.start()
                self._gates[session_id] = gate
            return ProxySettings(server=f"http://127.0.0.1:{self._gates[session_id].port}", bypass="<-loopback>")


async def _open(addresses: list[Address], port: int, tls_name: str | None = None) -> Connection:
    error: OSError = OSError("the name leads to no address")
    for address in addresses:
        try:
            async with asyncio.timeout(_CONNECTS_WITHIN_S):
                return await asyncio.open_connection(
                    str(address), port, limit=MOST_HEAD, ssl=True if tls_name else None, server_hostname=tls_name
                )
        except OSError as failed:  # TimeoutError included
            error = failed
    raise error


def _answer(status: str, text: str) -> bytes:
    body = f"{text}\n".encode(errors="replace")
    return b"\r\n".join((f"HTTP/1.1 {status}".encode(), *_FIELDS, b"Content-Length: %d" % len(body), b"", body))
