"""Provides one service for all programs that use it, and browsers of this process."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from browse_together import Browser
from tests.support.terminal import Terminal

MakeBrowser = Callable[[str], Browser]


@pytest.fixture(scope="package")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    """Return a terminal where a service runs."""
    shared = Terminal(tmp_path_factory.mktemp("python") / "data")
    try:
        shared.succeed("up", "--detach")
        yield shared
    finally:
        shared.end()


@pytest.fixture
def as_client(running: Terminal) -> Iterator[MakeBrowser]:
    """Makes a client of this process with a name of its own."""
    with ExitStack() as stack:

        def make(name: str) -> Browser:
            return stack.enter_context(Browser(running.url, data_dir=running.data_dir, client_id=name, label=name))

        yield make


@pytest.fixture
def program(running: Terminal, tmp_path: Path) -> dict[str, str]:
    """Return the environment of a program that uses the service by its settings."""
    return running.environment(BROWSE_URL=running.url, PORT="1", HOME=str(tmp_path))
