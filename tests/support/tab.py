"""Provides an agent's own page: what it shows, and what its document sees."""

import contextlib
import re
import secrets
import socket
from dataclasses import dataclass, field
from typing import Any, Final

from tests.support.json import AnyJson
from tests.support.service import Agent
from tests.support.site import Route, Site


def closed_port() -> int:
    """Return a port of this machine where nothing listens. It is none of those that are given to who asks for any, as
    sites, services and browsers of other tests do all the time: one of these could have it before it is used."""
    while True:
        port = 20_000 + secrets.randbelow(12_000)
        with contextlib.suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
            return port


class Unhurried(str):
    """A text of a reply, whatever time that says it waited: how long is the machine's business."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and str(self) == re.sub(r" within \d+\.\d s", "", other)


NOTHING: Final = Unhurried("nothing observable: no navigation, request, popup, dialog or change of the document")


@dataclass
class Tab:
    """The agent's only page, unless a test opens more, so that calls need no pageId."""

    agent: Agent
    site: Site
    _pages: int = field(default=0)

    async def show(self, route: Route, path: str = "", host: str = "127.0.0.1") -> str:
        """Go to a document of the site, and return its URL."""
        self._pages += 1
        path = path or f"/page-{self._pages}"
        self.site.page(path, route)
        url = self.site.url(path, host)
        await self.agent.call("goto", pageId="tab", url=url)
        return url

    async def sees(self, expression: str) -> Any:
        """Return the value of an expression in the page. Any: whatever JSON it gives."""
        return (await self.agent.call("evaluate_script", expression=expression))["value"]

    async def call(self, action: str, **arguments: AnyJson) -> dict[str, AnyJson]:
        return await self.agent.call(action, **arguments)

    async def error(self, action: str, **arguments: AnyJson) -> dict[str, AnyJson]:
        return await self.agent.error(action, **arguments)
