"""Is a proxy that stands between the gate and the web, because the owner or an agent has named one."""

import base64
import re
from dataclasses import dataclass
from typing import Final, Self
from urllib.parse import urlsplit

from browser_service.host.network.relay import BadHeadError, Connection, read_head
from browser_service.security.hosts import parse_host

_PORTS: Final = {"http": 80, "https": 443}
_AGREED: Final = re.compile(rb"HTTP/1\.[01] 2\d\d ")


@dataclass(frozen=True)
class Upstream:
    """Says where the proxy is, and what it asks for."""

    host: str
    port: int
    tls: bool = False
    authorization: bytes = b""
    by_owner: bool = True

    @classmethod
    def of(cls, server: str, username: str | None = None, password: str | None = None, *, by_owner: bool) -> Self:
        """Read it as people write it. Raises ValueError for a kind that the gate does not speak with."""
        parts = urlsplit(server if "://" in server else f"http://{server}")
        if parts.scheme not in _PORTS or not parts.hostname:
            raise ValueError(f"{parts.scheme} is no kind of proxy that can be checked; http and https are")
        credentials = base64.b64encode(f"{username}:{password or ''}".encode())
        return cls(
            parse_host(parts.hostname)[0],
            parts.port or _PORTS[parts.scheme],
            tls=parts.scheme == "https",
            authorization=b"Proxy-Authorization: Basic " + credentials + b"\r\n" if username else b"",
            by_owner=by_owner,
        )

    async def tunnel(self, proxy: Connection, host: str, port: int) -> Connection:
        """Have the proxy connect to a host. Raises OSError if it does not."""
        place = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        proxy[1].write(f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n".encode() + self.authorization + b"\r\n")
        try:
            answer = await read_head(proxy[0])
        except BadHeadError:
            answer = b""
        if not _AGREED.match(answer):
            proxy[1].close()
            raise OSError(f"the proxy answered {answer.split(bytes([13]))[0][:80].decode(errors='replace')!r}")
        return proxy
