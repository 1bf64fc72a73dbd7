"""What `make quick` leaves out is what starts something of its own, wherever that is done."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.gateways import service_process
from tests.support.service import Agent, RunningService, running_service, settings_for
from tests.support.starting import MARK, starts


class Started:
    def run(self) -> None:
        subprocess.run([sys.executable], check=True)


async def by_itself(tmp_path: Path) -> None:
    async with running_service(settings_for(tmp_path)):
        pass


async def by_a_helper(tmp_path: Path) -> None:
    await by_itself(tmp_path)


async def in_a_process(tmp_path: Path) -> None:
    async with service_process(tmp_path):
        pass


def by_a_class() -> None:
    Started().run()


def in_a_part_of_it() -> None:
    def inner() -> None:
        subprocess.Popen([sys.executable])

    inner()


async def not_at_all(agent: Agent, service: RunningService) -> None:
    """What is only named as a type is not started."""
    assert service.settings.port
    await agent.call("goto", url="about:blank")


@pytest.mark.parametrize("test", [by_itself, by_a_helper, in_a_process, by_a_class, in_a_part_of_it])
def test_what_starts_something_is_found(test: object) -> None:
    assert starts(test)


def test_what_uses_what_all_share_starts_nothing() -> None:
    assert not starts(not_at_all)


@pytest.fixture
def started() -> Started:
    return Started()


def test_a_fixture_that_starts_something_counts(request: pytest.FixtureRequest, started: Started) -> None:
    assert isinstance(started, Started)
    assert request.node.get_closest_marker(MARK)
