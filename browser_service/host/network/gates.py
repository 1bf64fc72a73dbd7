"""Opens the gates that browsers connect through, where the settings or a session's proxy need one."""

import asyncio
from typing import Final

from playwright.async_api import ProxySettings

from browser_service.host.network.gate import Gate
from browser_service.host.network.upstream import Upstream
from browser_service.security.urls import UrlPolicy
from shared.errors import ValidationFailed
from shared.model import Json
from shared.pages import Proxy

_SHARED: Final = ""
_FIELD: Final[Json] = {"context": {"field": "proxy.server"}}


class Gates:
    """Keeps one for the browsers, and one for each session that has a proxy of its own."""

    def __init__(self, policy: UrlPolicy, proxy: str | None) -> None:
        self._policy = policy
        self._proxy = proxy
        self._gates: dict[str, Gate] = {}
        self._lock = asyncio.Lock()

    async def for_browser(self) -> ProxySettings | None:
        """Return the proxy that a browser is started with: the owner's own, or a gate before it. Raises
        ValidationFailed for one that no gate speaks with."""
        if not self._policy.needs_gate:
            return ProxySettings(server=self._proxy) if self._proxy else None
        upstream = _upstream(self._proxy, by_owner=True) if self._proxy else None
        return await self._open(_SHARED, upstream)

    async def for_session(self, session_id: str, proxy: Proxy) -> ProxySettings:
        """Return what the pages of a session connect through. Raises Forbidden for a proxy that may not be used."""
        self.check(proxy)
        if _is_socks(proxy.server):
            settings = ProxySettings(server=proxy.server)
            if proxy.username:
                settings["username"], settings["password"] = proxy.username, proxy.password or ""
            return settings
        upstream = Upstream.of(proxy.server, proxy.username, proxy.password, by_owner=False)
        return await self._open(session_id, upstream)

    def check(self, proxy: Proxy) -> None:
        """Raise Forbidden for a session's proxy that lies where no page may go, or that no gate can look behind."""
        if _is_socks(proxy.server):
            if self._policy.needs_gate:
                _upstream(proxy.server, by_owner=False)
            self._policy.check_server(proxy.server.partition("://")[2])
        else:
            upstream = _upstream(proxy.server, by_owner=False)
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


def _is_socks(server: str) -> bool:
    return server.lower().startswith("socks")


def _upstream(server: str, *, by_owner: bool) -> Upstream:
    try:
        return Upstream.of(server, by_owner=by_owner)
    except ValueError as error:
        raise ValidationFailed(
            f"The proxy {server!r} cannot be used: {error}. BROWSE_PRIVATE_NETWORK=refuse and "
            "BROWSE_URL_RULES_FOR=requests look at every connection.",
            hint="Name a proxy such as http://host:port.",
            details=_FIELD,
        ) from None
