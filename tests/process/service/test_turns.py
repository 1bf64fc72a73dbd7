"""Tests pages whose renderer does not respond."""

import asyncio

import psutil
import pytest

from browser_service.host.pages import recovery
from tests.process.service.conftest import lasting_service as service
from tests.support import processes
from tests.support.json import AnyJson
from tests.support.service import Agent, RunningService
from tests.support.site import Site
from tests.support.waiting import PATIENCE_S

__all__ = ["service"]

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("cure", [pytest.param("reload_page", marks=pytest.mark.long), "goto"])
async def test_a_page_that_does_not_respond_is_refused_with_a_hint_and_replaced_under_its_id(
    service: RunningService, agent: Agent, site: Site, cure: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recovery, "_HANGS_AFTER_S", 2)
    url = site.page("/", "<button>b</button>")
    before = (await agent.reply("goto", pageId="p", url=url)).json()["page"]
    renderer = await _renderer(service, agent)
    renderer.suspend()
    assert (await agent.error("evaluate_script", pageId="p", expression="1", timeout=300))["code"] == "TIMEOUT"
    playwright_page = service.window("p")
    async with asyncio.timeout(PATIENCE_S):
        error = await agent.error("evaluate_script", pageId="p", expression="1", timeout=60_000)
    assert (error["status"], error["code"]) == (504, "TIMEOUT")
    assert 'reload_page {"pageId": "p"}' in error["hint"]
    arguments: dict[str, AnyJson] = {"url": url} if cure == "goto" else {}
    reply = await agent.reply(cure, pageId="p", **arguments)
    assert reply.status_code == 200, reply.text
    after = reply.json()["page"]
    assert (after["pageId"], after["url"], after["owner"]) == ("p", url, before["owner"])
    assert after["revision"] > before["revision"]
    assert service.window("p") is not playwright_page
    await agent.call("click", pageId="p", selector="button")
    await processes.kill(renderer)  # for which the browser's end would wait


async def _renderer(service: RunningService, agent: Agent) -> psutil.Process:
    """Return the process of the agent's page: the one that works when the page does."""
    renderers = processes.renderers(service.settings.data_dir)
    before = [renderer.cpu_times().user for renderer in renderers]
    await agent.call("evaluate_script", expression="const end = Date.now() + 400; while (Date.now() < end) {}")
    worked = [renderer.cpu_times().user - was for renderer, was in zip(renderers, before, strict=True)]
    return renderers[worked.index(max(worked))]
