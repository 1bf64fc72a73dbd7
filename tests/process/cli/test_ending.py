"""Tests the end of a service: calls get their answers, logins are saved, and no process is left, whatever pages do."""

import signal
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pytest

from browse_together.contract.wire import BROWSER
from tests.support.json import AnyJson
from tests.support.processes import runs
from tests.support.site import Answer, Site
from tests.support.terminal import Terminal, eventually

pytestmark = pytest.mark.whole_browser


class Caller:
    """A client of the service, whose calls wait for their answers in threads."""

    def __init__(self, terminal: Terminal) -> None:
        self._http = terminal.caller("chat", "Claude", {"cookies": "values"})
        self._threads = ThreadPoolExecutor(4)

    def call(self, action: str, **arguments: object) -> dict[str, AnyJson]:
        return dict(self._http.post(BROWSER, json={"action": action, **arguments}).json())

    def begin(self, action: str, **arguments: object) -> "Future[dict[str, Any]]":  # Any: as there
        return self._threads.submit(self.call, action, **arguments)

    def close(self) -> None:
        self._threads.shutdown()
        self._http.close()


@pytest.fixture
def release(site: Site) -> Iterator[threading.Event]:
    """Return the event on which `/file`, a download, sends its last byte."""
    waits = threading.Event()
    site.page("/file", Answer("x" * 100, headers={"content-disposition": "attachment"}, pause=waits))
    yield waits
    waits.set()


def left(data_dir: Path) -> list[str]:
    """Return the processes that still work in this data directory."""
    found = []
    for process in psutil.process_iter():
        try:
            if str(data_dir) in " ".join(process.cmdline()) and process.status() != psutil.STATUS_ZOMBIE:
                found.append(" ".join(process.cmdline())[:120])
        except psutil.Error:
            continue
    return found


def tree(terminal: Terminal) -> list[psutil.Process]:
    assert terminal.service
    process = psutil.Process(terminal.service.pid)
    return [process, *process.children(recursive=True)]


def ended(processes: list[psutil.Process]) -> list[psutil.Process]:
    """Return the processes that run on."""
    _, alive = psutil.wait_procs(processes, timeout=5)
    return [process for process in alive if runs(process)]


@pytest.mark.usefixtures("release")
@pytest.mark.long
def test_pages_that_spin_ask_and_download_do_not_keep_it(terminal: Terminal, site: Site) -> None:
    terminal.succeed("up", "--detach")
    caller = Caller(terminal)
    site.page("/", Answer("<a href=/file id=f>file</a>", headers={"set-cookie": "token=t1; Path=/"}))
    for page_id in ("spins", "asks", "loads", "waits"):
        assert caller.call("goto", pageId=page_id, url=site.url("/"))["success"]
    caller.call("evaluate_script", pageId="asks", expression="setTimeout(() => confirm('Sure?'), 0)")
    acts = caller.begin("evaluate_script", pageId="spins", expression="while (true) {}", timeout=30_000)
    looks = caller.begin("wait_for_selector", pageId="waits", selector="#never", timeout=30_000)
    loads = caller.begin("click", pageId="loads", selector="#f", timeout=30_000)
    eventually(lambda: site.counts["/file"] > 0)
    processes = tree(terminal)
    assert len(processes) > 5
    terminal.succeed("down")
    assert ended(processes) == []
    assert left(terminal.data_dir) == []
    assert acts.result(5)["error"]["code"] == "UNKNOWN_OUTCOME"
    error = looks.result(5)["error"]
    assert (error["code"], error["details"]["context"]["ending"]) == ("SERVICE_UNAVAILABLE", True)
    assert "error" in loads.result(5) or loads.result(5)["success"]
    caller.close()
    terminal.succeed("up", "--detach")
    caller = Caller(terminal)
    assert caller.call("open_page")["success"]
    assert [one["value"] for one in caller.call("get_cookies")["result"]["cookies"]] == ["t1"]
    caller.close()


@pytest.mark.long
def test_a_browser_that_hangs_is_not_left_behind(terminal: Terminal, site: Site) -> None:
    terminal.succeed("up", "--detach")
    caller = Caller(terminal)
    assert caller.call("goto", url=site.page("/", "here"))["success"]
    caller.close()
    processes = tree(terminal)
    for process in processes[2:]:
        process.send_signal(signal.SIGSTOP)
    terminal.succeed("down")
    assert ended(processes) == []
    assert left(terminal.data_dir) == []
