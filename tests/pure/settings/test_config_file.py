"""Tests the settings file: its contents, what overrides it, and the report of each mistake in it."""

import os
from pathlib import Path

import platformdirs
import pytest
from pydantic import ValidationError

from browse_together.client import config_file, config_place
from browse_together.client.config_file import FileSettings, WrongFile, explain
from browse_together.contract import setting_names
from browse_together.contract.variables import REMOVED, no_more
from browser_service.settings import Settings as ServiceSettings
from mcp_gateway import startup
from mcp_gateway.settings import Settings as GatewaySettings
from mcp_gateway.transports.settings import TransportSettings
from tests.support import chat, gateways
from tests.support.terminal import Terminal


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "config.toml"
    path.touch()
    monkeypatch.setenv("BROWSE_CONFIG", str(path))
    for name in {*setting_names.SERVICE, *setting_names.GATEWAY}:
        monkeypatch.delenv(f"BROWSE_{name.upper()}", raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    return path


def problem(settings: type[FileSettings] = ServiceSettings) -> list[str]:
    """Return the lines that a start would print."""
    try:
        settings()
    except WrongFile as wrong:
        return str(wrong).splitlines()
    except ValidationError as error:
        return explain(error, settings)
    return []


def test_tests_read_no_file_of_the_developers(tmp_path: Path) -> None:
    for environment in (chat.environment(), gateways.environment(tmp_path), Terminal(tmp_path).environment()):
        assert environment["BROWSE_CONFIG"] == os.devnull
    assert os.environ["BROWSE_CONFIG"] == os.devnull
    assert config_file.contents() == {}


def test_the_file_is_in_the_platforms_directory_and_need_not_be_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable, value in {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path), "BROWSE_CONFIG": ""}.items():
        monkeypatch.setenv(variable, value)
    assert config_place.path() == Path(platformdirs.user_config_dir("browse-together", appauthor=False)) / "config.toml"
    assert ServiceSettings().max_pages == 150


def test_both_processes_take_their_settings_from_it_as_from_variables(file: Path) -> None:
    file.write_text(
        'port = 9001\nmax_pages = 50\nheadless = false\nurl_whitelist = ["a.example", "b.example"]\n'
        'log_level = "DEBUG"\ntoolsets = "core, media"\ncors_origins = ["https://a.example"]\nproxy = ""\n'
    )
    service, gateway = ServiceSettings(), GatewaySettings()
    assert (service.port, service.max_pages, service.headless, service.proxy) == (9001, 50, False, None)
    assert (service.url_whitelist, service.log_level) == (("a.example", "b.example"), "debug")
    assert (gateway.port, gateway.url) == (9001, "http://127.0.0.1:9001")
    assert gateway.toolsets == {"core", "media"}
    assert gateway.log_level == "debug"
    assert TransportSettings().cors_origins == ("https://a.example",)


@pytest.mark.parametrize("variable", ["PORT", "BROWSE_PORT", "browse_port"])
def test_the_environment_stands_above_it_and_flags_above_both(
    file: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    file.write_text("port = 9001\nmax_pages = 50\n")
    monkeypatch.setenv(variable, "9002")
    assert (ServiceSettings().port, GatewaySettings().port) == (9002, 9002)
    assert ServiceSettings(port=9003, max_pages=1).model_dump(include={"port", "max_pages"}) == {
        "port": 9003,
        "max_pages": 1,
    }


@pytest.mark.parametrize("settings", [ServiceSettings, GatewaySettings, TransportSettings])
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("# mine\nmax_page = 3\n", "line 2: there is no setting 'max_page'. Did you mean max_pages?"),
        ("BROWSE_HEADLESS = true\n", "line 1: there is no setting 'BROWSE_HEADLESS'. Did you mean headless?"),
        ("\n[metrics]\nenabled = true\n", "line 2: [metrics] is a table, and the settings are all in one"),
        ("metrics.port = 9090\n", "Write metrics_port = ..."),
        ('transport = "http"\n', "line 1: transport is nothing for a file, because a chat's host starts"),
        ("port = 1\nmax_pages = = 3\n", "line 2: this is no TOML. Invalid value."),
        ("port = 1\nurl_whitelist = [\n", "line 2: this is no TOML."),
        ("port = 1\nport = 2\n", "line 2: this is no TOML. Cannot overwrite a value."),
    ],
)
def test_a_mistake_is_reported_with_file_line_and_right_form(
    file: Path, settings: type[FileSettings], text: str, told: str
) -> None:
    file.write_text(text)
    (line,) = problem(settings)
    assert line.startswith(f"{file}, line ")
    assert told in line


def test_a_removed_setting_is_reported_and_does_not_prevent_the_start(file: Path) -> None:
    file.write_text("port = 9001\npage_events_per_second = 100\n")
    assert [problem(settings) for settings in (ServiceSettings, GatewaySettings)] == [[], []]
    (line,) = config_file.removed()
    assert line.startswith(f"{file}, line 2: page_events_per_second is no setting any more, and has no effect: ")


def test_a_start_ends_at_a_removed_setting_that_protected_something(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_text("deny_hosts = 'bank.example'\n")
    told = "deny_hosts is no setting any more: write url_blacklist, with *.example.com for a host"
    assert problem()[0].startswith(f"{file}, line 1: {told}")
    file.write_text("")
    monkeypatch.setenv("BROWSE_POLICY_FILE", "rules.toml")
    assert problem() == [f"BROWSE_POLICY_FILE {no_more('policy_file')}"]
    assert problem(GatewaySettings) == []


def test_every_misspelt_key_is_named(file: Path) -> None:
    file.write_text("max_page = 3\nhedless = true\nport = 1\nxyzzy = 1\n")
    assert [line.partition(": ")[2] for line in problem()] == [
        "there is no setting 'max_page'. Did you mean max_pages?",
        "there is no setting 'hedless'. Did you mean headless?",
        "there is no setting 'xyzzy'. See browse-together config.",
    ]


def test_a_wrong_value_is_reported_with_its_key_and_right_form(file: Path) -> None:
    file.write_text('max_pages = "many"\nlog_level = 5\nallowed_hosts = ["http://site.example/x"]\n')
    lines = {line.split(" ", 1)[0]: line for line in problem()}
    assert lines["max_pages"].startswith(f"max_pages in {file}, line 1: Input should be a valid integer")
    assert lines["max_pages"].endswith("(given: 'many'). Pages open at once, in all sessions, parked ones included.")
    assert lines["log_level"].startswith(f"log_level in {file}, line 2: Input should be 'debug', 'info'")
    assert lines["allowed_hosts"].startswith(f"allowed_hosts in {file}, line 3: ")
    assert [line.split(" ")[0] for line in problem(GatewaySettings)] == ["log_level"]


def test_a_toolset_that_is_none_ends_the_start_where_the_file_names_it(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text('port = 9001\ntoolsets = ["core", "medai"]\n')
    with pytest.raises(SystemExit) as ended:
        startup.run(None)
    assert str(ended.value).startswith(
        f"mcp-gateway: toolsets in {file}, line 2: no toolset is called medai; listed is"
    )
    file.write_text("max_page = 1\nhedless = 2\n")
    with pytest.raises(SystemExit) as ended:
        startup.run(None)
    assert str(ended.value).count("there is no setting") == 2
    assert capsys.readouterr().err == ""


def test_a_wrong_variable_is_not_blamed_on_the_file(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write_text("max_pages = 5\n")
    monkeypatch.setenv("BROWSE_MAX_PAGES", "many")
    (line,) = problem()
    assert line.startswith("BROWSE_MAX_PAGES: ")


def test_an_unreadable_file_is_reported(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write_bytes(b"\xff\xfe")
    assert problem()[0].startswith(f"{file}: this is no TOML. 'utf-8' codec")
    file.write_text("[" * 20_000)
    assert problem()[0].startswith(str(file))
    file.write_text(f"# {'x' * 1_000_000}")
    assert problem() == [f"{file}: it has more than 1,000,000 bytes."]
    monkeypatch.setenv("BROWSE_CONFIG", str(file.parent))
    assert problem() == [f"{file.parent} cannot be read: Is a directory."]
    monkeypatch.setenv("BROWSE_CONFIG", str(file.parent / "none.toml"))
    (line,) = problem()
    assert line.startswith(f"There is no file {file.parent / 'none.toml'}. BROWSE_CONFIG names it.")


def test_no_setting_counts_as_removed() -> None:
    assert not REMOVED.keys() & config_file.NAMES
