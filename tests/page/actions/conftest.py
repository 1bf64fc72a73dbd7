"""Provides what the tests of actions share."""

from collections.abc import AsyncIterator, Generator

import pytest

from tests.support.service import Agent, RunningService, tidy, visiting
from tests.support.site import Site
from tests.support.tab import Tab


@pytest.fixture
def tab(agent: Agent, site: Site) -> Tab:
    return Tab(agent, site)


@pytest.fixture(scope="module")
async def resident(service: RunningService) -> AsyncIterator[Agent]:
    """Return the same agent for all tests of a module."""
    async with visiting(service) as agent:
        yield agent


FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    item.stash[FAILED] = item.stash.get(FAILED, False) or report.failed
    return report


@pytest.fixture
async def lodger(request: pytest.FixtureRequest, service: RunningService, resident: Agent) -> AsyncIterator[Agent]:
    """Return an agent that keeps its window, because a new one costs more than all that most tests do in it; but what a
    test that failed had done to it is not for the next ones."""
    yield resident
    await tidy(service, resident, keep="" if request.node.stash[FAILED] else "tab")


@pytest.fixture
async def visitor(service: RunningService) -> AsyncIterator[Agent]:
    async with visiting(service) as agent:
        yield agent


@pytest.fixture
async def newcomer(service: RunningService, visitor: Agent) -> Agent:
    """A visitor who finds no page, where others of its module keep theirs."""
    await tidy(service, visitor)
    return visitor


@pytest.fixture
def agent(request: pytest.FixtureRequest) -> Agent:
    fixtures = {"own_window": "newcomer", "one_window": "lodger"}
    chosen = next((name for mark, name in fixtures.items() if request.node.get_closest_marker(mark)), "visitor")
    found: Agent = request.getfixturevalue(chosen)
    return found
