"""What the tests of actions share."""

import pytest

from tests.actions.tab import Tab
from tests.support.service import Agent
from tests.support.site import Site


@pytest.fixture
def tab(agent: Agent, site: Site) -> Tab:
    return Tab(agent, site)
