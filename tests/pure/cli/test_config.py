"""Tests `config`: what holds and where it comes from, and how the file is changed."""

import json
import os
import stat
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from browser_service.cli import root, setting_values
from browser_service.settings import Settings
from client import config_file
from mcp_gateway.settings import Settings as GatewaySettings
from mcp_gateway.transports.settings import TransportSettings
from shared import setting_names
from shared.variables import no_more
from tests.support.json import AnyJson


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Name a file that is not there yet, in a folder that is not there either."""
    for name in {*setting_names.SERVICE, *setting_names.GATEWAY}:
        monkeypatch.delenv(f"BROWSE_{name.upper()}", raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    path = tmp_path / "folder" / "config.toml"
    monkeypatch.setenv("BROWSE_CONFIG", str(path))
    return path


def run(*arguments: str, typed: str | None = None) -> Result:
    return CliRunner().invoke(root.app, ["config", *arguments], input=typed, env={"COLUMNS": "300"})


def succeed(*arguments: str, typed: str | None = None) -> str:
    done = run(*arguments, typed=typed)
    assert done.exit_code == 0, done.output
    return done.output


def written(file: Path, text: str) -> str:
    file.parent.mkdir(exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return text


def shown(*flags: str) -> AnyJson:
    return json.loads(succeed("show", "--json", *flags))


def test_every_setting_is_shown_with_its_value_and_where_that_comes_from(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(file, '# mine\nmax_pages = 50\nheadless = false\nport = 9001\ntoolsets = ["core", "media"]\n')
    monkeypatch.setenv("PORT", "9002")
    found = shown("--viewport", "640x480")
    assert set(found["service"]) == set(Settings.model_fields)
    assert set(found["gateway"]) == {*GatewaySettings.model_fields, *TransportSettings.model_fields}
    of = {name: (one["value"], one["source"], one["where"]) for name, one in found["service"].items()}
    assert of["max_pages"] == (50, "file", f"{file}, line 2")
    assert of["headless"] == (False, "file", f"{file}, line 3")
    assert of["port"] == (9002, "environment", "PORT")
    assert of["viewport"] == ("640x480", "flag", "--viewport")
    assert of["proxy"] == (None, "default", "")
    assert (found["file"], found["gateway"]["toolsets"]["value"]) == (str(file), ["core", "media"])
    table = succeed("show")
    assert [line.split() for line in table.splitlines() if "max_pages" in line] == [
        ["max_pages", "50", *f"{file}, line 2".split()]
    ]


def test_a_wrong_value_is_told_and_the_others_are_shown(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(file, "max_pages = 50\n")
    monkeypatch.setenv("BROWSE_TOOLSETS", "core")
    monkeypatch.setenv("BROWSE_URL", "no address")
    wrong = run("show")
    assert (wrong.exit_code, wrong.stderr.startswith("BROWSE_URL: this is not how it is written")) == (2, True)
    for line in ("max_pages", "ws_port"):
        assert line in wrong.stdout


def test_no_secret_is_shown(file: Path) -> None:
    secrets = {
        "token": "s3cret-token",
        "auth_secret": "s3cret-key-of-a-transport-0123456789",
        "notify_webhook": "https://hooks.example/s3cret",
        "cdp_url": "ws://s3cret@127.0.0.1:9222/s3cret",
    }
    written(file, "".join(f'{name} = "{value}"\n' for name, value in secrets.items()))
    for text in (succeed("show"), succeed("show", "--json")):
        assert "s3cret" not in text
        assert "https://hooks.example/…" in text


def test_a_value_is_set_beside_what_else_is_in_the_file(file: Path) -> None:
    assert "max_pages: set in" in succeed("set", "max_pages", "50")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    written(file, "# my settings\nmax_pages = 50   # few\n\n# windows\nheadless = true\n")
    file.chmod(0o644)
    succeed("set", "BROWSE_MAX_PAGES", "70", "--url-whitelist".strip("-"), "a.example, b.example", "headless", "no")
    assert file.read_text(encoding="utf-8") == (
        "# my settings\nmax_pages = 70   # few\n\n# windows\nheadless = false\n"
        'url_whitelist = ["a.example", "b.example"]\n'
    )
    assert stat.S_IMODE(file.stat().st_mode) == 0o644
    assert Settings().url_whitelist == ("a.example", "b.example")
    succeed("unset", "max-pages", "url_whitelist")
    assert file.read_text(encoding="utf-8") == "# my settings\n\n# windows\nheadless = false\n"
    assert Settings().max_pages == 150
    assert sorted(path.name for path in file.parent.iterdir()) == ["config.toml"]


def test_settings_that_belong_together_are_set_together(file: Path) -> None:
    alone = run("set", "tls_cert", "cert.pem")
    assert (alone.exit_code, "give both" in alone.output, file.exists()) == (2, True, False)
    succeed("set", "tls_cert", "cert.pem", "tls_key", "key.pem")
    assert tomllib.loads(file.read_text())["tls_cert"] == str(Path("cert.pem").absolute())


def test_a_secret_is_asked_for_and_for_this_account_alone_to_read(file: Path) -> None:
    written(file, "port = 9001\n").encode()
    file.chmod(0o644)
    said = succeed("set", "token", "-", typed="s3cret\n")
    assert "s3cret" not in said
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert tomllib.loads(file.read_text()) == {"port": 9001, "token": "s3cret"}


def test_a_link_to_the_file_stays_one(file: Path, tmp_path: Path) -> None:
    target = tmp_path / "dotfiles.toml"
    target.write_text("port = 9001\n")
    file.parent.mkdir()
    file.symlink_to(target)
    succeed("set", "port", "9002")
    assert (file.is_symlink(), target.read_text()) == (True, "port = 9002\n")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["max_page", "3"], "There is no setting 'max_page'.\nDid you mean max_pages?"),
        (["allow_hosts", "x"], "allow_hosts is no setting any more: write url_whitelist"),
        (["viewport", "1280"], "such as 1280x720"),
        (["xyzzy", "3"], "browse-together config show lists them."),
        (["max_pages", "many"], "Input should be a valid integer"),
        (["max_pages", "0"], "greater than or equal to 1"),
        (["log_level", "loud"], "Input should be 'debug', 'info', 'warning' or 'error'"),
        (["toolsets", "cor"], "toolsets: there is no cor, but core, "),
        (["transport", "http"], "mcp-gateway --transport"),
        (["max_pages"], "'max_pages' has no value"),
    ],
)
def test_what_cannot_be_is_refused_and_the_file_stays(file: Path, arguments: list[str], told: str) -> None:
    before = written(file, "port = 9001\n")
    refused = run("set", *arguments)
    assert refused.exit_code in {1, 2}
    assert told in refused.output
    assert file.read_text() == before


def test_a_file_with_a_mistake_is_not_made_worse_and_can_be_mended(file: Path) -> None:
    written(file, "max_page = 3\nport = 9001\n")
    assert "Did you mean max_pages?" in run("set", "headless", "false").output
    assert "Did you mean max_pages?" in run("show").output
    assert run("unset", "headless").output == f"{file} does not set headless.\n"
    succeed("unset", "max_page")
    assert file.read_text() == "port = 9001\n"
    before = written(file, "port = \n")
    for arguments in (["set", "port", "1"], ["unset", "port"], ["show"]):
        broken = run(*arguments)
        assert (broken.exit_code, broken.output.startswith(f"{file}, line 1: this is no TOML.")) == (2, True)
    assert file.read_text() == before


def test_only_a_file_is_written(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROWSE_CONFIG", os.devnull)
    refused = run("set", "port", "9001")
    assert (refused.exit_code, refused.output) == (2, f"{os.devnull} is no file.\n")
    assert not Path(os.devnull).is_file()
    assert not file.exists()


def test_a_file_that_cannot_be_written_is_told(file: Path) -> None:
    file.parent.write_text("a file in the place of the folder")
    refused = run("set", "port", "9001")
    assert (refused.exit_code, refused.output) == (2, f"{file} cannot be written: File exists. Nothing was changed.\n")


def test_a_variable_that_stands_above_the_file_is_named(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLESS", "true")
    assert "HEADLESS is set in this environment, and stands above the file." in succeed("set", "headless", "false")
    assert file.exists()


def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Have an editor that changes its file by a line of shell."""
    path = tmp_path / "an editor"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o700)
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", f"'{path}' --wait")


def test_the_file_is_edited_as_a_person_likes(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    editor(tmp_path, monkeypatch, "true")
    assert succeed("edit") == "Nothing was changed.\n"
    assert not file.exists()
    editor(tmp_path, monkeypatch, 'sed -i "s/^# max_pages = 150/max_pages = 60/" "$2"')
    assert f"{file} is written." in succeed("edit")
    text = file.read_text(encoding="utf-8")
    assert tomllib.loads(text) == {"max_pages": 60}
    assert all(f"# {name} = " in text for name in {*setting_names.SERVICE} - {"max_pages"})


@pytest.mark.usefixtures("file")
def test_a_new_file_names_each_setting_with_a_default_that_is_valid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = [settings.alone({}) for settings in setting_values.CLASSES]
    editor(tmp_path, monkeypatch, 'sed -i "s/^# \\([a-z_]* = \\)/\\1/" "$2"')
    succeed("edit")
    assert config_file.contents().keys() == config_file.NAMES - config_file.SAID_AT_START.keys()
    assert [settings() for settings in setting_values.CLASSES] == before


def test_a_broken_version_is_kept_and_the_next_edit_goes_on_with_it(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = written(file, "port = 9001\n")
    editor(tmp_path, monkeypatch, 'echo "max_page = 3" >> "$2"')
    broken = run("edit")
    aside = file.with_name("config.toml.broken")
    assert broken.exit_code == 2
    assert f"{aside}, line 2: there is no setting 'max_page'. Did you mean max_pages?" in broken.output
    assert f"{file} is as it was; your version is kept in {aside}." in broken.output
    assert file.read_text() == before
    editor(tmp_path, monkeypatch, 'sed -i "s/max_page /max_pages /" "$2"')
    assert "This goes on with" in succeed("edit")
    assert tomllib.loads(file.read_text()) == {"port": 9001, "max_pages": 3}
    assert not aside.exists()


def test_an_editor_that_fails_changes_nothing(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = written(file, "port = 9001\n")
    editor(tmp_path, monkeypatch, 'echo "port = 1" > "$2"; exit 3')
    assert "ended with exit code 3; nothing was changed" in run("edit").output
    monkeypatch.setenv("EDITOR", "/no/such/editor")
    assert "cannot be started" in run("edit").output
    assert file.read_text() == before


def test_the_path_is_printed_also_where_there_is_no_file(file: Path) -> None:
    assert succeed("path") == f"{file}\n"


def test_a_flag_of_a_removed_setting_is_a_warning_unless_it_protected_something(file: Path) -> None:
    written(file, "")
    shown = run("show", "--activity-days", "5", "--no-metrics-enabled", "--max-pages", "7")
    assert shown.exit_code == 0
    assert sorted(shown.stderr.splitlines()) == [
        f"--activity-days {no_more('activity_days')}",
        f"--metrics-enabled {no_more('metrics_enabled')}",
    ]
    refused = run("show", "--deny-hosts", "bank.example")
    assert refused.exit_code == 2
    assert "is no setting any more: write url_blacklist" in refused.stderr
