"""Tests that no act is done twice or by a host that has lost its session, and that no session, login, page or owner is
lost, whatever is killed, frozen or cut off at whatever moment: hosts, browsers, links, the front.

`make chaos-hosts` runs it. BROWSE_CHAOS_SEED and BROWSE_CHAOS_KILLS are as for `make chaos`; the same seed kills the
same things."""

import asyncio
import itertools
import os
import random
import signal
import sys
import time
import uuid
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from browse_together.contract import wire
from tests.process.chaos import victims
from tests.process.chaos.load import Ledger
from tests.process.chaos.test_chaos import asked_seed
from tests.support.cuttable import Cuttable, Way, cuttable
from tests.support.json import AnyJson
from tests.support.processes import is_browser
from tests.support.rack import HostProcess, Rack, rack, until
from tests.support.service import Agent
from tests.support.site import Answer, Received, Site

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.long,
    pytest.mark.own_start,
    pytest.mark.skipif("BROWSE_CHAOS_KILLS" not in os.environ, reason="make chaos-hosts runs it"),
]

KINDS: Final = ("host", "browser", "front", "cut", "half open", "silent", "frozen")
NAMES: Final = ("one", "two")
SESSIONS: Final = ("kept-1", "kept-2", "kept-3", "passing")
"""The last one is not persistent: it ends with the front, if that is away for longer than the lease."""
ENDS_AS: Final = {"ok", "UNKNOWN_OUTCOME", "BROWSER_CRASHED", "SERVICE_UNAVAILABLE", "RESOURCE_EXHAUSTED"}
ENDED: Final = {"SESSION_NOT_FOUND", "PAGE_NOT_FOUND"}
ANSWERED_WITHIN_S: Final = 60
LEASE_S: Final = 3
"""So long that a front which is back at once may still find its sessions."""
AWAY_S: Final = (0.3, LEASE_S - 0.3, 2 * LEASE_S)
SILENCES: Final[tuple[tuple[Way, ...], ...]] = (("there",), ("back",), ("there", "back"))
_ANSWERS_AFTER_S: Final = 0.05


class Arrived(NamedTuple):
    """A load of a page, or an act of that load, as the site got it."""

    page: str
    load: int
    act: int
    value: str
    who: str


class Desks:
    """Pages that a person is logged in to, and all that arrived from them, in this order."""

    def __init__(self, site: Site) -> None:
        self._loads = itertools.count(1)
        self.url = site.page("/login", self._log_in)
        site.page("/desk", self._load)
        site.page("/act", self._act)
        self.arrived: list[Arrived] = []

    def _log_in(self, received: Received) -> Answer:
        page = _asked(received)["page"]
        cookie = f"who={page}; Max-Age=86400"
        return Answer(status=303, headers={"location": f"/desk?page={page}", "set-cookie": cookie})

    def _load(self, received: Received) -> Answer:
        load = next(self._loads)
        self.arrived.append(Arrived(_asked(received)["page"], load, 0, "", _who(received)))
        return Answer(f"<title>{load}</title><input id=field><script>const load = {load}</script>")

    def _act(self, received: Received) -> Answer:
        asked = _asked(received)
        arrived = Arrived(asked["page"], int(asked["load"]), int(asked["act"]), asked["value"], _who(received))
        self.arrived.append(arrived)
        time.sleep(_ANSWERS_AFTER_S)  # so that kills happen while a request is answered
        return Answer("taken", content_type="text/plain")

    def wrongs(self) -> list[str]:
        """Return what arrived without its login, twice, or from a load after which the page was loaded again."""
        wrongs, newest = [], dict[str, int]()
        for each in self.arrived:
            newest[each.page] = max(each.load, newest.get(each.page, 0))
            if each.load < newest[each.page]:
                wrongs.append(f"{each} came after load {newest[each.page]}")
            if each.who != each.page:
                wrongs.append(f"{each} is not logged in")
        return wrongs + [f"act {act} arrived {times} times" for act, times in self.acts.items() if times > 1]

    @property
    def acts(self) -> Counter[int]:
        return Counter(each.act for each in self.arrived if each.act)


def _asked(received: Received) -> dict[str, str]:
    return {name: each for name, (each,) in parse_qs(urlsplit(received.path).query, keep_blank_values=True).items()}


def _who(received: Received) -> str:
    cookie = SimpleCookie(received.headers.get("Cookie", "")).get("who")
    return cookie.value if cookie else ""


class Client:
    """A client with a session and a page of its name, which fills numbers and posts them without end."""

    def __init__(self, agent: Agent, desks: Desks, numbers: "itertools.count[int]") -> None:
        self.agent = agent
        self.name = agent.client_id
        self.url = f"{desks.url}?page={self.name}"
        self.ledger = Ledger()
        self.wrongs: list[str] = []
        self.posted = 0
        self.may_end = False
        self._desks = desks
        self._numbers = numbers

    async def open(self) -> None:
        """Open the session and the page, however often something is killed meanwhile."""
        persistent, opened = self.name != SESSIONS[-1], False
        async with asyncio.timeout(ANSWERED_WITHIN_S):
            while not opened:
                await self._reply("create_session", sessionId=self.name, persistent=persistent)
                reply = await self._reply("goto", pageId=self.name, sessionId=self.name, url=self.url)
                opened = reply["success"]

    async def go_on(self) -> None:
        while True:
            number = next(self._numbers)
            filled = await self._act("fill", selector="#field", value=str(number))
            query = f"page={self.name}&load=${{load}}&act={number}&value=${{field.value}}"
            post = f"fetch(`/act?{query}`, {{method: 'POST'}}).then(each => each.text())"
            code = self.ledger.codes[str(number)] = await self._act("evaluate_script", expression=post)
            values = {each.value for each in self._desks.arrived if each.act == number}
            if filled == "ok" and not values <= {str(number), ""}:  # as filled, or lost with its page
                self.wrongs.append(f"{number} was filled, and {values} posted")
            self.posted += code == "ok"
            if code in ENDED:
                await self.open()

    async def _act(self, action: str, **arguments: AnyJson) -> str:
        reply = await self._reply(action, pageId=self.name, **arguments)
        code = "ok" if reply["success"] else str(reply["error"]["code"])
        if code not in (ENDS_AS | ENDED if self.may_end else ENDS_AS):
            self.wrongs.append(f"{self.name}: {action}: {reply}")
        return code

    async def _reply(self, action: str, **arguments: AnyJson) -> dict[str, AnyJson]:
        """Return the reply of a call. Without one, the call is sent again under its id, as a gateway does."""
        headers = {wire.CALL_ID: uuid.uuid4().hex, wire.ATTEMPT: "1"}
        async with asyncio.timeout(ANSWERED_WITHIN_S):
            while True:
                try:
                    return dict((await self.agent.reply(action, headers=headers, **arguments)).json())
                except httpx.TransportError:
                    headers[wire.ATTEMPT] = "2"
                    await asyncio.sleep(0.05)  # until the front is back

    async def check(self) -> None:
        """Check that it has its page, where it was."""
        pages = (await self.agent.call("list_pages"))["yours"]
        assert [each["pageId"] for each in pages] == [self.name]
        assert pages[0]["url"].endswith(f"/desk?page={self.name}")


class Chaos:
    def __init__(self, hosts: Rack, networks: dict[str, Cuttable], dice: random.Random) -> None:
        self.rack = hosts
        self.networks = networks
        self.dice = dice
        self.hosts: dict[str, HostProcess] = {}

    def start_host(self, name: str) -> None:
        self.hosts[name] = self.rack.start_host(name, join=f"http://127.0.0.1:{self.networks[name].port}")

    async def kill(self, kind: str, away_s: float) -> None:
        """Kill, cut or stop something, and have it back after a while."""
        name = self.dice.choice([name for name in NAMES if self.hosts[name].children()] or NAMES)
        host, network = self.hosts[name], self.networks[name]
        await asyncio.sleep(self.dice.uniform(0, 0.3))  # any moment will do
        match kind:
            case "front":
                await self.rack.kill_front()
                await asyncio.to_thread(self.rack.start_front)
            case "browser":
                for each in filter(is_browser, host.children()):
                    each.kill()
            case "cut":
                network.cut()
            case "half open":
                network.half_open()
            case "host":
                await host.kill()
                await asyncio.sleep(away_s)  # as its engine takes
                self.start_host(name)
            case "silent":
                network.stop(*self.dice.choice(SILENCES))
                await asyncio.sleep(away_s)  # around the lease's end
                network.go_on()
            case "frozen":
                host.signal(signal.SIGSTOP)
                await asyncio.sleep(away_s)  # likewise
                host.signal(signal.SIGCONT)

    async def goes_on(self, clients: list[Client]) -> None:
        """Wait until each client has posted and both hosts are there."""
        before = {client: client.posted for client in clients}
        await until(lambda: all(client.posted > before[client] for client in clients))
        await self.rack.ready(len(NAMES))
        for client in clients:
            await client.check()
        for name in NAMES:
            assert self.hosts[name].process.poll() is None, self.hosts[name].log


@asynccontextmanager
async def chaos(root: Path, dice: random.Random) -> AsyncIterator[Chaos]:
    """Start everything. At the end, end it, and check that nothing is left of the hosts."""
    with rack(root, LEASE_S) as hosts:
        async with AsyncExitStack() as stack:
            networks = {name: await stack.enter_async_context(cuttable(hosts.port)) for name in NAMES}
            made = Chaos(hosts, networks, dice)
            try:
                for name in NAMES:
                    made.start_host(name)
                await hosts.ready(len(NAMES))
                yield made
            finally:
                families = [each for host in made.hosts.values() for each in victims.family(host.data_dir)]
                hosts.end_hosts()
    assert [each.pid for each in await victims.gone(families)] == []


async def test_hosts_do_nothing_twice_and_lose_nothing_whatever_is_killed(tmp_path: Path, site: Site) -> None:
    seed, kills = asked_seed(), int(os.environ["BROWSE_CHAOS_KILLS"])
    dice, desks, numbers, wrongs = random.Random(seed), Desks(site), itertools.count(1), list[str]()  # noqa: S311 - no secret
    kinds = dice.sample([KINDS[number % len(KINDS)] for number in range(kills)], kills)
    async with chaos(tmp_path, dice) as here, AsyncExitStack() as stack:
        agents = [await stack.enter_async_context(here.rack.agent(name)) for name in SESSIONS]
        clients = [Client(agent, desks, numbers) for agent in agents]
        for client in clients:
            await client.open()
        async with asyncio.TaskGroup() as load:
            going = [load.create_task(client.go_on()) for client in clients]
            for number, kind in enumerate(kinds):
                away_s, began = dice.choice(AWAY_S), time.monotonic()
                clients[-1].may_end |= kind == "front"
                await here.kill(kind, away_s)
                await here.goes_on(clients)
                took_s = time.monotonic() - began
                print(f"kill {number}: {kind} for {away_s} s: {took_s:.1f} s", file=sys.stderr, flush=True)  # noqa: T201 - shown where the test fails
            for each in going:
                each.cancel()
        times = {str(act): count for act, count in desks.acts.items()}
        for client in clients:
            wrongs += client.wrongs + client.ledger.wrongs(times)
    assert not wrongs + desks.wrongs(), "\n".join(wrongs + desks.wrongs())
