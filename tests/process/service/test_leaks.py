"""Tests what leaks between clients where one browser is shared without rules, and does not here. A test for each."""

import pytest

from tests.page.service.test_leaks import HTML
from tests.support.sharing import StartService
from tests.support.site import Answer, Site

pytestmark = pytest.mark.anyio


async def test_the_last_one_out_leaves_the_login_behind(start: StartService, site: Site) -> None:
    service = await start(presence_grace_ms=0)
    site.page("/in", Answer(HTML, headers={"set-cookie": "login=ana; Path=/"}))
    async with service.agent() as first:
        await first.call("goto", pageId="own", url=site.url("/in"))
        await service.release(first)
    async with service.agent() as second:
        await second.call("goto", pageId="mine", url=site.url("/in"))
        assert (await second.call("evaluate_script", pageId="mine", expression="document.cookie"))[
            "value"
        ] == "login=ana"
