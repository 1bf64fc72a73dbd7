"""Tests what makes each platform start the service at login."""

import os
import plistlib
import shlex
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from browser_service.cli import flags
from browser_service.cli.host_unit import unit as unit_of_host
from browser_service.cli.install.machine import Machine
from browser_service.cli.service import Start, unit_for
from browser_service.joining import Join
from shared.errors import ValidationFailed
from shared.wire import LOG_FILE
from tests.support.home import Home

TASKS = "{http://schemas.microsoft.com/windows/2004/02/mit/task}"
START = Start(
    ["/opt/b t/browse-together"], Path("/data/50% $HOME"), flags.environment({"port": 9000, "headless": False})
)


def values(text: str, key: str) -> list[str]:
    return [line.partition("=")[2] for line in text.splitlines() if line.startswith(f"{key}=")]


def test_systemd_gets_a_unit_of_this_user_that_starts_it_once_logged_in(tmp_path: Path) -> None:
    unit = unit_for(Machine("linux", tmp_path, {}), START)
    assert unit.path == tmp_path / ".config/systemd/user/browse-together.service"
    (command,) = values(unit.text, "ExecStart")
    words = shlex.split(command.replace("$$", "$").replace("%%", "%"))
    assert words == ["/opt/b t/browse-together", "up", "--data-dir", "/data/50% $HOME"]
    assert values(unit.text, "Environment") == ['"BROWSE_PORT=9000"', '"BROWSE_HEADLESS=False"']
    assert values(unit.text, "StandardError") == [f"append:/data/50%% $HOME/{LOG_FILE}"]
    assert values(unit.text, "WantedBy") == ["default.target"]
    assert values(unit.text, "KillMode") == ["mixed"]
    assert [" ".join(command) for command in unit.enabling] == [
        "systemctl --user daemon-reload",
        "systemctl --user enable --now browse-together.service",
    ]
    elsewhere = Machine("linux", tmp_path, {"XDG_CONFIG_HOME": str(tmp_path / "xdg")})
    assert unit_for(elsewhere, START).path.is_relative_to(tmp_path / "xdg")


def test_launchd_gets_a_job(tmp_path: Path) -> None:
    unit = unit_for(Machine("darwin", tmp_path, {}), START)
    assert unit.path == tmp_path / "Library/LaunchAgents/browse-together.plist"
    job = plistlib.loads(unit.text.encode())
    assert job["ProgramArguments"] == ["/opt/b t/browse-together", "up", "--data-dir", "/data/50% $HOME"]
    assert job["EnvironmentVariables"] == {"BROWSE_PORT": "9000", "BROWSE_HEADLESS": "False"}
    assert (job["RunAtLoad"], job["KeepAlive"]) == (True, {"Crashed": True})
    assert job["StandardErrorPath"] == f"/data/50% $HOME/{LOG_FILE}"
    assert unit.enabling == (("launchctl", "bootstrap", f"gui/{os.getuid()}", str(unit.path)),)
    assert unit.disabling == (("launchctl", "bootout", f"gui/{os.getuid()}/{job['Label']}"),)


def test_an_address_that_may_be_a_key_stands_in_no_command_line(tmp_path: Path) -> None:
    start = Start(["browse-together"], tmp_path, flags.environment({"notify_webhook": "https://hooks.example/key"}))
    with pytest.raises(ValidationFailed, match="which others can read"):
        unit_for(Machine("win32", tmp_path, {}), start)
    assert "hooks.example/key" not in values(unit_for(Machine("linux", tmp_path, {}), start).text, "ExecStart")[0]


def test_windows_gets_a_task_of_this_user(tmp_path: Path) -> None:
    user = {"USERDOMAIN": "HOME", "USERNAME": "A & B", "APPDATA": str(tmp_path)}
    unit = unit_for(Machine("win32", tmp_path, user), START)
    task = ET.fromstring(unit.text.encode(unit.encoding))  # noqa: S314 - our own text
    assert task.findtext(f".//{TASKS}Command") == "/opt/b t/browse-together"
    arguments = task.findtext(f".//{TASKS}Arguments")
    assert arguments == 'up --data-dir "/data/50% $HOME" --detach --port=9000 --no-headless'
    assert {each.text for each in task.iter(f"{TASKS}UserId")} == {"HOME\\A & B"}
    assert task.findtext(f".//{TASKS}RunLevel") == "LeastPrivilege"
    assert unit.enabling[0] == ("schtasks", "/Create", "/TN", "browse-together", "/XML", str(unit.path), "/F")


def test_where_the_platforms_program_is_missing_its_commands_are_printed(tmp_path: Path) -> None:
    home = Home(tmp_path)
    unit = tmp_path / ".config/systemd/user/browse-together.service"
    assert home.run("service", "status").exit_code == 3
    assert "ExecStart=" in home.succeed("service", "install", "--print")
    assert not unit.exists()
    installed = home.run("service", "install", "--max-pages", "7")
    assert (installed.exit_code, "systemctl --user enable --now" in installed.stderr) == (0, True)
    assert "At login there is no PORT as in this shell" in home.run("service", "install", PORT="9000").stderr
    home.succeed("service", "install", "--max-pages", "7")
    assert 'Environment="BROWSE_MAX_PAGES=7"' in unit.read_text(encoding="utf-8")
    assert "nothing in it changes" in home.succeed("service", "install", "--max-pages", "7")
    assert (tmp_path / "data").stat().st_mode & 0o777 == 0o700
    status = home.succeed("service", "status")
    assert (str(unit) in status, "there is no systemctl here" in status) == (True, True)
    unit.write_text(unit.read_text(encoding="utf-8").replace("ExecStart=", "ExecStart=/gone/"), encoding="utf-8")
    removed = home.run("service", "uninstall")
    assert (removed.exit_code, "systemctl --user disable --now" in removed.stderr, unit.exists()) == (0, True, False)
    assert "nothing changes" in home.succeed("service", "uninstall")


def test_a_wrong_setting_of_the_start_is_named_and_nothing_is_written(tmp_path: Path) -> None:
    refused = Home(tmp_path).run("service", "install", "--port", "99999")
    assert (refused.exit_code, refused.stderr.startswith("--port: "), [*tmp_path.iterdir()]) == (2, True, [])


def test_a_host_gets_a_unit_of_the_machine_with_an_account_and_a_token_that_only_systemd_reads() -> None:
    text = unit_of_host(
        Join("http://front:8888", Path("/etc/50% $x/host.token"), "rack-1", allow_loopback=True), plain_http=True
    )
    (command,) = values(text, "ExecStart")
    words = shlex.split(command.replace("$$", "$").replace("%%", "%"))
    options = ["host", "--join", "http://front:8888", "--name", "rack-1", "--plain-http", "--allow-loopback"]
    given = ["--token-file", "${CREDENTIALS_DIRECTORY}/host.token", "--data-dir", "${STATE_DIRECTORY}"]
    assert words[-len(options + given) :] == [*options, *given]
    assert values(text, "LoadCredential") == ['"host.token:/etc/50%% $x/host.token"']
    assert values(text, "DynamicUser") == ["yes"]
    assert values(text, "TimeoutStopSec") == ["90"]
