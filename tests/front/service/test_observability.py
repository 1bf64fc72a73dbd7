"""Tests what an operator sees: figures, and where an unexpected error came from."""

import pytest
import structlog

from browser_service.host.call_run import Handler
from browser_service.host.page.handle import BrowserPage
from browser_service.observability.logging import configure
from shared import wire
from shared.actions.base import Action
from shared.errors import BrowseError
from shared.model import Json
from tests.support.fake_host import FakeHost
from tests.support.service import Agent
from tests.support.sharing import StartService
from tests.support.site import Site

pytestmark = pytest.mark.anyio


async def test_metrics_count_calls_by_action_and_outcome(start: StartService, site: Site) -> None:
    service = await start()
    async with service.agent() as agent:
        await agent.call("goto", pageId="p", url=site.page("/", "x"))
        await agent.error("click", selector="#none", timeout=50)
        reply = await agent.http.get(wire.METRICS)
    assert reply.headers["content-type"].startswith("text/plain")
    for line in (
        'browse_calls_total{action="goto",outcome="ok"} 1.0',
        'browse_calls_total{action="click",outcome="ELEMENT_NOT_FOUND"} 1.0',
        'browse_call_seconds_count{action="goto"} 1.0',
        "browse_pages 1.0",
        "browse_clients 0.0",
    ):
        assert line in reply.text.splitlines()


async def test_metrics_are_for_clients_alone(agent: Agent) -> None:
    assert (await agent.http.get(wire.METRICS, headers={"Authorization": "Bearer none"})).status_code == 401


@pytest.mark.parametrize("level", ["debug", "info"])
async def test_an_error_shows_its_stack_when_debugging_only(
    start: StartService, site: Site, monkeypatch: pytest.MonkeyPatch, level: str
) -> None:
    async def breaks(_: BrowserPage, __: Action) -> Json:
        raise ZeroDivisionError

    broken: dict[str, Handler] = {"get_page_title": breaks}

    service = await start(make_host=lambda made, handlers, *rest: FakeHost(made, {**handlers, **broken}, *rest))
    before = structlog.get_config()
    monkeypatch.setattr(BrowseError, "debugging", False)
    configure(level, for_people=False)
    structlog.configure(**before)
    async with service.agent() as agent:
        await agent.call("goto", pageId="p", url=site.page("/", "x"))
        failed = await agent.error("get_page_title")
        missed = await agent.error("click", selector="#none", timeout=50)
        unknown = await agent.error("get_page_title", pageId="nowhere")
    assert (failed["code"], failed["status"]) == ("INTERNAL_ERROR", 500)
    stacks = [error["details"].get("stack", "") for error in (failed, missed, unknown)]
    said = ("ZeroDivisionError", "ElementNotFound: Element matching selector '#none'", "PageNotFound: ")
    assert [words in stack for words, stack in zip(said, stacks, strict=True)] == [level == "debug"] * 3
    assert any(stacks) is (level == "debug")
