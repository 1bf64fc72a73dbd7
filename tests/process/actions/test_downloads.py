"""Tests downloads: told by the act that began them, listed, fetched by their owner alone, and never larger than
allowed."""

import pytest

from tests.page.actions.test_downloads import LINKS, attached
from tests.support.service import RunningService, visiting
from tests.support.site import Site

pytestmark = pytest.mark.anyio


async def test_a_download_over_the_limit_is_stopped_and_says_so(limited: RunningService, site: Site) -> None:
    async with visiting(limited) as agent:
        site.page("/big.bin", attached("big.bin", b"x" * 1_000_001))
        await agent.call("goto", pageId="p", url=site.page("/links", LINKS))
        result = await agent.call("click", selector="text=Big")
        (known,) = result["downloads"]
        assert known["state"] == "failed"
        assert known["reason"] == "it has 1,000,001 bytes, and 1 MB are the most"
        assert "artifactId" not in known
        assert f"download 'big.bin' failed: {known['reason']}" in result["observed"]


async def test_a_download_that_breaks_off_says_why(limited: RunningService, site: Site) -> None:
    async with visiting(limited) as agent:
        site.page("/broken.bin", attached("broken.bin", headers={"content-length": "99"}))
        await agent.call("goto", pageId="q", url=site.page("/links", LINKS))
        (known,) = (await agent.call("click", selector="text=Broken"))["downloads"]
        assert (known["state"], known["reason"]) != ("finished", None)
