"""Tests what Playwright's driver is started with."""

import os
from pathlib import Path

import pytest

from browser_service.host.sessions.driver import economize


def test_a_users_own_options_come_after_ours_and_a_node_of_their_own_has_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NODE_OPTIONS", "--no-warnings")
    monkeypatch.setenv("PLAYWRIGHT_NODEJS_PATH", "/usr/bin/node")
    monkeypatch.delenv("NODE_COMPILE_CACHE", raising=False)
    economize(tmp_path / "one")
    environment = driver_environment()
    assert environment == ("--no-warnings", str(tmp_path / "one"))
    monkeypatch.delenv("PLAYWRIGHT_NODEJS_PATH")
    economize(tmp_path / "two")
    options, cache = driver_environment()
    assert options.startswith("--max-semi-space-size=1 ")
    assert options.endswith(" --no-warnings")
    assert cache == str(tmp_path / "one"), "which the user's environment has by now"


def driver_environment() -> tuple[str, str]:
    return os.environ["NODE_OPTIONS"], os.environ["NODE_COMPILE_CACHE"]
