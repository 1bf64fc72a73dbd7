"""Tests that a page comes back as it was from what its host told before it was lost."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import replace

import pytest

from browser_service.app import browser_host
from browser_service.host.calls import Handler
from browser_service.host.host import LocalHost
from browser_service.host.seam import HostLimits
from browser_service.host.sessions.options import LaunchOptions
from browser_service.security.urls import UrlPolicy
from browser_service.store.artifacts import Artifacts
from tests.support.service import RunningService, running_service, settings_for, visiting
from tests.support.site import Site

pytestmark = pytest.mark.anyio


def elsewhere(
    options: LaunchOptions,
    handlers: Mapping[str, Handler],
    artifacts: Artifacts,
    policy: UrlPolicy,
    limits: HostLimits,
) -> LocalHost:
    return browser_host(options, handlers, artifacts, policy, replace(limits, elsewhere=True))


@pytest.fixture(scope="module")
async def _service(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RunningService]:
    async with running_service(settings_for(tmp_path_factory.mktemp("lost")), make_host=elsewhere) as running:
        yield running


@pytest.fixture
async def service(_service: RunningService) -> AsyncIterator[RunningService]:
    yield _service
    async with visiting(_service):
        pass


async def test_storage_and_history_of_a_page_come_back_without_its_host(service: RunningService, site: Site) -> None:
    seen = "[sessionStorage.note, localStorage.note, document.cookie, history.length, location.pathname]"
    async with service.agent() as agent:
        await agent.call("create_session", sessionId="mine")
        await agent.call("goto", pageId="p", sessionId="mine", url=site.page("/one", "one"))
        note = "sessionStorage.note = 'typed'; localStorage.note = 'kept'; document.cookie = 'login=yes'"
        await agent.call("evaluate_script", pageId="p", expression=note)
        await agent.call("goto", pageId="p", url=site.page("/two", "two"))
        before = (await agent.call("evaluate_script", pageId="p", expression=seen))["value"]
        await service.session("mine").logins.save(with_storage=True)
        await service.host.keeping.tell()
        await service.parts.feeds.drain()
        spec = await service.parts.lifecycle.spec_again("mine")
        await service.host.close("mine")
        await service.host.open(spec.model_copy(update={"lost_by": "its host is gone"}))
        await service.parts.feeds.drain()
        reply = (await agent.reply("evaluate_script", pageId="p", expression=seen)).json()
        assert reply["result"]["value"] == before == ["typed", "kept", "login=yes", 3, "/two"]
        assert "form contents and scripts' memory are lost." in reply["notices"][0]["text"]


async def test_a_page_whose_host_gives_it_up_says_what_was_lost(service: RunningService, site: Site) -> None:
    async with service.agent() as agent:
        await agent.call("create_session", sessionId="given-up")
        await agent.call("goto", pageId="q", sessionId="given-up", url=site.page("/form", "<input id=i>"))
        await agent.call("fill", pageId="q", selector="#i", value="typed")
        spec = await service.host.close("given-up")
        assert spec is not None
        await service.host.settle("given-up")
        await service.host.open(spec.model_copy(update={"lost_by": "its host gave it up"}))
        await service.parts.feeds.drain()
        reply = (await agent.reply("evaluate_script", pageId="q", expression="i.value")).json()
        assert reply["result"]["value"] == ""
        told = reply["notices"][0]["text"]
        assert "because its host gave it up; form contents and scripts' memory are lost" in told
