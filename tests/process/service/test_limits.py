"""Tests the limits of one account: what a client may ask for, what all may ask of a site, and the pauses that sites ask
for."""

import pytest

from tests.front.service.test_limits import clock, refused, throttle
from tests.support.clock import Clock
from tests.support.sharing import StartService
from tests.support.site import Site

__all__ = ["clock"]

pytestmark = pytest.mark.anyio


async def test_a_fetch_that_gets_429_pauses_and_what_a_page_loads_by_itself_does_not(
    start: StartService, clock: Clock, site: Site
) -> None:
    service = await start(clock=clock)
    throttle(site, "/busy", "60")
    own = "<script>fetch('/busy').then(r => { document.title = r.status; })</script><img src=/busy>"
    async with service.agent("Claude") as agent:
        await agent.call("goto", pageId="a", url=site.page("/", own + "<iframe src=/busy></iframe>"))
        await agent.call("evaluate_script", pageId="a", expression="fetch('/busy').then(r => r.status)")
        await agent.call("goto", pageId="a", url=site.page("/plain", "hello"))
        error = await agent.error("fetch", pageId="a", url="/busy")
        assert (error["code"], error["details"]["context"]["status"]) == ("NETWORK_ERROR", 429)
        await refused(agent, "goto", pageId="a", url=site.url("/"))
