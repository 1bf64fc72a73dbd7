"""Tests what can be set, and what it is when it is not."""

from pathlib import Path

import platformdirs
import pytest
from pydantic import ValidationError

from browse_together.client.instance import is_local
from browse_together.contract.instructions import INSTRUCTIONS
from mcp_gateway.settings import Settings


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ["PORT", "LOG_LEVEL", *(f"BROWSE_{field.upper()}" for field in Settings.model_fields)]:
        monkeypatch.delenv(name, raising=False)


def test_the_defaults_find_the_service_of_this_account() -> None:
    settings = Settings()
    assert settings.url == "http://127.0.0.1:8888"
    assert settings.autostart is True
    assert settings.toolsets == {"core"}
    assert settings.data_dir == Path(platformdirs.user_data_dir("browse-together", appauthor=False))


@pytest.mark.parametrize("name", ["PORT", "BROWSE_PORT"])
def test_the_url_follows_the_port(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "9001")
    assert Settings().url == "http://127.0.0.1:9001"


def test_an_empty_variable_is_as_good_as_none(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PORT", "BROWSE_URL", "BROWSE_SESSION", "BROWSE_TOOLSETS"):
        monkeypatch.setenv(name, "")
    assert Settings().url == "http://127.0.0.1:8888"
    assert Settings().toolsets == {"core"}


def test_toolsets_are_separated_by_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROWSE_TOOLSETS", "core, media,")
    assert Settings().toolsets == {"core", "media"}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("BROWSE_URL", "127.0.0.1:8888"),
        ("BROWSE_SESSION", "no such name"),
        ("BROWSE_CLIENT_ID", "-x"),
        ("PORT", "many"),
        ("LOG_LEVEL", "loud"),
    ],
)
def test_what_cannot_be_is_refused(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ValidationError):
        Settings()


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://127.0.0.1:1", True),
        ("http://localhost", True),
        ("http://[::1]:1", True),
        ("http://10.0.0.1", False),
        ("https://browse.example", False),
    ],
)
def test_only_loopback_is_local(url: str, *, local: bool) -> None:
    assert is_local(Settings(url=url, plain_http=True).url) is local


def test_every_setting_is_described() -> None:
    assert [name for name, field in Settings.model_fields.items() if not field.description] == []


def test_the_instructions_fit_and_name_what_no_schema_shows() -> None:
    assert len(INSTRUCTIONS) <= 1500
    told = {"goto", "open_page", "snapshot", "PAGE_OWNED", "get_call", "cancel_call"}
    accepted = {"pageId", "timeout", "sessionId", "ifRevision", "expectUrl", "reply", "params"}
    assert {word for word in told | accepted if word not in INSTRUCTIONS} == set()
