"""Tests `doctor`: what is missing, and what to do about it."""

import os
import re
import socket
from pathlib import Path

import pytest

from browser_service.cli import doctor
from browser_service.cli.doctor import check_config
from browser_service.cli.running import restart, rules_of
from browser_service.settings import Settings
from browser_service.store import journal_file
from shared.data_files import JOURNAL_FILE
from shared.secret import ensure_secret
from shared.wire import INSTANCE_FILE, SECRET_FILE
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


def test_a_directory_that_others_can_read_is_a_problem(tmp_path: Path) -> None:
    ensure_secret(tmp_path)
    tmp_path.chmod(0o755)
    check = doctor.check_secret(tmp_path)
    assert not check.ok
    assert f"chmod 700 {tmp_path}" in check.advice


def test_a_file_of_settings_is_named_and_its_secrets_are_not_for_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert check_config() == []
    file = tmp_path / "config.toml"
    file.write_text('max_pages = 50\ntoken = "s3cret"\n')
    file.chmod(0o640)
    monkeypatch.setenv("BROWSE_CONFIG", str(file))
    (check,) = check_config()
    assert (check.ok, check.found, check.advice) == (False, f"others may read token in {file}", f"chmod 600 {file}")
    file.chmod(0o600)
    (check,) = check_config()
    assert (check.ok, check.found) == (True, f"{file} sets max_pages, token")


def test_a_misspelt_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROWSE_AUTOSTART", "false")
    assert doctor.check_variables() == []
    monkeypatch.setenv("BROWSE_HEADLES", "true")
    (check,) = doctor.check_variables()
    assert (check.ok, check.found.startswith("BROWSE_HEADLES is no setting")) == (False, True)


def test_rules_for_acts_are_counted_and_told_if_they_are_wrong_or_later_than_the_service(tmp_path: Path) -> None:
    settings, instance = Settings(data_dir=tmp_path), tmp_path / INSTANCE_FILE
    assert doctor.check_rules(settings, None) == []
    file = settings.rules_file
    file.write_text('[[rule]]\nname = "a"\n', encoding="utf-8")
    os.utime(file, (1, 1))
    instance.touch()
    assert rules_of(settings, is_running=True) == (f"1 in {file}", "", True)
    os.utime(instance, (0, 0))
    assert rules_of(settings, is_running=True) == (
        f"1 in {file}, which changed since the service began",
        restart(settings.data_dir),
        True,
    )
    file.write_text("[[rule]]\n", encoding="utf-8")
    (check,) = doctor.check_rules(settings, None)
    assert (check.ok, check.name, "rule 1, name: Field required" in check.found) == (False, "rules", True)


def test_a_secret_that_makes_no_token_is_told_with_the_way_to_a_new_one(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    secret = tmp_path / SECRET_FILE
    secret.touch(mode=0o600)
    check = doctor.check_secret(tmp_path)
    assert (check.ok, check.found) == (False, f"The secret file {secret} is empty.")
    assert check.advice.startswith("Remove it and restart the service")
    secret.unlink()
    ensure_secret(tmp_path)
    assert doctor.check_secret(tmp_path).ok


def test_a_directory_that_cannot_be_made_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert not doctor.check_data_dir(tmp_path / "file" / "data").ok
    assert doctor.check_data_dir(tmp_path / "data").ok
    assert not (tmp_path / "data").exists()


def test_a_journal_that_cannot_be_used_is_told_with_what_becomes_of_it(tmp_path: Path) -> None:
    assert doctor.check_journal(tmp_path, None).ok
    file = tmp_path / JOURNAL_FILE
    file.write_bytes(b"no database" * 1_000)
    damaged = doctor.check_journal(tmp_path, None)
    assert (damaged.ok, "sets it aside" in damaged.advice) == (False, True)
    journal_file.connect(file)[0].close()
    (aside,) = doctor.check_aside(tmp_path)
    assert (aside.ok, aside.found.startswith(f"{JOURNAL_FILE}.damaged-")) == (True, True)
    assert doctor.check_journal(tmp_path, None).ok


def test_a_service_of_another_version_is_to_be_restarted(running: Terminal) -> None:
    assert running.service
    assert doctor.check_running(running.service, running.data_dir).ok
    other = doctor.check_running(running.service._replace(catalogue="another"), running.data_dir)
    assert not other.ok
    assert "browse-together down" in other.advice


def test_browsers_with_more_memory_than_their_limit_are_a_problem(terminal: Terminal) -> None:
    terminal.succeed("up", "--detach", "--memory-mb", "20")
    assert terminal.service
    before = doctor.check_memory(terminal.service)
    assert (before.ok, "its browsers 0 MB of 20 MB" in before.found) == (True, True)
    terminal.succeed("run", "open_page")
    above = doctor.check_memory(terminal.service)
    assert not above.ok
    browsers_mb = int(re.findall(r"its browsers ([\d,]+) MB of 20 MB", above.found)[0].replace(",", ""))
    assert browsers_mb > 20
    assert "close pages" in above.advice


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="Chromium refuses its sandbox to root")
def test_a_sandbox_that_cannot_be_is_told_from_a_browser_that_does_not_start(terminal: Terminal) -> None:
    done = terminal.run("doctor", "--json", "--sandbox", "on")
    assert set(failed(done.json)) == {"sandbox"}
    assert "BROWSE_SANDBOX=off" in failed(done.json)["sandbox"]["advice"]
