"""Tests `doctor`: what is missing, and what to do about it."""

import os
import re
import socket
from pathlib import Path

import pytest

from browse_together.contract.secret import ensure_secret
from browse_together.contract.wire import SECRET_FILE
from browser_service.cli import doctor
from browser_service.settings import Settings
from tests.support.json import AnyJson
from tests.support.terminal import Terminal

pytestmark = pytest.mark.whole_browser


def failed(examined: AnyJson) -> dict[str, dict[str, str]]:
    return {check["name"]: check for check in examined["checks"] if not check["ok"]}


def test_where_all_is_well_each_line_is_ticked(running: Terminal) -> None:
    done = running.succeed("doctor")
    assert [line[0] for line in done.out.splitlines() if not line.startswith(" ")] == ["✓"] * 12
    assert "starts and takes a picture" in done.out
    assert "process" in done.out
    assert re.search(r"settings +the running service has others than this environment: .*viewport is \d+x\d+", done.out)
    assert re.search(r"memory +the service has \d+ MB, its browsers \d+ MB of [\d,]+ MB \(BROWSE_MEMORY_MB\)", done.out)


def test_what_is_missing_is_named_with_its_remedy_and_the_exit_code_is_one(terminal: Terminal) -> None:
    terminal.data_dir.mkdir(mode=0o700)
    secret = terminal.data_dir / SECRET_FILE
    ensure_secret(terminal.data_dir)
    secret.chmod(0o644)
    absent = str(terminal.data_dir / "no-browser")
    with socket.create_server(("127.0.0.1", 0)) as mute:
        port = str(mute.getsockname()[1])
        done = terminal.run("doctor", "--json", "--port", port, BROWSE_EXECUTABLE_PATH=absent)
    assert (done.code, done.json["ok"]) == (1, False)
    problems = failed(done.json)
    assert set(problems) == {"secret", "port", "browser"}
    assert f"chmod 600 {secret}" in problems["secret"]["advice"]
    assert "--port" in problems["port"]["advice"]
    assert absent in problems["browser"]["found"]
    assert problems["browser"]["advice"]


def test_for_people_a_problem_is_crossed_and_its_remedy_stands_below(terminal: Terminal) -> None:
    done = terminal.run("doctor", "--executable-path", "/no/browser", "--no-headless", DISPLAY="", WAYLAND_DISPLAY="")
    assert done.code == 1
    assert re.search(r"^✗ display .*\n +Set HEADLESS=true", done.out, re.MULTILINE)
    assert re.search(r"^✗ browser .*/no/browser.*\n +\S", done.out, re.MULTILINE)


def test_a_port_that_this_service_has_is_no_problem_but_anothers_service_is(running: Terminal, tmp_path: Path) -> None:
    assert running.service
    settings = Settings(data_dir=running.data_dir, port=int(running.url.rpartition(":")[2]))
    assert doctor.check_port(settings, running.service).ok
    elsewhere = doctor.check_port(settings.model_copy(update={"data_dir": tmp_path}), None)
    assert not elsewhere.ok
    assert f"process {running.service.pid}" in elsewhere.found


def test_a_service_of_another_version_is_to_be_restarted(running: Terminal) -> None:
    assert running.service
    assert doctor.check_running(running.service, running.data_dir).ok
    other = doctor.check_running(running.service._replace(catalogue="another"), running.data_dir)
    assert not other.ok
    assert "browse-together down" in other.advice


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="Chromium refuses its sandbox to root")
def test_a_sandbox_that_cannot_be_is_told_from_a_browser_that_does_not_start(terminal: Terminal) -> None:
    done = terminal.run("doctor", "--json", "--sandbox", "on")
    assert set(failed(done.json)) == {"sandbox"}
    assert "BROWSE_SANDBOX=off" in failed(done.json)["sandbox"]["advice"]
