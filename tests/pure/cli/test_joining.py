"""Tests what `host` is told of the service to join, and how it knows itself again."""

import json
import os
import time
from pathlib import Path

import pytest

from browse_together.client.credentials import mint, mint_host
from browse_together.contract.wire import INSTANCE_FILE
from browser_service.joining import (
    CannotJoin,
    Join,
    address,
    check_platform,
    host_id,
    host_state,
    note_state,
    read_token,
)

SECRET = "a secret of forty-eight characters, more or less"


@pytest.mark.parametrize(
    ("typed", "origin"),
    [
        ("https://server:8888", "https://server:8888"),
        ("https://server/", "https://server"),
        ("HTTPS://Server:8888", "https://server:8888"),
        ("http://127.0.0.1:8888", "http://127.0.0.1:8888"),
        ("http://localhost:8888/", "http://localhost:8888"),
        ("https://[2001:db8::1]:8888", "https://[2001:db8::1]:8888"),
    ],
)
def test_a_service_is_joined_at_its_origin(typed: str, origin: str) -> None:
    assert address(typed, plain_http=False) == origin


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("server:8888", "does not begin with https://. Write https://server:8888."),
        ("server", "Write https://server."),
        ("ftp://server", "Write https://server."),
        ("https://server:8888/api", "has a path. Give the service's address alone: https://server:8888."),
        ("https://server:8888?a=b", "has a path."),
        ("https://user:pass@server", "--join has a name or password before the host."),
        ("user:pass@server", "--join has a name or password before the host."),
        ("https://server:99999", "Port out of range"),
        ("https://[::1", "Invalid IPv6 URL"),
        ("https://", "--join names no host."),
        ("http://server:8888", "Write https://, or give --plain-http where nobody else is on the network."),
        ("http://10.0.0.7:8888", "give --plain-http"),
    ],
)
def test_what_is_no_address_to_join_is_refused_in_a_line_that_says_what_to_write(typed: str, told: str) -> None:
    with pytest.raises(CannotJoin) as refused:
        address(typed, plain_http=False)
    line = str(refused.value)
    assert line.startswith("--join ")
    assert told in line
    assert "\n" not in line
    assert "pass@" not in line


def test_plain_http_to_another_machine_is_said_to_be_meant() -> None:
    assert address("http://server:8888", plain_http=True) == "http://server:8888"


def test_a_file_without_a_token_of_hosts_is_refused_before_anything_is_sent(tmp_path: Path) -> None:
    file = tmp_path / "host.token"
    for text, told in (
        ("", "is empty"),
        ("nonsense", "has no token"),
        (mint(SECRET, "agent"), "has a token for callers"),
        (mint_host(SECRET, "rack", "rack", -1), "has expired"),
    ):
        file.write_text(text + "\n", encoding="utf-8")
        with pytest.raises(CannotJoin, match=told) as refused:
            read_token(file)
        assert "browse-together token host POOL > FILE" in str(refused.value)
    with pytest.raises(CannotJoin, match="cannot be read: No such file"):
        read_token(tmp_path / "other")
    token = mint_host(SECRET, "rack", "rack", 60)
    file.write_text(f"{token}\n", encoding="utf-8")
    assert read_token(file) == token


def test_a_data_directory_keeps_the_id_of_its_host(tmp_path: Path) -> None:
    first = host_id(tmp_path)
    assert host_id(tmp_path) == first
    (file,) = tmp_path.iterdir()
    file.write_text("", encoding="utf-8")  # as a machine that lost power may leave it
    assert host_id(tmp_path) not in {first, ""}


def test_a_check_tells_a_host_that_is_linked_from_one_that_dials_and_one_that_hangs(tmp_path: Path) -> None:
    join = Join("https://server:8888", tmp_path / "host.token")
    assert host_state(tmp_path, must_be_linked=False) == (False, f"No host runs (data directory {tmp_path}).")
    note_state(tmp_path, join, "", linked=False)
    assert host_state(tmp_path, must_be_linked=False)[0]
    assert host_state(tmp_path, must_be_linked=True)[0] is False
    note_state(tmp_path, join, "rack-k3q9", linked=True)
    told = f"rack-k3q9 (process {os.getpid()}) is linked to https://server:8888."
    assert host_state(tmp_path, must_be_linked=True) == (True, told)
    os.utime(tmp_path / INSTANCE_FILE, (0, time.time() - 60))
    is_well, words = host_state(tmp_path, must_be_linked=False)
    assert (is_well, "has not moved for 60 s" in words) == (False, True)
    (tmp_path / INSTANCE_FILE).write_text(json.dumps({"pid": 1, "url": "http://127.0.0.1:1"}), encoding="utf-8")
    assert host_state(tmp_path, must_be_linked=False)[0] is False


def test_a_host_runs_on_linux_and_macos() -> None:
    for platform in ("linux", "darwin"):
        check_platform(platform)
    with pytest.raises(CannotJoin, match="needs Linux or macOS"):
        check_platform("win32")
