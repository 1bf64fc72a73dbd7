"""What the tests of actions share."""

from collections.abc import AsyncIterator

import pytest

from tests.actions.tab import Tab
from tests.support.service import Agent, RunningService, tidy, visiting
from tests.support.site import Site


@pytest.fixture
def tab(agent: Agent, site: Site) -> Tab:
    return Tab(agent, site)


@pytest.fixture(scope="module")
async def resident(service: RunningService) -> AsyncIterator[Agent]:
    async with visiting(service) as agent:
        yield agent


@pytest.fixture
async def lodger(resident: Agent) -> AsyncIterator[Agent]:
    """The same agent for all tests of a module, who keeps its window: for tests that ask for a document of their own
    and for nothing else of the page. A window costs more than all that most of them do in it."""
    yield resident
    await tidy(resident, keep="tab")
