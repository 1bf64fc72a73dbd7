"""Fixtures that all tests share: one service with one browser for the whole run, fresh agents for each test."""

import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest
from hypothesis import settings

from tests.support.service import Agent, RunningService, running_service, settings_for
from tests.support.site import Site

if os.environ.get("CI"):
    settings.register_profile("ci", derandomize=True)  # a change is judged by what it changed; people search on
    settings.load_profile("ci")


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
async def service(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RunningService]:
    """Shared by all tests that leave nothing behind but pages of their own, which are closed for them."""
    async with running_service(settings_for(tmp_path_factory.mktemp("data"))) as running:
        yield running


@pytest.fixture(scope="session")
def shared_site() -> Iterator[Site]:
    with Site() as site:
        yield site


@pytest.fixture
def site(shared_site: Site) -> Site:
    shared_site.reset()
    return shared_site


@asynccontextmanager
async def _visiting(service: RunningService) -> AsyncIterator[Agent]:
    """An agent that leaves nothing behind: no session of its own, and no page of whoever else was in its test."""
    async with service.agent() as agent:
        yield agent
        for session in (await agent.call("list_sessions"))["sessions"]:
            if session["owner"] and session["owner"]["you"]:
                await agent.call("close_session", sessionId=session["sessionId"])
        for page in [page for part in (await agent.call("list_pages")).values() for page in part]:
            await agent.reply("claim_page", pageId=page["pageId"], reason="The test is over.")
            await agent.reply("close_page", pageId=page["pageId"], reason="The test is over.")


@pytest.fixture
async def agent(service: RunningService) -> AsyncIterator[Agent]:
    async with _visiting(service) as agent:
        yield agent


@pytest.fixture
async def other(service: RunningService) -> AsyncIterator[Agent]:
    """A second client of the same service."""
    async with _visiting(service) as agent:
        yield agent
