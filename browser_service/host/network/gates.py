"""Opens the gates that browsers connect through, where the settings or a proxy need one."""

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
        """Return what a browser is started to connect through: a gate, where every connection must be looked at. One
        that goes by another proxy must be: there the browser itself keeps no WebSocket from anywhere."""
        if not (self._policy.needs_gate or self._proxy):
            return None
        return await self._open(_SHARED, Upstream.of(self._proxy, by_owner=True) if self._proxy else None)

    async def for_session(self, session_id: str, proxy: Proxy) -> ProxySettings:
        """Return what the pages of a session connect through. Raises Forbidden for a proxy that may not be used."""
        self.check(proxy)
        return await self._open(session_id, Upstream.of(proxy.server, proxy.username, proxy.password, by_owner=False))

    def check(self, proxy: Proxy) -> None:
        """Raise Forbidden for a session's proxy that lies where no page may go, ValidationFailed for what is none."""
        try:
            upstream = Upstream.of(proxy.server, by_owner=False)
        except ValueError as error:
            raise ValidationFailed(
                f"The proxy {proxy.server!r} cannot be used: {error}.",
                hint="Name a proxy such as http://host:port.",
                details=_FIELD,
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
