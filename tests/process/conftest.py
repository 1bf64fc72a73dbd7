"""Provides services, processes and browsers for each test alone."""

import os
from collections.abc import Iterator

import pytest

from tests.support import forked
from tests.support.persons import _at_windows, _attached, _persons, _windows, at_windows, attached, persons, windows
from tests.support.persons_chrome import _chrome, chrome
from tests.support.sharing import start

__all__ = ["_at_windows", "_attached", "_chrome", "_persons", "_windows", "at_windows", "attached", "chrome"]
__all__ += ["persons", "start", "windows"]


def _are_forked(request: pytest.FixtureRequest) -> bool:
    return os.environ.get("TESTS_BROWSER") != "whole" and not request.node.get_closest_marker("own_start")


@pytest.fixture(scope="module", autouse=True)
def programs(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fork what a module starts for all of its tests, unless it has the mark `own_start`."""
    with forked.programs(are_forked=_are_forked(request)):
        yield


@pytest.fixture(autouse=True)
def own_programs(request: pytest.FixtureRequest, programs: None) -> Iterator[None]:  # noqa: ARG001 - which go before
    with forked.programs(are_forked=_are_forked(request)):
        yield
