"""Tests elements and addresses that cannot be had: each error says why and what to do, and the page stays usable."""

import pytest

from tests.support.service import RunningService, visiting
from tests.support.site import Answer, Site

pytestmark = [pytest.mark.anyio, pytest.mark.one_window]


async def test_a_forbidden_host_is_not_even_asked_by_redirect_or_frame(limited: RunningService, site: Site) -> None:
    site.page("/forbidden", "secret")
    forbidden = site.url("/forbidden", "localhost")
    async with visiting(limited) as agent:
        hop = site.page("/hop", Answer(status=302, headers={"location": forbidden}))
        assert (await agent.error("goto", pageId="p", url=forbidden))["code"] == "FORBIDDEN"
        assert (await agent.error("goto", pageId="p", url=hop))["code"] == "NAVIGATION_FAILED"
        await agent.call("goto", pageId="p", url=site.page("/frame", f"<iframe src={forbidden}></iframe>"))
        await agent.call("evaluate_script", expression=f"location.href = {forbidden!r}")
        await agent.call("goto", pageId="p", url=site.page("/after", "after"))
    assert (site.counts["/forbidden"], site.counts["/hop"], site.counts["/frame"]) == (0, 1, 1)
