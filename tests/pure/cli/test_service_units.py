"""Tests the units by which systemd starts the service at login, and a host with its machine."""

import shlex
from pathlib import Path

import pytest

from browse_together.contract.wire import LOG_FILE
from browser_service.cli import flags
from browser_service.cli.host_unit import unit as unit_of_host
from browser_service.cli.install.machine import Machine
from browser_service.cli.service import unit, unit_file
from browser_service.joining import Join
from tests.support.home import Home


def values(text: str, key: str) -> list[str]:
    return [line.partition("=")[2] for line in text.splitlines() if line.startswith(f"{key}=")]


def test_systemd_gets_a_unit_of_this_user_that_starts_it_once_logged_in(tmp_path: Path) -> None:
    settings = flags.environment({"port": 9000, "headless": False})
    text = unit(["/opt/b t/browse-together"], Path("/data/50% $HOME"), settings)
    (command,) = values(text, "ExecStart")
    words = shlex.split(command.replace("$$", "$").replace("%%", "%"))
    assert words == ["/opt/b t/browse-together", "up", "--data-dir", "/data/50% $HOME"]
    assert values(text, "Environment") == ['"BROWSE_PORT=9000"', '"BROWSE_HEADLESS=False"']
    assert values(text, "StandardError") == [f"append:/data/50%% $HOME/{LOG_FILE}"]
    assert values(text, "WantedBy") == ["default.target"]
    assert values(text, "KillMode") == ["mixed"]
    assert unit_file(Machine("linux", tmp_path, {})) == tmp_path / ".config/systemd/user/browse-together.service"
    elsewhere = Machine("linux", tmp_path, {"XDG_CONFIG_HOME": str(tmp_path / "xdg")})
    assert unit_file(elsewhere).is_relative_to(tmp_path / "xdg")


@pytest.mark.parametrize("platform", ["darwin", "win32"])
@pytest.mark.parametrize("command", ["install", "uninstall", "status"])
def test_elsewhere_one_line_says_what_starts_the_service(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, platform: str, command: str
) -> None:
    home = Home(tmp_path)
    monkeypatch.setattr(Machine, "here", lambda: home.machine._replace(platform=platform))
    refused = home.run("service", command)
    assert (refused.exit_code, refused.stdout, refused.stderr.count("\n")) == (1, "", 1)
    assert "the first chat starts the service" in refused.stderr
    assert refused.stderr.endswith("up --detach\n")
    assert [*tmp_path.iterdir()] == []


def test_where_the_platforms_program_is_missing_its_commands_are_printed(tmp_path: Path) -> None:
    home = Home(tmp_path)
    file = tmp_path / ".config/systemd/user/browse-together.service"
    assert home.run("service", "status").exit_code == 3
    assert "ExecStart=" in home.succeed("service", "install", "--print")
    assert not file.exists()
    installed = home.run("service", "install", "--max-pages", "7")
    assert (installed.exit_code, "systemctl --user enable --now" in installed.stderr) == (0, True)
    assert "At login there is no PORT as in this shell" in home.run("service", "install", PORT="9000").stderr
    home.succeed("service", "install", "--max-pages", "7")
    assert 'Environment="BROWSE_MAX_PAGES=7"' in file.read_text(encoding="utf-8")
    assert "nothing in it changes" in home.succeed("service", "install", "--max-pages", "7")
    assert (tmp_path / "data").stat().st_mode & 0o777 == 0o700
    status = home.succeed("service", "status")
    assert (str(file) in status, "there is no systemctl here" in status) == (True, True)
    file.write_text(file.read_text(encoding="utf-8").replace("ExecStart=", "ExecStart=/gone/"), encoding="utf-8")
    removed = home.run("service", "uninstall")
    assert (removed.exit_code, "systemctl --user disable --now" in removed.stderr, file.exists()) == (0, True, False)
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
