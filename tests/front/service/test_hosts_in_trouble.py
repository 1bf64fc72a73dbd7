"""Tests hosts that come and go by chance while clients act: nothing happens twice, and every session goes on."""

import asyncio
import itertools
import random
from collections import Counter
from pathlib import Path

import pytest

from browse_together.contract.errors import InvalidRequest
from tests.support.clock import Clock
from tests.support.fleets import Elsewhere, Front, front
from tests.support.service import Agent
from tests.support.site import Answer, Received, Site

pytestmark = [pytest.mark.anyio, pytest.mark.thorough]

LONGEST_DELAY_S = 0.05
CLIENTS = 3
ACTS = 12
HARMLESS = {"SERVICE_UNAVAILABLE", "RESOURCE_EXHAUSTED"}
"""What is said of acts that certainly did not happen."""


class Trouble:
    """Hosts that are lost, emptied, cut off and replaced."""

    def __init__(self, fleet: Front, clock: Clock, seed: int) -> None:
        self._fleet, self._clock = fleet, clock
        self._random = random.Random(seed)  # noqa: S311 - a test's dice, thrown again by its seed
        self._names = itertools.count(1)
        self.hosts: list[Elsewhere] = []
        self.made = Counter[str]()

    def join(self) -> None:
        self.hosts.append(self._fleet.join(f"h{next(self._names)}"))

    async def make(self) -> None:
        """Make some trouble, and leave two hosts to which sessions can go."""
        await asyncio.sleep(self._random.uniform(0, LONGEST_DELAY_S))  # in the midst of calls
        host = self._random.choice(self.hosts)
        kind = self._random.choice(("lose", "drain", "idle", "cut"))
        self.made[kind] += 1
        if kind == "lose":
            self.hosts.remove(host)
            await host.back.end_calls()  # as a host without a lease does, before anything else
            self._fleet.lose(host)
        elif kind == "drain":
            try:
                self._fleet.fleet.lifecycle.drain(host.name)
                self.hosts.remove(host)
            except InvalidRequest:  # the last one
                pass
        elif kind == "idle":
            self._clock.pass_s(61)
            await self._fleet.fleet.router.part_idle()
        else:
            host.linked = False
            await asyncio.sleep(0.01)  # it is back before long
            host.linked = True
            self._fleet.fleet.lifecycle.joined(host)
        while len(self.hosts) < 2:
            self.join()


@pytest.mark.parametrize("seed", range(2))
async def test_whatever_befalls_hosts_no_act_happens_twice_and_every_session_goes_on(
    tmp_path: Path, site: Site, seed: int
) -> None:
    posts, numbers = Counter[str](), itertools.count(1)
    clock = Clock()

    def form(received: Received) -> Answer:
        if received.method == "POST":
            posts[received.path] += 1
        number = received.path.rpartition("=")[2]
        return Answer(f'<form method="post" action="/act?n={number}"><button>Send</button></form>')

    site.page("/act", form)

    async def act(agent: Agent, name: str) -> None:
        number = f"{seed}.{next(numbers)}"
        there = await agent.reply("goto", pageId=name, sessionId=name, url=site.url(f"/act?n={number}"))
        if not there.is_success:
            return
        reply = (await agent.reply("click", pageId=name, selector="button")).json()
        sent = posts[f"/act?n={number}"]
        if reply["success"]:
            assert sent == 1
        else:
            assert sent <= (0 if reply["error"]["code"] in HARMLESS else 1), reply

    async with front(tmp_path / "data", clock) as fleet, fleet.service.agent() as agent:
        trouble = Trouble(fleet, clock, seed)
        trouble.join()
        trouble.join()
        names = [f"s{n}" for n in range(CLIENTS)]
        for name in names:
            await agent.call("create_session", sessionId=name)
        for _ in range(ACTS):
            acts = [asyncio.create_task(act(agent, name)) for name in names]
            await trouble.make()
            await asyncio.gather(*acts)
        assert max(posts.values()) == 1
        for name in names:
            await agent.call("goto", pageId=name, sessionId=name, url=site.url("/act?n=end"))
            assert "Send" in (await agent.call("content", pageId=name))["content"]
        homes = Counter(held for host in fleet.hosts if not host.is_lost for held in host.held)
        assert {*homes.values()} <= {1}, "no session is on two hosts"
