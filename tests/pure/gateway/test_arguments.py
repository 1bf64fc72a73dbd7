"""Tests the command line of the gateway: it helps, tells its version, refuses the rest, and starts nothing."""

import sys

import pytest

from browse_together.contract.variables import no_more
from browse_together.contract.wire import VERSION
from mcp_gateway import __main__ as gateway
from mcp_gateway.arguments import take
from mcp_gateway.settings import Settings
from mcp_gateway.transports.settings import TransportSettings


@pytest.fixture(autouse=True)
def _starts_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROWSE_SHARED", "false")
    monkeypatch.setattr(gateway, "Launcher", None)


def ends(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> object:
    monkeypatch.setattr(sys, "argv", ["mcp-gateway", *arguments])
    with pytest.raises(SystemExit) as ended:
        gateway.main()
    return ended.value.code


@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help_names_every_setting(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], flag: str
) -> None:
    assert ends(monkeypatch, flag) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("usage: mcp-gateway ")
    flags = {"port": "service-port", "mcp_host": "host", "mcp_port": "port", "mcp_path": "path"}
    for name in {*Settings.model_fields, *TransportSettings.model_fields} - {"token", "auth_secret"}:
        assert f"--{flags.get(name, name).replace('_', '-')} " in shown or f"--{name.replace('_', '-')}," in shown


def test_help_has_defaults_and_the_name_under_which_it_was_asked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["browse-together mcp", "--help"])
    with pytest.raises(SystemExit):
        gateway.main()
    shown = " ".join(capsys.readouterr().out.split())
    assert shown.startswith("usage: browse-together mcp ")
    assert "mcp-gateway" not in shown
    assert "Address to listen on. (default 127.0.0.1)" in shown
    assert "at most one uses stdin. (default stdio)" in shown


def test_the_version_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert ends(monkeypatch, "--version") == 0
    assert capsys.readouterr().out == f"browse-together {VERSION}\n"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (["--hlep"], "unknown argument '--hlep'. Did you mean --help?"),
        (["--verison"], "unknown argument '--verison'. Did you mean --version?"),
        (["--toolset=all"], "unknown argument '--toolset'. Did you mean --toolsets?"),
        (["--client", "x"], "unknown argument '--client'. Did you mean --client-id?"),
        (["--token", "x"], "unknown argument '--token'. Did you mean --token-file?"),
        (["--toolsets"], "argument --toolsets: expected one argument"),
        (["12345"], "unknown argument '12345'. Did you mean --help?"),
        ([""], "unknown argument ''. Did you mean --help?"),
        (["--deny-hosts", "bank.example"], "unknown argument '--deny-hosts'."),
    ],
)
def test_what_is_unknown_is_an_error_that_names_the_nearest(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], given: list[str], says: str
) -> None:
    assert ends(monkeypatch, *given) == 2
    printed = capsys.readouterr()
    assert says in printed.err
    assert printed.out == ""


def test_a_flag_of_a_removed_setting_is_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    environment = dict[str, str]()
    arguments = ["--save-every-ms", "9", "--no-metrics-enabled", "--park-after-ms=9", "--toolsets", "all"]
    assert take(arguments, environment) == {"BROWSE_TOOLSETS": "--toolsets"}
    assert environment == {"BROWSE_TOOLSETS": "all"}
    assert capsys.readouterr().err.splitlines() == [
        f"mcp-gateway: {flag} {no_more(name)}"
        for flag, name in (
            ("--save-every-ms", "save_every_ms"),
            ("--no-metrics-enabled", "metrics_enabled"),
            ("--park-after-ms", "park_after_ms"),
        )
    ]
