"""Tests that nothing is reached from elsewhere, and nothing secret handed on, unless somebody says so."""

import os
from pathlib import Path

import pytest
from pydantic import ValidationError

from browse_together.client import environment
from browse_together.contract.requests import ambiguity
from browser_service.settings import Settings

CERTIFICATE = {"tls_cert": Path("cert.pem"), "tls_key": Path("key.pem")}


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "browser.example", ""])
def test_a_service_listens_beyond_loopback_only_when_told_and_encrypted(host: str) -> None:
    for said in ({}, {"allow_remote": True}, CERTIFICATE, {"behind_proxy": True}):
        with pytest.raises(ValidationError) as refused:
            Settings.alone({"host": host, **said})
        (error,) = refused.value.errors()
        assert f"--host {host} is reached from elsewhere; give " in error["msg"]
        assert ("--allow-remote" in error["msg"]) is ("allow_remote" not in said)
        assert "--tls-cert and --tls-key, or --behind-proxy" in error["msg"]
    assert Settings.alone({"host": host, "allow_remote": True, **CERTIFICATE}).scheme == "https"
    assert Settings.alone({"host": host, "allow_remote": True, "behind_proxy": True}).scheme == "http"


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "::1", "localhost"])
def test_loopback_needs_no_settings(host: str) -> None:
    assert Settings.alone({"host": host}).host == host


@pytest.mark.parametrize(
    ("said", "address"),
    [
        ({}, ""),
        ({"host": "0.0.0.0", "allow_remote": True, **CERTIFICATE}, ""),
        ({"host": "192.168.1.5", "allow_remote": True, **CERTIFICATE}, "https://192.168.1.5:8888"),
        ({"host": "fd00::2", "allow_remote": True, **CERTIFICATE}, "https://[fd00::2]:8888"),
        ({"public_url": "https://Browse.Example.com:443/"}, "https://browse.example.com"),
        ({"public_url": "http://10.0.0.5:8080", "behind_proxy": True}, "http://10.0.0.5:8080"),
    ],
)
def test_links_for_people_have_the_address_that_is_stated_or_listened_on(said: dict[str, object], address: str) -> None:
    assert Settings.alone(said).people_url(8888) == address


def test_contradictory_settings_are_refused() -> None:
    for wrong, says in (
        ({"tls_cert": Path("cert.pem")}, "--tls-cert and --tls-key belong together"),
        ({"metrics_port": "65536"}, "65536 is no port"),
        (
            {"public_url": "http://browse.example.com"},
            "is reached from elsewhere, where the wall is shown over TLS alone",
        ),
        ({"public_url": "https://browse.example.com/wall"}, "Write scheme, host .+'https://browse.example.com'"),
        ({"public_url": "browse.example.com:8888"}, "is no address of a service"),
        ({"public_url": "https://me:key@browse.example.com"}, "is no address of a service"),
        ({"public_url": "https://browse.example.com:70000"}, "is no address of a service"),
        ({"public_url": "https://browse.example.com:0"}, "is no address of a service"),
        ({"metrics_port": "0.0.0.0:9090"}, "--metrics-port 0.0.0.0:9090 is reached from elsewhere"),
    ):
        with pytest.raises(ValidationError, match=says):
            Settings.alone(wrong)


GIVEN = {
    "PATH": "/bin",
    "HOME": "/home/me",
    "LC_ALL": "C.UTF-8",
    "XDG_RUNTIME_DIR": "/run/user/1",
    "DISPLAY": ":0",
    "BROWSER": "firefox",
    "HTTPS_PROXY": "http://proxy.example:3128",
}
SETTINGS = {"BROWSE_MAX_PAGES": "5", "PORT": "9000", "HEADLESS": "false", "BROWSE_CONFIG": "/home/me/config.toml"}
SECRETS = {
    "BROWSE_TOKEN": "t",
    "AUTH_SECRET": "k",
    "BROWSE_AUTH_SECRET": "k",
    "AWS_SECRET_ACCESS_KEY": "a",
    "GITHUB_TOKEN": "g",
    "GOOGLE_API_KEY": "g",
    "NODE_AUTH_TOKEN": "n",
    "PLAYWRIGHT_SERVICE_ACCESS_TOKEN": "p",
    "http_proxy": "http://me:password@proxy.example:3128",
    "SSH_AUTH_SOCK": "/run/agent",
    "DATABASE_URL": "postgres://me:password@db",
}


def test_a_child_gets_what_it_needs_and_a_service_its_settings_but_nobody_a_secret() -> None:
    whole = {**GIVEN, **SETTINGS, **SECRETS}
    assert environment.needed(whole) == GIVEN
    assert environment.of_service(whole) == {**GIVEN, **SETTINGS}


def test_a_service_is_told_of_a_removed_setting_that_protected_something_and_so_does_not_start() -> None:
    denied = {"BROWSE_DENY_HOSTS": "bank.example"}
    assert environment.of_service({**GIVEN, **denied}) == {**GIVEN, **denied}


def test_the_environment_is_restored_after_the_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "g")
    monkeypatch.setattr("os.environ", {**GIVEN, **SECRETS})
    with environment.needed_alone():
        assert {*os.environ} == {*GIVEN}
    assert {*os.environ} == {*GIVEN, *SECRETS}


HEADERS = [(b"host", b"127.0.0.1:8888"), (b"accept", b"a"), (b"accept", b"b")]


def test_a_request_says_one_thing() -> None:
    assert ambiguity(HEADERS, "/health") == ambiguity(HEADERS, "*") == ""
    for headers, target in (
        ([*HEADERS, HEADERS[0]], "/"),
        (HEADERS, "http://evil.example/"),
        (HEADERS, "http://127.0.0.1:8888/x"),
        (HEADERS, "%2Fx"),
        (HEADERS, ""),
        ([(b"x", b"")] * 101, "/"),
    ):
        assert ambiguity(headers, target), target
