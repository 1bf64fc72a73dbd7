"""On whose behalf code runs. A process may serve many chats, each started in another environment and folder."""

import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from pathlib import Path
from typing import NamedTuple


class Caller(NamedTuple):
    """The program that a chat's host started: its environment, its folder, and its stderr."""

    environment: Mapping[str, str]
    folder: Path
    say: Callable[[str], None]
    """Write a text to its stderr."""


_current = ContextVar[Caller | None]("caller", default=None)


@contextlib.contextmanager
def on_behalf_of(caller: Caller) -> Iterator[None]:
    """Run the block, and the tasks that it starts, for another program than this process."""
    before = _current.set(caller)
    try:
        yield
    finally:
        _current.reset(before)


def current() -> Caller | None:
    """Return the other program; None in a process that runs for itself."""
    return _current.get()


def environ() -> Mapping[str, str]:
    """Return the environment of who is served: this process's own, unless it runs for another."""
    caller = _current.get()
    return os.environ if caller is None else caller.environment


def absolute(path: Path) -> Path:
    """Return a path that was given from the folder of who is served."""
    caller, expanded = _current.get(), path.expanduser()
    return expanded.absolute() if caller is None else caller.folder / expanded


def say(text: str) -> None:
    """Write a text to the stderr of who is served."""
    caller = _current.get()
    if caller is None:
        sys.stderr.write(text)
    else:
        caller.say(text)
