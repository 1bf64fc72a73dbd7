"""What an operator sees: figures, and where an unexpected error came from."""

import contextlib
from collections.abc import Iterator

import pytest
import structlog

from browser_service.browser.page import BrowserPage
from shared import wire
from shared.actions.base import Action
from shared.calls import Json
from tests.service.conftest import StartService
from tests.support.service import Agent
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


@contextlib.contextmanager
def _own_logging() -> Iterator[None]:
    before = structlog.get_config()
    with structlog.testing.capture_logs():
        yield
    structlog.configure(**before)


@pytest.mark.parametrize("level", ["debug", "info"])
async def test_an_unexpected_error_shows_its_stack_when_debugging_only(
    start: StartService, site: Site, monkeypatch: pytest.MonkeyPatch, level: str
) -> None:
    async def breaks(_: BrowserPage, __: Action) -> Json:
        raise ZeroDivisionError

    with _own_logging():
        service = await start()
        monkeypatch.setitem(service.parts.host._handlers, "get_page_title", breaks)  # type: ignore[attr-defined] # in this process
        structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(level))
        async with service.agent() as agent:
            await agent.call("goto", pageId="p", url=site.page("/", "x"))
            error = await agent.error("get_page_title")
    assert (error["code"], error["status"]) == ("INTERNAL_ERROR", 500)
    assert ("ZeroDivisionError" in error["details"].get("stack", "")) is (level == "debug")
