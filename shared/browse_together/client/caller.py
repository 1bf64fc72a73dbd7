"""The program on whose behalf code runs. A process may serve many chats, each started in another environment and
folder."""

import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from pathlib import Path
from typing import NamedTuple


class Caller(NamedTuple):
    """The program that a chat's host started: its environment, its folder, its stderr, and when it was started."""

    environment: Mapping[str, str]
    folder: Path
    say: Callable[[str], None]
    since: float
    """In seconds since 1970."""


_current = ContextVar[Caller | None]("caller", default=None)


@contextlib.contextmanager
def on_behalf_of(caller: Caller) -> Iterator[None]:
    """Run the block, and tasks started in it, on behalf of another program than this process."""
    before = _current.set(caller)
    try:
        yield
    finally:
        _current.reset(before)


def current() -> Caller | None:
    """Return the program on whose behalf code runs; None if that is this process."""
    return _current.get()


def environ() -> Mapping[str, str]:
    """Return the environment of that program, or of this process."""
    caller = _current.get()
    return os.environ if caller is None else caller.environment


def absolute(path: Path) -> Path:
    """Make a path absolute, relative to that program's folder."""
    caller, expanded = _current.get(), path.expanduser()
    return expanded.absolute() if caller is None else caller.folder / expanded


def folder() -> Path | None:
    """Return that program's folder; None if it is gone."""
    caller = _current.get()
    try:
        found = Path.cwd() if caller is None else caller.folder
    except FileNotFoundError:
        return None
    return found if found.is_dir() else None


def folder_name() -> str:
    """Return the name of that program's folder; empty where nobody chose it: a home, or the top of a drive."""
    found = folder()
    return "" if found is None or found == Path(environ().get("HOME") or Path.home()) else found.name


def say(text: str) -> None:
    """Write a text to the stderr of that program, or of this process."""
    caller = _current.get()
    if caller is None:
        sys.stderr.write(text)
    else:
        caller.say(text)
