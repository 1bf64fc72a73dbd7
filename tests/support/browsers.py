"""Which browser the services of tests start, if any.

It is the one that everybody's start. With `TESTS_BROWSER=shell`, for results soon, it is Debian's headless
shell, where that is installed: it has the engine of the whole browser and nothing of what is around it, so that a
window costs a fifth of the processor's time, a start an eighth (measured on Chromium 156). `TESTS_BROWSER` may also be
the path of another Chromium. Modules with the mark
`whole_browser` start the whole one nevertheless: those that follow a call from end to end, or are about logins,
profiles and crashes. `TESTS_BROWSER=whole` has those tests start it, too, that need none.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from browser_service.app import browser_host
from browser_service.services import MakeHost
from tests.support.fake_host import FakeHost

_DEBIANS: Final = Path("/usr/lib/chromium/chromium-headless-shell")
"""The browser itself and not the script that starts it, because a test that kills it must kill the browser."""


def _wanted() -> Path | None:
    wanted = os.environ.get("TESTS_BROWSER", "")
    browser = _DEBIANS if wanted == "shell" else Path(wanted)
    return browser if browser.is_absolute() and browser.exists() else None


_chosen = _wanted()
_make_host: MakeHost = browser_host


def executable() -> Path | None:
    """Return the browser's path; None means that the service finds one as it does for everybody."""
    return _chosen


def make_host() -> MakeHost:
    """Tell what makes the back half of a service in this process."""
    return _make_host


def setting() -> dict[str, str]:
    """Return the setting for a service that is a process of its own."""
    return {"BROWSE_EXECUTABLE_PATH": str(_chosen)} if _chosen else {}


@contextmanager
def whole() -> Iterator[None]:
    global _chosen  # noqa: PLW0603 - tests of one process run one after another
    _chosen, before = None, _chosen
    try:
        yield
    finally:
        _chosen = before


@contextmanager
def none() -> Iterator[None]:
    """Give services in this process no browser meanwhile, unless all tests must have a whole one."""
    global _make_host  # noqa: PLW0603 - as above
    _make_host, before = FakeHost if os.environ.get("TESTS_BROWSER") != "whole" else browser_host, _make_host
    try:
        yield
    finally:
        _make_host = before
