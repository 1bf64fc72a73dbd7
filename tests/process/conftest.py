"""Provides services, processes and browsers for each test alone."""

import os
from collections.abc import Iterator
from contextlib import nullcontext

import pytest

from tests.support import forked
from tests.support.sharing import start

__all__ = ["start"]


@pytest.fixture(scope="module", autouse=True)
def forked_programs(request: pytest.FixtureRequest) -> Iterator[None]:
    is_whole = os.environ.get("BROWSE_TESTS_BROWSER") == "whole" or request.node.get_closest_marker("own_start")
    with nullcontext() if is_whole else forked.forking():
        yield
