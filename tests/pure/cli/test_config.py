"""Tests `config`: what holds and where it comes from."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from browse_together.contract import setting_names
from browse_together.contract.variables import no_more
from browser_service.cli import root
from browser_service.settings import Settings
from mcp_gateway.settings import Settings as GatewaySettings
from mcp_gateway.transports.settings import TransportSettings
from tests.support.json import AnyJson


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Name a file that is not there yet."""
    for name in {*setting_names.SERVICE, *setting_names.GATEWAY}:
        monkeypatch.delenv(f"BROWSE_{name.upper()}", raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    path = tmp_path / "config.toml"
    monkeypatch.setenv("BROWSE_CONFIG", str(path))
    return path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(root.app, ["config", *arguments], env={"COLUMNS": "300"})


def succeed(*arguments: str) -> str:
    done = run(*arguments)
    assert done.exit_code == 0, done.output
    return done.output


def written(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8")


def shown(*flags: str) -> AnyJson:
    return json.loads(succeed("--json", *flags))


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
    table = succeed()
    assert [line.split() for line in table.splitlines() if line.startswith(" max_pages ")] == [
        ["max_pages", "50", *f"{file}, line 2".split()]
    ]


def test_a_wrong_value_is_told_and_the_others_are_shown(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(file, "max_pages = 50\n")
    monkeypatch.setenv("BROWSE_TOOLSETS", "core")
    monkeypatch.setenv("BROWSE_URL", "no address")
    wrong = run()
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
    for text in (succeed(), succeed("--json")):
        assert "s3cret" not in text
        assert "https://hooks.example/…" in text


def test_a_toolset_that_is_none_is_told_before_a_chat_finds_it(file: Path) -> None:
    written(file, 'toolsets = "cor"\n')
    wrong = run()
    assert (wrong.exit_code, wrong.stderr.startswith("toolsets: there is no cor, but core, ")) == (2, True)


def test_the_file_is_named_also_before_a_person_makes_it(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROWSE_CONFIG", "")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(file.parent))
    file = file.parent / "browse-together" / file.name
    assert f"are in {file}, which is not there yet: a line each, such as max_pages = 50." in succeed()
    file.parent.mkdir()
    written(file, "max_pages = 50\n")
    assert f"are in {file}: a line each" in succeed()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("port = \n", "line 1: this is no TOML. Invalid value."),
        ("max_page = 3\nport = 9001\n", "line 1: there is no setting 'max_page'. Did you mean max_pages?"),
        ('transport = "http"\n', "mcp-gateway --transport"),
        ("[max_pages]\n", "line 1: [max_pages] is a table"),
    ],
)
def test_a_mistake_in_the_file_is_one_line(file: Path, text: str, told: str) -> None:
    written(file, text)
    wrong = run()
    assert (wrong.exit_code, wrong.stdout, wrong.stderr.startswith(f"{file}, ")) == (2, "", True)
    assert (told in wrong.stderr, wrong.stderr.count("\n")) == (True, 1)


def test_a_flag_of_a_removed_setting_is_a_warning_unless_it_protected_something(file: Path) -> None:
    written(file, "")
    shown = run("--activity-days", "5", "--no-metrics-enabled", "--max-pages", "7")
    assert shown.exit_code == 0
    assert sorted(shown.stderr.splitlines()) == [
        f"--activity-days {no_more('activity_days')}",
        f"--metrics-enabled {no_more('metrics_enabled')}",
    ]
    refused = run("--deny-hosts", "bank.example")
    assert refused.exit_code == 2
    assert "is no setting any more: write url_blacklist" in refused.stderr
