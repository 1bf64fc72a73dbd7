"""What an attack needs: a client, by a gateway and by HTTP, and a site."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import httpx

from benchmarks.processes import Failed, Gateway, Service
from client.credentials import Credentials
from shared import wire
from tests.support.json import AnyJson

CLIENT_ID = "bench-attacker"
_LONGEST_CALL_S = 60


@dataclass(frozen=True)
class Attacker:
    """A client that means harm. Its site is a separate process, so that serving a flood delays no measurement."""

    service: Service
    gate: Gateway
    site: str
    """Address of its site, without a slash at the end."""
    http: httpx.AsyncClient
    """Connection to the service as the same client."""

    async def post(self, action: str, **arguments: AnyJson) -> dict[str, AnyJson]:
        """Call the service by HTTP, and ignore failures. Many calls may run at once."""
        reply = await self.http.post(wire.BROWSER, json={"action": action, **arguments})
        return dict(reply.json())

    async def open(self, path: str, page_id: str = "hostile") -> None:
        """Open a page of the site. It may attack at once, so this need not succeed."""
        try:
            await self.gate.call("goto", pageId=page_id, url=self.site + path, waitUntil="commit")
        except (Failed, TimeoutError):
            return

    async def click(self, selector: str = "#go", page_id: str = "hostile") -> None:
        """Click on a page, which gives its scripts what only a person's click does, such as a popup."""
        try:
            await self.gate.call("click", pageId=page_id, selector=selector)
        except (Failed, TimeoutError):
            return


Attack = Callable[[Attacker], Awaitable[None]]
"""An attack, until it is done or cancelled. Any failure in it is the defender's success."""


def client_of(service: Service) -> httpx.AsyncClient:
    """Return an HTTP client that the service takes for the attacker's."""
    headers = Credentials(CLIENT_ID, service.data_dir).headers()
    return httpx.AsyncClient(base_url=service.url, headers=headers, timeout=_LONGEST_CALL_S)


async def for_ever() -> None:
    """Wait until the attack is ended; its page goes on by itself."""
    await asyncio.Event().wait()
