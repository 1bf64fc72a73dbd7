"""Tests `up`, `down`, `status` and `logs`: the service as a process."""

import contextlib
import json
import os
import re
import signal
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import httpx
import psutil
import pytest

from browse_together.contract.data_files import JOURNAL_FILE
from browse_together.contract.wire import HEALTH, INSTANCE_FILE, LOG_FILE, METRICS, SECRET_FILE, VERSION
from browse_together.contract.written import fingerprint
from browser_service.quarantine import files_set_aside
from browser_service.store import journal_file
from tests.process.cli.conftest import VIEWPORT
from tests.support.site import Answer, Site
from tests.support.terminal import Terminal, eventually
from tests.support.waiting import PATIENCE_S


def test_a_service_is_started_found_and_ended(terminal: Terminal) -> None:
    started = terminal.succeed("up", "--detach")
    status = terminal.succeed("status", "--json").json
    assert started.out == f"The service runs now: process {status['pid']}, {status['url']}\n"
    assert status == {
        "running": True,
        "dataDir": str(terminal.data_dir),
        "pid": status["pid"],
        "url": status["url"],
        "wall": status["url"],
        "version": VERSION,
        "pages": 0,
        "agents": [],
        "parked": 0,
        "browsers": 0,
        "memoryMb": 0,
        "memoryLimitMb": status["memoryLimitMb"],
        "settings": status["settings"],
        "afterRestart": {},
    }
    assert {"port": 0, "data_dir": str(terminal.data_dir), "min_instances": 0}.items() <= status["settings"].items()
    assert "0, with 0 of " in terminal.succeed("status").out
    assert httpx.get(status["url"] + HEALTH, trust_env=False).json()["pid"] == status["pid"]

    ended = terminal.succeed("down")
    assert f"process {status['pid']}" in ended.out
    assert not psutil.pid_exists(status["pid"]) or psutil.Process(status["pid"]).status() == psutil.STATUS_ZOMBIE
    assert not (terminal.data_dir / INSTANCE_FILE).exists()
    after = terminal.run("status", "--json")
    told = after.json
    assert (after.code, told) == (
        3,
        {"running": False, "dataDir": str(terminal.data_dir), "keptDown": told["keptDown"]},
    )
    assert "stays down until a new chat needs it" in told["keptDown"]
    again = terminal.succeed("down", "--for", "2999-12-31")
    assert "No service runs" in again.out
    assert "stays down until 2999-12-31 00:00" in again.out
    assert "Invalid value for --for: 'a while' is neither" in terminal.run("down", "--for", "a while").err
    for text in ("2020-01-01", "999999w"):
        assert "give a time to come" in terminal.run("down", "--for", text).err


def test_a_detached_service_outlives_its_terminal_and_its_log_is_private(running: Terminal) -> None:
    assert running.service
    pid = running.service.pid
    assert os.getsid(pid) == pid
    assert stat.S_IMODE((running.data_dir / LOG_FILE).stat().st_mode) == 0o600


def test_starting_it_again_detached_is_no_error_and_says_that_flags_came_too_late(running: Terminal) -> None:
    again = running.succeed("up", "--detach", "--max-pages", "3")
    assert running.service
    assert f"runs already: process {running.service.pid}" in again.out
    assert "browse-together down, then up" in again.err


def test_status_shows_the_settings_of_the_running_service_and_what_a_restart_would_change(
    running: Terminal, tmp_path: Path
) -> None:
    width, height = VIEWPORT
    settings = running.succeed("status", "--json").json["settings"]
    uploads, browser = settings["upload_roots"], settings.get("executable_path", "")  # of whoever started it
    assert uploads == [str(running.data_dir.parent / "uploads")]
    shown = running.succeed("status", HEADLESS="false", BROWSE_EXECUTABLE_PATH=browser, BROWSE_UPLOAD_ROOTS="uploads")
    assert f"viewport {width}x{height}" in shown.out
    assert shown.err.startswith("Otherwise in this environment: headless is true and would be false; viewport is")
    assert f"viewport is {width}x{height} and would be 1280x720" in shown.err
    assert shown.err.endswith("browse-together down, then browse-together up --detach.\n")
    file = tmp_path / "config.toml"
    file.write_text(f'max_pages = 7\nviewport = "{width}x{height}"\nmetrics_port = 0\nexecutable_path = "{browser}"\n')
    of_file = Terminal(running.data_dir, config=str(file))
    here = {"BROWSE_EXECUTABLE_PATH": "", "BROWSE_UPLOAD_ROOTS": "uploads"}
    assert of_file.succeed("status", "--json", **here).json["afterRestart"] == {"max_pages": 7}
    assert of_file.succeed("status", **here).err.startswith(
        f"Otherwise in this environment and {file}: max_pages is 150 and would be 7. A restart takes them"
    )
    as_it_runs = of_file.run("status", BROWSE_MAX_PAGES="150", **here)
    assert (as_it_runs.code, as_it_runs.err) == (0, "")


def test_figures_are_served_at_a_port_of_their_own_which_the_log_names(running: Terminal) -> None:
    lines = [json.loads(line) for line in (running.data_dir / LOG_FILE).read_text(encoding="utf-8").splitlines()]
    (url,) = (line["url"] for line in lines if line["event"] == "metrics")
    found = httpx.get(url, trust_env=False)
    assert (found.status_code, "playwright_mcp_browsers " in found.text) == (200, True)
    assert httpx.get(url.replace(METRICS, HEALTH), trust_env=False).status_code == 404
    assert httpx.get(running.url + METRICS, trust_env=False).status_code == 401


def test_a_second_service_on_the_same_directory_is_refused_and_told_of_the_first(running: Terminal) -> None:
    second = running.run("up")
    assert running.service
    assert second.code == 1
    assert second.err == f"The service runs already, as process {running.service.pid} at {running.url}.\n"


def test_a_secret_that_makes_no_token_is_one_line_for_the_service_and_the_commands(terminal: Terminal) -> None:
    terminal.data_dir.mkdir(mode=0o700)
    secret = terminal.data_dir / SECRET_FILE
    secret.write_bytes(b"")
    what, way = f"The secret file {secret} is empty.", "Remove it and restart the service"
    up = terminal.run("up")
    assert (up.code, up.err.startswith(f"{what} {way}"), up.err.count("\n")) == (1, True, 1)
    token = terminal.run("token")
    assert (token.code, token.out) == (1, "")
    assert token.err.startswith(f"SERVICE_UNAVAILABLE: {what}\n{way}")


def test_a_journal_of_a_newer_version_is_left_as_it_is(terminal: Terminal) -> None:
    terminal.data_dir.mkdir(mode=0o700)
    file = terminal.data_dir / JOURNAL_FILE
    journal_file.connect(file)[0].close()
    with contextlib.closing(sqlite3.connect(file)) as db, db:
        db.execute("INSERT INTO migrations VALUES ('m_of_tomorrow')")
    with pytest.raises(journal_file.NewerJournal, match="m_of_tomorrow"):
        journal_file.connect(file)
    started = terminal.run("up")
    assert (started.code, "m_of_tomorrow" in started.err.splitlines()[-1]) == (1, True), started.err
    assert not files_set_aside(terminal.data_dir)


def test_in_the_foreground_it_runs_until_a_signal_which_is_an_ordinary_end(terminal: Terminal) -> None:
    with terminal.start("up") as process:
        eventually(lambda: terminal.service is not None)
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_S) == 0
        assert process.stderr
        assert json.loads(process.stderr.readline())["event"] == "listening"
    assert not (terminal.data_dir / INSTANCE_FILE).exists()


def test_down_never_ends_a_process_that_is_not_the_service(running: Terminal, tmp_path: Path) -> None:
    """The address answers, and the pid lives, but they are not the same."""
    liar = Terminal(tmp_path)
    (tmp_path / INSTANCE_FILE).write_text(json.dumps({"pid": os.getpid(), "url": running.url}), encoding="utf-8")
    assert "No service runs" in liar.succeed("down").out
    assert running.service


def test_neither_leftovers_of_a_killed_service_nor_a_program_with_its_port_and_name_are_taken_for_it(
    terminal: Terminal,
) -> None:
    with terminal.start("up") as process:
        eventually(lambda: terminal.service is not None)
        process.kill()
    written = (terminal.data_dir / INSTANCE_FILE).read_text(encoding="utf-8")
    assert "No service runs" in terminal.succeed("down").out
    left = json.loads(written)
    report = {"status": "ok", "version": VERSION, "catalogue": fingerprint()}
    with Site() as impostor:
        left["url"] = impostor.url("")
        with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
            for pid in (left["pid"], other.pid):  # which is free, and another program's after a while
                impostor.page(HEALTH, Answer(json.dumps({**report, "pid": pid})))
                (terminal.data_dir / INSTANCE_FILE).write_text(json.dumps({**left, "pid": pid}), encoding="utf-8")
                assert "is not running" in terminal.run("status").out
                assert "No service runs" in terminal.succeed("down").out
            assert other.poll() is None


def test_a_detached_service_that_cannot_start_is_an_error_with_the_reason(
    running: Terminal, terminal: Terminal
) -> None:
    port = running.url.rpartition(":")[2]
    failed = terminal.run("up", "--detach", "--port", port, BROWSE_HEADLES="true")
    assert failed.code == 1
    assert running.service
    misspelt, first, reason, hint = failed.err.splitlines()
    assert misspelt.endswith("Did you mean BROWSE_HEADLESS?")
    assert first == "SERVICE_UNAVAILABLE: The service did not start. It ended with exit code 1."
    assert re.fullmatch(
        rf"Port {port} on 127\.0\.0\.1 cannot be used: .+, by .+\. Choose another with --port\.", reason
    )
    assert f"(process {running.service.pid})" in reason
    assert "browse-together doctor" in hint


def test_a_wrong_setting_is_named(terminal: Terminal) -> None:
    assert terminal.run("up", "--port", "99999").err.startswith("--port: ")
    for name, value in (
        ("BROWSE_MAX_PAGES", "many"),
        ("PORT", "abc"),
        ("BROWSE_ALLOWED_HOSTS", "http://site.example/x"),
    ):
        wrong = terminal.run("status", **{name: value})
        assert (wrong.code, wrong.err.count("\n"), wrong.out) == (2, 1, "")
        assert wrong.err.startswith(f"{name}: ")
        assert value in wrong.err
    assert "'browse.example:8888'" in wrong.err


def test_without_a_service_the_command_that_starts_it_is_named(terminal: Terminal) -> None:
    for arguments in (("pages",), ("run", "list_pages")):
        refused = terminal.run(*arguments)
        assert refused.code == 1
        assert refused.err.startswith("SERVICE_UNAVAILABLE: The service is not running")
        assert refused.err.endswith("Start it: browse-together up --detach\n")
    elsewhere = terminal.data_dir / "of others"
    refused = terminal.run("pages", "--data-dir", str(elsewhere))
    assert refused.err.endswith(f"Start it: browse-together up --detach --data-dir '{elsewhere}'\n")


def test_logs_shows_the_last_lines_and_follows(running: Terminal) -> None:
    running.succeed("pages")
    last = running.succeed("logs", "--lines", "1").out
    assert json.loads(last)["action"] == "list_pages"
    with running.start("logs", "--follow", "--lines", "1") as following:
        assert following.stdout
        assert following.stdout.readline() == last
        running.succeed("run", "list_sessions")
        assert '"list_sessions"' in next(line for line in following.stdout if '"event": "call"' in line)
        following.send_signal(signal.SIGINT)
        following.wait(PATIENCE_S)


def test_logs_of_a_service_that_never_ran_detached(terminal: Terminal) -> None:
    assert re.search(r"There is no log .*service\.log", terminal.run("logs").err)


def test_a_secret_that_is_removed_under_a_running_service_is_said_and_made_anew_by_a_restart(
    terminal: Terminal,
) -> None:
    terminal.succeed("up", "--detach")
    (terminal.data_dir / SECRET_FILE).unlink()
    for command in (("token",), ("pages",)):
        refused = terminal.run(*command)
        assert (refused.code, "is gone" in refused.err, "up --detach" in refused.err) == (1, True, True), refused
    terminal.succeed("down")
    terminal.succeed("up", "--detach")
    terminal.succeed("pages")
