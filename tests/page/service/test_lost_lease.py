"""Tests that a host whose lease has ended lets no act begin. What it does to its browsers is proven in
tests/process/hosts."""

from dataclasses import replace

import pytest

from tests.support.service import Agent, RunningService
from tests.support.site import Site
from tests.support.tab import Tab

pytestmark = pytest.mark.anyio


async def test_no_act_begins_without_the_lease(
    agent: Agent, site: Site, service: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    tab = Tab(agent, site)
    await tab.show("<button onclick=\"document.title = 'clicked'\">b</button>")
    launcher = service.host.launcher
    with monkeypatch.context() as lost:
        lost.setattr(launcher, "options", replace(launcher.options, may_act=lambda: False))
        refused = await tab.error("click", selector="text=b")
    assert refused["code"] == "SERVICE_UNAVAILABLE"
    assert (await tab.call("evaluate_script", expression="document.title"))["value"] != "clicked"
