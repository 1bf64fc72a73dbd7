"""Lets Ray start hosts: actors that outlive this command, each with a host as a child process. Ray decides where they
run, and starts them again; no call and no page passes it."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import platformdirs

from browse_together.client.environment import of_service
from browse_together.contract.data_files import RAY_HOSTS
from browse_together.contract.wire import APP_NAME, LOG_FILE
from browser_service.joining import CannotJoin, Join, host_state

OLDEST: Final = (2, 52)
"""In older ones a web page could run code on a machine with Ray (CVE-2025-62593)."""
_NAMESPACE: Final = "browse-together"
_LINKED_WITHIN_S: Final = 60.0
_LOOK_S: Final = 0.5
_DRAINS_WITHIN_S: Final = 90.0
_REST_S: Final = 5.0
"""Before a host that ended is started again."""
_PROVEN_WITHIN_S: Final = 40.0
_ENTERS: Final = "import sys; from ray._raylet import GcsClient; GcsClient(address=sys.argv[1])"
"""Raises Ray's AuthenticationError if the cluster wants a token."""


class RayHost:
    """An actor of Ray: a host on whichever node Ray has put it, and its process."""

    def __init__(self, name: str, options: tuple[str, ...]) -> None:
        """`options` are those of the command `host`, but for what this machine decides."""
        import ray  # noqa: PLC0415 - an extra

        nodes = [each["NodeManagerAddress"] for each in ray.nodes()]
        self.address = ray.util.get_node_ip_address()
        base = Path(os.environ.get("BROWSE_DATA_DIR") or platformdirs.user_data_dir(APP_NAME, appauthor=False))
        self.data_dir = base / RAY_HOSTS / re.sub(r"[^\w.-]", "_", name)
        self.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        refused = [word for node in nodes for word in ("--refuse", node)]
        self._command = [*_with_this_process(), sys.executable, "-m", "browser_service", "host", *options, *refused]
        self._host: subprocess.Popen[bytes] | None = None
        self._ends = False
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        """Run the host; when it ends, end as well, so that Ray starts both again where there is room."""
        environment = of_service(os.environ) | {"BROWSE_DATA_DIR": str(self.data_dir)}  # without Ray's token
        with (self.data_dir / LOG_FILE).open("wb") as log:
            self._host = subprocess.Popen(
                self._command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
            self._host.wait()
        if not self._ends:
            time.sleep(_REST_S)
            os._exit(1)

    def state(self) -> tuple[bool, str]:
        """Return whether the host is linked, and a sentence about it with its node's address."""
        is_linked, words = host_state(self.data_dir, must_be_linked=True)
        if not is_linked and self._host is not None and self._host.poll() is not None:
            lines = (self.data_dir / LOG_FILE).read_text(encoding="utf-8", errors="replace").splitlines()
            words = lines[-1] if lines else f"The host ended with {self._host.returncode}."
        return is_linked, f"{self.address}: {words}"

    def end(self) -> None:
        """End the host, which gives its sessions to others first."""
        self._ends = True
        if self._host is not None:
            self._host.send_signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._host.wait(_DRAINS_WITHIN_S)


def launch(join: Join, number: int, *, plain_http: bool, say: Callable[[str], None]) -> None:
    """Have as many hosts as asked for, and wait until they are linked. Raises CannotJoin, which says why not."""
    switches = {"--plain-http": plain_http, "--allow-loopback": join.allow_loopback}
    given = (name for name, is_on in switches.items() if is_on)
    options = ("--join", join.url, "--token-file", str(join.token_file), *given)
    told: list[str] = []
    try:
        with _quiet(), _cluster() as ray:
            front = urlsplit(join.url).netloc
            actors = [_actor(ray, f"{front}-{each}", options) for each in range(1, number + 1)]
            _end_surplus(ray, front, number, told.append)
            _wait(ray, actors, told.append)
    finally:
        for line in told:
            say(line)


def _actor(ray: Any, name: str, options: tuple[str, ...]) -> Any:  # Any: an extra, without types here
    placed = {"num_cpus": 1, "scheduling_strategy": "SPREAD", "max_restarts": -1, "max_concurrency": 4}
    return (
        ray.remote(RayHost).options(name=name, lifetime="detached", get_if_exists=True, **placed).remote(name, options)
    )


def _end_surplus(ray: Any, front: str, number: int, say: Callable[[str], None]) -> None:  # Any: as above
    """End the hosts of a front that are more than this number, all at once."""
    ours = [re.fullmatch(rf"{re.escape(front)}-(\d+)", name) for name in ray.util.list_named_actors()]
    surplus = {found[0]: ray.get_actor(found[0]) for found in ours if found and int(found[1]) > number}
    ending = {name: actor.end.remote() for name, actor in surplus.items()}
    for name, ended in ending.items():
        with contextlib.suppress(ray.exceptions.RayError):  # it is being started again
            ray.get(ended, timeout=_DRAINS_WITHIN_S)
        ray.kill(surplus[name])  # SIGTERM for what is left of it
        say(f"{name} has ended.")


def _wait(ray: Any, actors: list[Any], say: Callable[[str], None]) -> None:  # Any: as above
    """Wait for the links, and say where each host is. Raises CannotJoin with what the others say."""
    deadline, waits = (
        time.monotonic() + _LINKED_WITHIN_S,
        dict.fromkeys(actors, "Ray has no node with a free CPU for it."),
    )
    while waits and time.monotonic() < deadline:
        for actor in [*waits]:
            try:
                is_linked, words = ray.get(actor.state.remote(), timeout=_LOOK_S)
            except ray.exceptions.GetTimeoutError:  # it is not placed yet
                continue
            except ray.exceptions.RayError as error:  # it could not be made, or is being started again
                waits[actor] = str(error).strip().splitlines()[-1]
                continue
            if is_linked:
                say(words)
                del waits[actor]
            else:
                waits[actor] = words
        time.sleep(_LOOK_S)
    if waits:
        raise CannotJoin(
            f"{len(waits)} of {len(actors)} hosts are not linked: {'; '.join(sorted({*waits.values()}))} Ray goes on "
            "trying; --count 0 ends them."
        )


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Hide Ray's output. Its errors reach us as exceptions."""
    streams = (1, 2)
    kept = [os.dup(each) for each in streams]
    with open(os.devnull, "wb") as nowhere:  # noqa: PTH123 - a name, and no path of ours
        for each in streams:
            os.dup2(nowhere.fileno(), each)
    try:
        yield
    finally:
        for each, before in zip(streams, kept, strict=True):
            os.dup2(before, each)
            os.close(before)


@contextlib.contextmanager
def _cluster() -> Iterator[Any]:  # Any: as above
    """Be connected with the cluster of this machine. Raises CannotJoin if it is none to which we trust hosts."""
    try:
        import ray  # noqa: PLC0415 - an extra
    except ImportError:
        raise CannotJoin("--engine ray needs Ray, here and on its nodes: pip install 'browse-together[ray]'") from None
    if tuple(map(int, re.findall(r"\d+", ray.__version__)[:2])) < OLDEST:
        raise CannotJoin(
            f"Ray {ray.__version__} lets web pages run code on its machines (CVE-2025-62593). Have "
            f"{'.'.join(map(str, OLDEST))} or later on all nodes."
        )
    try:
        ray.init(address="auto", namespace=_NAMESPACE, log_to_driver=False, configure_logging=False)
    except (ConnectionError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        raise CannotJoin(
            f"Ray lets nobody in from here: {str(error).splitlines()[0]} Run this on a node of the cluster, with its "
            "version of Ray and its token (RAY_AUTH_MODE=token, RAY_AUTH_TOKEN_PATH)."
        ) from None
    try:
        _check_token(ray.get_runtime_context().gcs_address)
        yield ray
    finally:
        ray.shutdown()


def _check_token(address: str) -> None:
    """Raise CannotJoin if the cluster takes clients without a token: a page that reached it could run code."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RAY_AUTH")}
    command = [sys.executable, "-c", _ENTERS, address]
    try:
        done = subprocess.run(
            command,
            env=environment | {"RAY_AUTH_MODE": "disabled"},
            capture_output=True,
            timeout=_PROVEN_WITHIN_S,
            text=True,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise CannotJoin(f"Ray at {address} does not say whether it asks for a token. Try again.") from None
    if done.returncode == 0:
        raise CannotJoin(
            f"Ray at {address} lets everybody in, who then runs code on all its machines. Start its nodes with "
            "RAY_AUTH_MODE=token and a token (RAY_AUTH_TOKEN_PATH)."
        )
    if "AuthenticationError" not in done.stderr:
        raise CannotJoin(f"Ray at {address} does not say whether it asks for a token: {done.stderr[-200:].strip()}")


def _with_this_process() -> list[str]:
    """Return the words before a command that end it by SIGTERM when the thread that started it ends."""
    program = shutil.which("setpriv")  # of util-linux
    return [program, "--pdeathsig", "TERM", "--"] if program else []
