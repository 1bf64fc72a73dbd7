"""Tests hosts that Ray starts, on a cluster of a head and two nodes in a network of its own: `make test-ray`."""

import contextlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import psutil
import pytest

from tests.support.processes import command, runs
from tests.support.rack import Rack, rack
from tests.support.service import Agent
from tests.support.terminal import Terminal, eventually
from tests.support.waiting import PATIENCE_S

is_here = pytest.mark.skipif(find_spec("ray") is None, reason="the extra is not installed")
pytestmark = [pytest.mark.anyio, pytest.mark.ray, is_here]

ADDRESS = "10.77.0.1"
"""Of all machines; it is on this network alone."""
GCS = f"{ADDRESS}:6379"
QUICKLY = {  # what is not heard of for three seconds is lost
    "RAY_health_check_initial_delay_ms": "1000",
    "RAY_health_check_period_ms": "1000",
    "RAY_health_check_timeout_ms": "1000",
    "RAY_health_check_failure_threshold": "3",
    "RAY_USAGE_STATS_ENABLED": "0",
}


class Cluster:
    """A cluster of Ray: each of its machines is a process with all that it has started."""

    def __init__(self, root: Path, **variables: str) -> None:
        self.terminal = Terminal(root / "nodes")
        self.terminal.data_dir.mkdir(exist_ok=True)
        self.environment = self.terminal.environment(**QUICKLY, **variables)
        self._folder = tempfile.mkdtemp(prefix="ray")  # a longer path is too long for its sockets
        self.machines: list[subprocess.Popen[bytes]] = []
        self._log = (root / "ray.log").open("ab")
        head = ("--head", f"--port={GCS.rpartition(':')[2]}", "--num-cpus=0", "--include-dashboard=false")
        self.start(*head, f"--temp-dir={self._folder}")

    def start(self, *options: str) -> None:
        ray = str(Path(sys.executable).with_name("ray"))
        sized = ("--object-store-memory=80000000", f"--node-ip-address={ADDRESS}", "--block")
        known = self._started()
        machine = subprocess.Popen(
            [ray, "start", *options, *sized],
            env={**self.environment, "PYTHONUNBUFFERED": "1"},
            stdout=self._log,
            stderr=self._log,
        )
        self.machines.append(machine)
        eventually(lambda: self._started() > known)  # two that start at once may take the same ports

    def _started(self) -> int:
        """Count the machines that the cluster has known of."""
        return Path(self._log.name).read_text(encoding="utf-8").count("Ray runtime started.")

    def start_node(self) -> None:
        """Start a machine that has room for one host, so that two hosts are never on the same."""
        self.start(f"--address={GCS}", "--num-cpus=1")

    def launch(self, *options: str) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-m", "browser_service", "host", "--engine", "ray", *options]
        environment = {**self.environment, "RAY_ADDRESS": GCS}
        return subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=3 * PATIENCE_S, check=False
        )

    def lose(self, machine: "subprocess.Popen[bytes]") -> None:
        """End all of a machine at once."""
        found = _all_of(machine.pid)
        for each in found:
            with contextlib.suppress(psutil.NoSuchProcess):
                each.kill()
        psutil.wait_procs(found, PATIENCE_S)
        machine.wait(PATIENCE_S)
        self.machines.remove(machine)

    def end(self) -> None:
        for machine in [*self.machines][::-1]:
            self.lose(machine)
        self._log.close()
        shutil.rmtree(self._folder, ignore_errors=True)


def _all_of(pid: int) -> list[psutil.Process]:
    with contextlib.suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        return [process, *process.children(recursive=True)]
    return []


@pytest.fixture(scope="module")
def front(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rack]:
    with rack(tmp_path_factory.mktemp("rack")) as made:
        yield made


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    token = tmp_path / "ray.token"
    token.write_text("0123456789abcdef" * 2, encoding="utf-8")
    made = Cluster(tmp_path, RAY_AUTH_MODE="token", RAY_AUTH_TOKEN_PATH=str(token))
    try:
        for _ in range(2):
            made.start_node()
        yield made
    finally:
        made.end()


def host_on(machine: "subprocess.Popen[bytes]") -> psutil.Process:
    """Return the one host that runs on a machine."""
    alive = [each for each in _all_of(machine.pid) if runs(each)]
    (found,) = [each for each in alive if command(each)[1:4] == ["-m", "browser_service", "host"]]
    return found


async def title(agent: Agent, page_id: str) -> str:
    return str((await agent.call("get_page_title", pageId=page_id))["title"])


def test_a_cluster_that_lets_everybody_in_gets_no_host(tmp_path: Path, front: Rack) -> None:
    open_to_all = Cluster(tmp_path)
    try:
        refused = open_to_all.launch("--join", front.url, "--token-file", str(front.token_file))
    finally:
        open_to_all.end()
    assert refused.returncode == 1
    (told,) = refused.stderr.splitlines()
    assert told.startswith(f"Ray at {GCS} lets everybody in, who then runs code on all its machines.")


async def test_sessions_go_on_when_a_host_or_a_node_of_ray_is_killed(cluster: Cluster, front: Rack) -> None:
    join = ("--join", front.url, "--token-file", str(front.token_file))
    launched = cluster.launch(*join, "--count", "2")
    assert (launched.returncode, launched.stderr) == (0, "")
    assert len(re.findall(rf"^{ADDRESS}: rack-\w+ .* is linked", launched.stdout, re.MULTILINE)) == 2
    await front.ready(2)
    first, second = cluster.machines[1:]
    assert not [name for name in host_on(first).environ() if name.startswith("RAY_")]
    async with front.agent() as agent:
        for name in ("one", "two"):
            await agent.call("create_session", sessionId=name, persistent=True)
            await agent.call("open_page", sessionId=name, pageId=name, url=f"data:text/html,<title>{name}</title>")
        refused = await agent.error("goto", pageId="one", url=f"http://{GCS}/")
        assert "keeps pages from this address (--refuse)" in refused["message"]
        host_on(first).send_signal(signal.SIGKILL)
        assert [await title(agent, name) for name in ("one", "two")] == ["one", "two"]
        await front.ready(2)
        cluster.start_node()
        cluster.lose(second)
        assert [await title(agent, name) for name in ("one", "two")] == ["one", "two"]
        await front.ready(2)
    ended = cluster.launch(*join, "--count", "0")
    assert ended.stdout.count("has ended.") == 2, ended
    await front.ready(0)
