"""Runs the site on a port, and stops it without waiting for pages that are still open."""

import socket
from collections.abc import Callable

import uvicorn

from examples.smart_home.site import create_site
from examples.smart_home.state import Home

# Open event streams end at once; other responses may take this long.
STOP_SECONDS = 2


class SiteServer(uvicorn.Server):
    """A server of one house on one port; port 0 takes a free one. `announce` gets the URL when the server answers."""

    def __init__(
        self, home: Home, host: str = "127.0.0.1", port: int = 0, announce: Callable[[str], None] = lambda _: None
    ) -> None:
        site = create_site(home)
        super().__init__(uvicorn.Config(site, host, port, log_level="warning", timeout_graceful_shutdown=STOP_SECONDS))
        self.home = home
        self.announce = announce

    @property
    def url(self) -> str:
        """Return the site's address, once it has started."""
        host = f"[{self.config.host}]" if ":" in self.config.host else self.config.host
        return f"http://{host}:{self.servers[0].sockets[0].getsockname()[1]}"

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.announce(self.url)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self.home.release_followers()
        await super().shutdown(sockets)
