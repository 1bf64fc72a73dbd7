"""Reads the record of who did what, and serves a site with something to do."""

import contextlib
from collections.abc import AsyncIterator

import httpx

from browse_together.client.credentials import mint
from browse_together.contract import wire
from browse_together.contract.secret import ensure_secret
from examples.processes import ServiceProcess
from tests.support.json import AnyJson
from tests.support.service import Agent, RunningService
from tests.support.site import Answer, Site


async def recorded(agent: Agent, **filters: AnyJson) -> list[dict[str, AnyJson]]:
    """Return the newest records. Any: any filter's value."""
    reply = await agent.call("get_activity", format="records", **filters)
    return list(reply["records"])


def logging_out(site: Site) -> str:
    site.page("/logout", Answer("", 303, headers={"location": "/login"}))
    site.page("/login", "<h1>Log in</h1>")
    return site.page("/account", "<form method=post action=/logout><button id=logout>Log out</button></form>")


@contextlib.asynccontextmanager
async def caller(service: ServiceProcess, label: str) -> AsyncIterator[Agent]:
    """Return a client of a service that is a process of its own."""
    token = mint(ensure_secret(service.data_dir), label, label)
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(base_url=service.url, headers=headers, timeout=60, trust_env=False) as http:
        yield Agent(http, label, label)


async def forgotten(service: RunningService, client: str) -> dict[str, int]:
    """Return what `browse-together forget` is answered."""
    async with service.agent() as operator:
        token = mint(service.secret, "cli", "CLI", operator=True)
        headers = {"Authorization": f"Bearer {token}"}
        reply = await operator.http.delete(wire.ACTIVITY, params={"client": client}, headers=headers)
    assert reply.status_code == 200, reply.text
    return dict(reply.json()["result"])
