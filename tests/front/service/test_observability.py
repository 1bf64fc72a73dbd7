"""Tests what an operator sees: figures, and where an unexpected error came from."""

import asyncio
import re
import socket
from pathlib import Path

import httpx
import pytest
import structlog
from structlog.contextvars import merge_contextvars
from structlog.testing import capture_logs

from browse_together.contract import wire
from browse_together.contract.actions.base import Action
from browse_together.contract.catalogue import ACTIONS
from browse_together.contract.errors import BrowseError, every_error
from browse_together.contract.model import Json
from browser_service.host.calls import Handler
from browser_service.host.handle.page import BrowserPage
from browser_service.http import metrics_port
from browser_service.observability.logging import configure
from tests.support.fake_host import FakeHost
from tests.support.service import Agent, settings_for
from tests.support.sharing import StartService
from tests.support.site import Site
from tests.support.waiting import become

pytestmark = pytest.mark.anyio


async def test_metrics_count_calls_by_action_and_outcome(start: StartService, site: Site) -> None:
    service = await start()
    async with service.agent() as agent:
        await agent.call("goto", pageId="p", url=site.page("/", "x"))
        await agent.error("click", selector="#none", timeout=50)
        reply = await agent.http.get(wire.METRICS)
    assert reply.headers["content-type"].startswith("text/plain")
    for line in (
        'playwright_mcp_calls_total{action="goto",outcome="ok"} 1.0',
        'playwright_mcp_calls_total{action="click",outcome="ELEMENT_NOT_FOUND"} 1.0',
        'playwright_mcp_call_duration_seconds_count{action="goto"} 1.0',
        "playwright_mcp_pages 1.0",
        "playwright_mcp_clients 0.0",
        "playwright_mcp_sessions 1.0",
        "playwright_mcp_browsers 1.0",
        "playwright_mcp_browser_restarts_total 0.0",
        "playwright_mcp_artifacts_total 0.0",
        "playwright_mcp_queue_wait_seconds_count 2.0",
    ):
        assert line in reply.text.splitlines()


async def test_every_figure_has_the_prefix_and_labels_of_a_bounded_set(agent: Agent, site: Site) -> None:
    await agent.call("goto", pageId="mine", url=site.page("/", "x"))
    await agent.error("no_such_action")
    await agent.error("click", pageId="none of these", selector="#none")
    text = (await agent.http.get(wire.METRICS)).text
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert [line for line in lines if not line.startswith("playwright_mcp_")] == []
    assert set(re.findall(r'(\w+)="', text)) == {"action", "outcome", "le"}
    assert set(re.findall(r'action="(.*?)"', text)) <= set(ACTIONS)
    assert set(re.findall(r'outcome="(.*?)"', text)) <= {"ok", *(error.code for error in every_error())}


async def test_files_that_calls_made_are_counted_with_their_bytes(start: StartService, site: Site) -> None:
    service = await start()
    async with service.agent() as agent:
        await agent.call("goto", pageId="p", url=site.page("/", "x"))
        await agent.call("screenshot", pageId="p")
        made = service.parts.artifacts
        text = (await agent.http.get(wire.METRICS)).text
    assert "playwright_mcp_artifacts_total 1.0" in text
    assert f"playwright_mcp_artifact_bytes_total {float(made.made_bytes)}" in text
    assert made.made_bytes > 0


async def test_a_call_that_waited_for_its_turn_is_counted_with_its_wait(start: StartService, site: Site) -> None:
    entered, leave = asyncio.Event(), asyncio.Event()

    async def holds(_: BrowserPage, __: Action) -> Json:
        entered.set()
        await leave.wait()
        return {}

    slow: dict[str, Handler] = {"get_page_title": holds}
    service = await start(make_host=lambda made, handlers, *rest: FakeHost(made, {**handlers, **slow}, *rest))
    async with service.agent() as agent:
        await agent.call("goto", pageId="p", url=site.page("/", "x"))
        first = asyncio.create_task(agent.call("get_page_title"))
        await entered.wait()
        second = asyncio.create_task(agent.call("get_page_title"))
        await become(lambda: len(service.entry("p").queue.line) == 1)
        asyncio.get_running_loop().call_later(0.02, leave.set)
        await asyncio.gather(first, second)
        text = (await agent.http.get(wire.METRICS)).text
    assert "playwright_mcp_queue_wait_seconds_count 3.0" in text
    assert float(text.split("\nplaywright_mcp_queue_wait_seconds_sum ")[1].split("\n")[0]) > 0


async def test_the_metrics_port_serves_metrics_and_nothing_else(start: StartService) -> None:
    service = await start(metrics_port="9090")
    service.app.state.metrics_port = 9090
    transport = httpx.ASGITransport(service.app)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:9090") as prometheus:
        found = await prometheus.get(wire.METRICS)
        assert (found.status_code, found.headers["content-type"].partition(";")[0]) == (200, "text/plain")
        assert "playwright_mcp_pages 0.0" in found.text
        assert (await prometheus.get(wire.TOOLS)).status_code == 404
        assert (await prometheus.post(wire.BROWSER, json={"action": "list_pages"})).status_code == 404
        assert (await prometheus.post(wire.METRICS)).status_code == 405
        foreign = await prometheus.get(wire.METRICS, headers={"Host": "site.example:9090"})
        assert foreign.status_code == 403
    async with service.agent() as agent:
        assert (await agent.http.get(wire.TOOLS)).status_code == 200
        for host in ("127.0.0.1", "localhost"):
            refused = await agent.error("goto", pageId="p", url=f"http://{host}:9090{wire.METRICS}")
            assert refused["code"] == "FORBIDDEN"


def test_a_taken_metrics_port_is_a_warning(tmp_path: Path) -> None:
    def told(**changes: object) -> list[dict[str, object]]:
        settings = settings_for(tmp_path).model_copy(update=changes)
        with capture_logs() as lines:
            assert metrics_port.listen(settings, 1) is None
        return [{name: str(value) for name, value in line.items()} for line in lines]

    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        (line,) = told(metrics_port=str(port))
    assert (line["log_level"], line["address"]) == ("warning", f"127.0.0.1:{port}")
    assert "--metrics-port" in str(line["advice"])
    assert told(metrics_port="1")[0]["reason"] == "it is the service's own"
    assert told() == []


async def test_every_line_of_a_call_has_the_id_that_its_caller_gave_it(start: StartService, site: Site) -> None:
    async def breaks(_: BrowserPage, __: Action) -> Json:
        raise ZeroDivisionError

    broken: dict[str, Handler] = {"get_page_title": breaks}
    service = await start(make_host=lambda made, handlers, *rest: FakeHost(made, {**handlers, **broken}, *rest))
    async with service.agent() as agent:
        with capture_logs(processors=[merge_contextvars]) as lines:
            await agent.call("goto", pageId="p", url=site.page("/", "x"))
            reply = await agent.reply("get_page_title", pageId="p", headers={wire.CALL_ID: "call-7"})
            steps = [{"action": "get_current_url"}, {"action": "get_page_title"}]
            await agent.reply("batch", pageId="p", steps=steps, headers={wire.CALL_ID: "call-8"})
    assert reply.json()["error"]["requestId"] == reply.headers[wire.REQUEST_ID] == "call-7"
    of_page = [line for line in lines if line["request_id"] == "call-7"]
    assert [line["event"] for line in of_page] == ["call failed unexpectedly", "call"]
    assert {line["call_id"] for line in of_page} == {"call-7"}
    of_batch = [line for line in lines if line["request_id"] == "call-8"]
    assert [line["event"] for line in of_batch].count("call") >= 1
    assert all(str(line["call_id"]).startswith("call-8") for line in of_batch)
    (opened,) = (line for line in lines if line.get("action") == "goto")
    assert opened["request_id"] == opened["call_id"]
    assert len(of_page) + len(of_batch) + 1 == len(lines)


async def test_only_clients_get_metrics(agent: Agent) -> None:
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
