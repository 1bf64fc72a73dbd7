"""Tests hosts that are processes: killed, frozen, cut off, started twice, emptied. What they did is read from the site,
which numbers each load of its page."""

import asyncio
import itertools
import shutil
import signal
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import psutil
import pytest

from browse_together.contract.data_files import HOST_ID_FILE
from tests.support.cuttable import cuttable
from tests.support.json import AnyJson
from tests.support.processes import runs
from tests.support.rack import Rack, rack, until
from tests.support.service import Agent
from tests.support.site import Answer, Received, Site
from tests.support.terminal import ROOT
from tests.support.waiting import PATIENCE_S

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rack]:
    with rack(tmp_path_factory.mktemp("rack")) as made:
        yield made


@pytest.fixture
def hosts(started: Rack) -> Iterator[Rack]:
    """Return a front without hosts."""
    yield started
    started.end_hosts()


class Acts:
    """A page whose acts arrive as requests, each with the number of the load of the page that sent it."""

    def __init__(self, site: Site) -> None:
        self._loads = itertools.count(1)
        self._numbers = itertools.count(1)
        self._site = site
        self.url = site.page(
            "/page", lambda _: Answer(f"<title>load</title><script>load = {next(self._loads)}</script>")
        )
        site.page("/act", self._took)
        self.arrived: list[tuple[str, int, int]] = []
        """The page, its load and the number of each act, as the site got them."""

    def _took(self, received: Received) -> Answer:
        given = parse_qs(urlsplit(received.path).query)
        self.arrived.append((given["page"][0], int(given["load"][0]), int(given["act"][0])))
        return Answer("taken", content_type="text/plain")

    async def act(self, agent: Agent, page_id: str) -> dict[str, AnyJson]:
        """Act once, and return the reply."""
        path = f"/act?page={page_id}&load=${{load}}&act={next(self._numbers)}"
        post = f"fetch(`{path}`, {{method: 'POST'}}).then(each => each.text())"
        return dict((await agent.reply("evaluate_script", pageId=page_id, expression=post)).json())

    def check(self) -> None:
        """Check that no act arrived twice, and none of an earlier load of a page after one of a later load."""
        acts = Counter(act for _, _, act in self.arrived)
        assert [act for act, times in acts.items() if times > 1] == []
        for page in {page for page, _, _ in self.arrived}:
            loads = [load for of, load, _ in self.arrived if of == page]
            assert loads == sorted(loads)


@asynccontextmanager
async def acting(hosts: Rack, acts: Acts, *session_ids: str) -> AsyncIterator[Agent]:
    """Return an agent with these sessions, each with a page of its name, and check in the end what arrived."""
    async with hosts.agent() as agent, asyncio.timeout(PATIENCE_S):
        for session_id in session_ids:
            await agent.call("create_session", sessionId=session_id)
            await agent.call("goto", pageId=session_id, sessionId=session_id, url=acts.url)
        yield agent
        for session_id in session_ids:
            await agent.call("close_session", sessionId=session_id)
    acts.check()


def are_over(those: list[psutil.Process]) -> Callable[[], bool]:
    return lambda: not any(runs(each) for each in those)


async def test_a_killed_hosts_sessions_go_on_under_their_names_as_soon_as_its_engine_starts_it_again(
    hosts: Rack, site: Site
) -> None:
    acts = Acts(site)
    first = hosts.start_host("one")
    await hosts.ready(1)
    async with acting(hosts, acts, "killed") as agent:
        under_way = asyncio.create_task(agent.reply("click", pageId="killed", selector="#never"))
        await until(lambda: site.counts["/page"] == 1)
        await first.kill()
        hosts.start_host("one")
        told = (await under_way).json()["error"]["code"]
        assert told in {"UNKNOWN_OUTCOME", "SERVICE_UNAVAILABLE"}
        assert (await acts.act(agent, "killed"))["success"]


@pytest.mark.long  # tests/front/links proves each time what comes of a frozen link
async def test_a_frozen_host_acts_no_more_when_it_wakes(hosts: Rack, site: Site) -> None:
    acts = Acts(site)
    frozen = hosts.start_host("one")
    await hosts.ready(1)
    async with acting(hosts, acts, "frozen") as agent:
        assert (await acts.act(agent, "frozen"))["success"]
        hosts.start_host("two")
        await hosts.ready(2)
        browsers = frozen.children()
        frozen.signal(signal.SIGSTOP)
        await asyncio.gather(*(acts.act(agent, "frozen") for _ in range(5)))
        while not (await acts.act(agent, "frozen"))["success"]:
            pass  # it may have been told that its outcome is unknown
        arrived = len(acts.arrived)
        frozen.signal(signal.SIGCONT)
        await until(are_over(browsers))
        await hosts.ready(2)
        assert len(acts.arrived) == arrived
        assert (await acts.act(agent, "frozen"))["success"]


@pytest.mark.long  # and so it does of one that is back
@pytest.mark.own_start
async def test_a_link_that_is_back_within_the_lease_was_never_missed(hosts: Rack, site: Site) -> None:
    acts = Acts(site)
    async with cuttable(hosts.port) as network:
        hosts.start_host("one", join=f"http://127.0.0.1:{network.port}")
        await hosts.ready(1)
        async with acting(hosts, acts, "cut") as agent:
            for _ in range(3):
                network.cut()
                assert (await acts.act(agent, "cut"))["success"]
        assert {load for _, load, _ in acts.arrived} == {1}
        hosts.end_hosts()


async def test_a_host_that_is_cut_off_ends_its_browsers_before_its_sessions_go_on_elsewhere(
    hosts: Rack, site: Site
) -> None:
    """However the link breaks: `tests/front/links` proves that all ways come to the same end."""
    acts = Acts(site)
    async with cuttable(hosts.port) as network:
        lonely = hosts.start_host("one", join=f"http://127.0.0.1:{network.port}")
        await hosts.ready(1)
        async with acting(hosts, acts, "lonely") as agent:
            assert (await acts.act(agent, "lonely"))["success"]
            hosts.start_host("two")
            await hosts.ready(2)
            browsers = lonely.children()
            network.accepts = False
            network.cut()
            acting_on = asyncio.create_task(acts.act(agent, "lonely"))
            await until(are_over(browsers))
            await acting_on
            while not (await acts.act(agent, "lonely"))["success"]:
                pass  # as above
            network.accepts = True
            network.cut()
            await hosts.ready(2)
        hosts.end_hosts()


LATE = "import time\nnow = time.time\ntime.time = lambda: now() + 40"
OTHER = "from browse_together.contract import written\nwritten.fingerprint = lambda: 'other'"
IMPATIENT = "from browser_service import process\nprocess._ENDS_WITHIN_S = 2.0"
"""What a host's Python does at its start, so that its clock is off, its actions are another version's, or it does not
wait long for the end of another."""


@pytest.mark.parametrize(
    ("at_start", "said"),
    [
        (LATE, "ahead of the service's, and 30 s are the most. Have a time server set the clocks of both machines"),
        (OTHER, "with other actions than this service. Run the version of the service on it too."),
    ],
    ids=["another clock", "another version"],
)
async def test_a_host_that_cannot_be_one_says_why_and_ends(
    hosts: Rack, tmp_path: Path, at_start: str, said: str
) -> None:
    (tmp_path / "sitecustomize.py").write_text(at_start, encoding="utf-8")
    host = hosts.start_host("wrong", PYTHONPATH=f"{tmp_path}:{ROOT}")
    assert await host.ended() == 1
    assert said in host.log.splitlines()[-1]
    assert await hosts.ready(0) == []


@pytest.mark.long
async def test_a_second_host_in_a_data_directory_says_so_and_ends_and_harms_nothing(
    hosts: Rack, site: Site, tmp_path: Path
) -> None:
    (tmp_path / "sitecustomize.py").write_text(IMPATIENT, encoding="utf-8")
    acts = Acts(site)
    first = hosts.start_host("one")
    await hosts.ready(1)
    async with acting(hosts, acts, "mine") as agent:
        second = hosts.start_host("one", PYTHONPATH=f"{tmp_path}:{ROOT}")
        assert await second.ended() == 1
        assert f"(process {first.pid}, a host). A host needs a data directory of its own: give --data-dir." in first.log
        assert (await acts.act(agent, "mine"))["success"]
        assert [each["name"] for each in await hosts.ready(1)] == [first.name]
    assert {load for _, load, _ in acts.arrived} == {1}


@pytest.mark.long  # tests/front/links proves who is let in
async def test_a_copied_data_directory_is_no_second_host_of_the_same_identity(hosts: Rack) -> None:
    hosts.start_host("one")
    (listed,) = await hosts.ready(1)
    copy = hosts.token_file.parent / "copy"
    copy.mkdir(exist_ok=True)
    shutil.copy(hosts.hosts[0].data_dir / HOST_ID_FILE, copy)
    second = hosts.start_host("copy")
    assert await second.ended() == 1
    last = second.log.splitlines()[-1]
    assert "with the same hostId and another data directory" in last
    assert "The directory was copied: start this host with an empty one." in last
    assert [each["name"] for each in await hosts.ready(1)] == [listed["name"]]


async def test_a_host_that_is_asked_to_end_gives_its_sessions_away_with_all_calls_answered(
    hosts: Rack, site: Site
) -> None:
    acts = Acts(site)
    names = ("d1", "d2", "d3")
    ending = hosts.start_host("one")
    await hosts.ready(1)
    async with acting(hosts, acts, *names) as agent:
        await agent.call("set_cookies", sessionId="d1", cookies=[{"name": "a", "value": "b", "url": acts.url}])
        hosts.start_host("two")
        await hosts.ready(2)
        ended = asyncio.Event()

        async def go_on(name: str) -> None:
            while not ended.is_set():
                reply = await acts.act(agent, name)
                assert reply["success"], reply

        async with asyncio.TaskGroup() as load:
            for name in names:
                load.create_task(go_on(name))
            ending.signal(signal.SIGTERM)
            assert await ending.ended() == 0
            ended.set()
        cookies = (await agent.call("get_cookies", sessionId="d1"))["cookies"]
        assert [each["name"] for each in cookies] == ["a"]
        (left,) = await hosts.ready(1)
        assert left["sessions"] == len(names)
        unknown = await asyncio.to_thread(hosts.front.run, "hosts", "drain", "rack-none")
        assert unknown.code == 1
        assert f"The host 'rack-none' is not connected.\nHosts: {left['name']}." in unknown.err


@pytest.mark.long  # as above
async def test_a_revoked_token_ends_its_hosts_in_a_line_that_says_what_to_do(hosts: Rack) -> None:
    host = hosts.start_host("one")
    await hosts.ready(1)
    try:
        await asyncio.to_thread(hosts.front.succeed, "token", "revoke", "rack")
        assert await host.ended() == 1
        assert "The token was revoked. Make one where the service runs: browse-together token host" in host.log
        assert await hosts.ready(0) == []
    finally:
        await asyncio.to_thread(hosts.front.succeed, "token", "restore", "rack")


@pytest.mark.long  # tests/front/service/test_hosts.py proves that a new front takes the sessions up
async def test_a_front_that_is_killed_finds_the_sessions_of_its_hosts_as_they_were(tmp_path: Path, site: Site) -> None:
    acts = Acts(site)
    with rack(tmp_path, lease_s=20) as hosts:
        hosts.start_host("one")
        await hosts.ready(1)
        async with acting(hosts, acts, "kept") as agent:
            assert (await acts.act(agent, "kept"))["success"]
            await hosts.kill_front()
            await asyncio.to_thread(hosts.start_front)
            await hosts.ready(1)
            assert (await acts.act(agent, "kept"))["success"]
        assert {load for _, load, _ in acts.arrived} == {1}
