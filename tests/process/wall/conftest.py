"""Provides a wall for each module, because it remembers who did and said what, and a person's window at it."""

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser, Page

from tests.support.listening import connected, listening
from tests.support.service import Agent, RunningService, tidy
from tests.support.site import Site
from tests.support.wall import visit

_HTML = (
    "<title>Shop</title><style>body{background:teal}</style><button>Buy</button><script>console.log('hello')</script>"
)


@pytest.fixture(scope="module")
async def running(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RunningService]:
    async with listening(tmp_path_factory.mktemp("wall")) as service:
        yield service


@pytest.fixture
async def claude(running: RunningService, site: Site) -> AsyncIterator[Agent]:
    async with connected(running, "c-1", "Claude") as agent:
        await agent.call("goto", pageId="shop", url=site.page("/shop", _HTML))
        yield agent
        await tidy(running, agent)


@pytest.fixture
async def browser(service: RunningService, agent: Agent) -> Browser:
    """Return the browser of another service, in which a person has windows of their own: none opens its own service."""
    await agent.call("open_page")
    browser = service.context().browser
    assert browser is not None
    return browser


@pytest.fixture
async def window(browser: Browser, running: RunningService, claude: Agent) -> AsyncIterator[Page]:  # noqa: ARG001 - there is a page to see
    window = await visit(browser, running)
    errors: list[str] = []
    window.on("pageerror", lambda error: errors.append(str(error)))
    window.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
    yield window
    await window.context.close()
    assert errors == []
