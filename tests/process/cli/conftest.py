"""Provides one detached service for all tests that only use it. Tests that end a service start their own."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.terminal import Terminal

VIEWPORT = (640, 400)


@pytest.fixture(scope="session", autouse=True)
def _interruptible() -> None:
    """Make SIGINT work again in commands, because a shell lets its background processes ignore it, and commands inherit
    that."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    """Return a terminal with an empty data directory."""
    fresh = Terminal(tmp_path / "data")
    yield fresh
    fresh.end()


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    """Return a terminal where a service runs, with a viewport that came by flags, a port for its figures, a folder
    of uploads that is named from where it was started, and no screen."""
    shared = Terminal(tmp_path_factory.mktemp("cli") / "data")
    width, height = map(str, VIEWPORT)
    try:
        figures = ("--metrics-port", "0")
        no_screen = {"DISPLAY": "", "WAYLAND_DISPLAY": ""}
        flags = ("--viewport", f"{width}x{height}", *figures, "--upload-roots", "uploads")
        shared.succeed("up", "--detach", *flags, **no_screen)
        yield shared
    finally:
        shared.end()
