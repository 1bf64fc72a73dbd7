"""Tests the settings of the transports: what goes together, and how what does not is said."""

import os
from pathlib import Path

import pytest
from pydantic import ValidationError

from browse_together.contract import variables
from browser_service.settings import Settings as ServiceSettings
from mcp_gateway import startup
from mcp_gateway.arguments import take
from mcp_gateway.settings import Settings
from mcp_gateway.transports.access import LIVES_S, Tickets, read_keys
from mcp_gateway.transports.listeners import bind, tls
from mcp_gateway.transports.settings import NotUsable, TransportSettings


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("BROWSE_") or name == "AUTH_SECRET"]:
        monkeypatch.delenv(name)


def given(monkeypatch: pytest.MonkeyPatch, *flags: str) -> dict[str, str]:
    """Take flags, whose variables end with the test."""
    changed = dict(os.environ)
    monkeypatch.setattr(os, "environ", changed)
    return take(flags)


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (["--transport", "htp"], "(given: 'htp')"),
        (["--transport", ","], "--transport: name one of stdio, http"),
        (["--transport", "http", "--port", "99999"], "--port: "),
        (["--transport", "ws", "--port", "x"], "--port: "),
        (["--transport", "websocket,http", "--ws-port", "x"], "--ws-port: "),
        (["--service-port", "0"], "--service-port: "),
        (["--auth", "magic"], "--auth: "),
        (["--cors-origins", "app.example.com"], "--cors-origins: 'app.example.com' is no origin; write https://"),
        (["--tls-cert", "a.pem"], "--tls-cert and --tls-key belong together; give both"),
        (["--transport", "http", "--host", "0.0.0.0"], "--host 0.0.0.0 is reached from elsewhere; give --allow-remote"),
        (
            ["--transport", "http", "--host", "10.0.0.1", "--allow-remote"],
            "give --tls-cert and --tls-key, or --behind-",
        ),
        (["--url", "http://10.0.0.1:8888"], "--url http://10.0.0.1:8888 would send the token unencrypted to another"),
        (["--transport", "http", "--host", "10.0.0.1", "--auth", "none", "--allow-remote"], "--auth none is for loop"),
        (["--transport", "http,ws", "--port", "3001"], "--port and --ws-port are both 3001"),
        *(
            (["--transport", "http", "--path", path], "--path: ")
            for path in ("mcp", "/a?b=c", "/a b", "http://x/", "//{}")
        ),
        (["--transport", "http,ws", "--ws-path", "ws"], "--ws-path: "),
        (["--transport", "ws", "--path", "ws"], "--path: "),
        *(
            (["--transport", "http,sse", "--path", path], f"--path {path} is taken by the transport sse")
            for path in ("/sse", "/sse/", "/messages", "/messages/x")
        ),
        (["--transport", "stdio,jsonl"], "stdio and jsonl both speak on stdin; name one of them"),
    ],
)
def test_an_error_names_the_flag_as_it_was_typed(monkeypatch: pytest.MonkeyPatch, flags: list[str], says: str) -> None:
    typed = given(monkeypatch, *flags)
    monkeypatch.setattr(os, "environ", {**os.environ, "BROWSE_AUTOSTART": "false"})
    with pytest.raises(SystemExit) as ended:
        startup.run(None, typed)
    assert str(ended.value.code).startswith("mcp-gateway: ")
    assert says in str(ended.value.code)


def test_an_error_of_the_environment_names_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROWSE_MCP_PORT", "many")
    with pytest.raises(SystemExit) as ended:
        startup.run(None)
    assert "BROWSE_MCP_PORT: " in str(ended.value.code)


@pytest.mark.parametrize(
    ("names", "kinds"),
    [("ws", ("websocket",)), ("stdio,http", ("stdio", "http")), (" HTTP , WebSocket", ("http", "websocket"))],
)
def test_transports_have_the_names_that_people_use(names: str, kinds: tuple[str, ...]) -> None:
    assert TransportSettings.model_validate({"transport": names}).transport == kinds


@pytest.mark.parametrize(("name", "auth"), [("token", "bearer"), ("api-key", "api-key"), ("session", "session")])
def test_proofs_have_the_names_that_people_use(name: str, auth: str) -> None:
    assert TransportSettings.model_validate({"auth": name}).auth == auth


@pytest.mark.parametrize(
    ("host", "is_loopback"),
    [("127.0.0.1", True), ("127.1.2.3", True), ("[::1]", True), ("localhost", True), ("::", False), ("host", False)],
)
def test_only_loopback_is_loopback(host: str, *, is_loopback: bool) -> None:
    settings = TransportSettings.model_validate(
        {"mcp_host": host, "transport": "http", "allow_remote": True, "behind_proxy": True}
    )
    assert settings.is_loopback is is_loopback


@pytest.mark.parametrize(
    ("variable", "line"),
    [
        ("BROWSE_TOOLSET", "BROWSE_TOOLSET is no setting, and has no effect. Did you mean BROWSE_TOOLSETS?"),
        ("BROWSE_HEADLES", "BROWSE_HEADLES is no setting, and has no effect. Did you mean BROWSE_HEADLESS?"),
        (
            "BROWSE_PAGE_EVENTS_PER_SECOND",
            f"BROWSE_PAGE_EVENTS_PER_SECOND {variables.no_more('page_events_per_second')}",
        ),
        ("BROWSE_QQQ", "BROWSE_QQQ is no setting, and has no effect. docs/settings.md lists the settings."),
    ],
)
def test_a_misspelt_variable_is_told_with_the_nearest(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], variable: str, line: str
) -> None:
    for name in (variable, "BROWSE_HEADLESS", "BROWSE_AUTOSTART", "BROWSE_WS_PORT"):
        monkeypatch.setenv(name, "")
    monkeypatch.setenv("BROWSE_MCP_HOST", "0.0.0.0")
    monkeypatch.setenv("BROWSE_TRANSPORT", "http")
    monkeypatch.setenv("BROWSE_CLIENT_ID", "ends-before-anything-starts")
    monkeypatch.setenv("BROWSE_ALLOW_REMOTE", "true")
    monkeypatch.setenv("BROWSE_BEHIND_PROXY", "true")
    with pytest.raises(SystemExit):
        startup.run(None)
    assert capsys.readouterr().err == f"mcp-gateway: {line}\n"


def test_every_setting_of_the_service_is_a_known_variable() -> None:
    of_service = {f"BROWSE_{name.upper()}" for name in ServiceSettings.model_fields}
    assert of_service == variables.OF_SERVICE
    every = [*ServiceSettings.model_fields, *Settings.model_fields, *TransportSettings.model_fields]
    ours = {f"BROWSE_{name.upper()}" for name in every}
    assert variables.misspelt(dict.fromkeys([*ours, "PATH"], "")) == []


def test_files_of_tls_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    (tmp_path / "empty.pem").touch()
    for cert, says in ((tmp_path / "none.pem", "--tls-cert: "), (tmp_path / "empty.pem", "--tls-cert ")):
        settings = TransportSettings.model_validate({"tls_cert": cert, "tls_key": tmp_path / "empty.pem"})
        with pytest.raises(NotUsable, match=says):
            tls(settings)


def test_a_port_that_is_taken_names_who_has_it() -> None:
    taken = bind("127.0.0.1", 0, "--port")
    with taken, pytest.raises(NotUsable, match=rf"process {os.getpid()}\) listens there. Choose another with --port"):
        bind("127.0.0.1", taken.getsockname()[1], "--port")


def test_a_key_is_made_once_and_a_short_or_missing_one_is_refused(tmp_path: Path) -> None:
    settings = TransportSettings()
    (made,), where = read_keys(settings, tmp_path)
    assert read_keys(settings, tmp_path)[0] == [made]
    assert str(tmp_path / "mcp-keys") in where
    assert (tmp_path / "mcp-keys").stat().st_mode & 0o077 == 0
    for text in ("short", "", "with some spaces in between"):
        (tmp_path / "mcp-keys").write_text(text)
        with pytest.raises(NotUsable, match="mcp-keys"):
            read_keys(settings, tmp_path)
    with pytest.raises(NotUsable, match="AUTH_SECRET or --auth-file"):
        read_keys(settings.model_copy(update={"auth_file": tmp_path}), tmp_path)


def test_a_session_lets_in_while_it_is_young_or_in_use() -> None:
    now = [0.0]
    tickets = Tickets(lambda: now[0])
    session = tickets.make("somebody")
    with tickets.used(session):
        now[0] = LIVES_S * 5
        assert tickets.client(session) == "somebody"
    now[0] += LIVES_S
    assert tickets.client(session) == "somebody"
    now[0] += 1
    assert tickets.client(session) is None
    assert tickets.client("unknown") is None


def test_sessions_that_nobody_uses_make_room() -> None:
    tickets = Tickets(lambda: 0.0)
    used, unused, *_ = [tickets.make("somebody") for _ in range(1_000)]
    with tickets.used(used):
        newest = tickets.make("somebody")
        assert [tickets.client(each) for each in (used, unused, newest)] == ["somebody", None, "somebody"]


def test_settings_that_are_wrong_by_themselves_are_still_wrong() -> None:
    with pytest.raises(ValidationError):
        TransportSettings.model_validate({"max_message_bytes": 1})


def test_without_a_key_nothing_is_served_by_a_name_which_a_proxy_may_pass_on() -> None:
    served: dict[str, object] = {"transport": "http", "auth": "none"}
    assert TransportSettings.model_validate(served).auth == "none"
    with pytest.raises(ValidationError, match=r"--allowed-hosts mcp\.example\.com is reached from elsewhere"):
        TransportSettings.model_validate({**served, "allowed_hosts": "mcp.example.com"})
