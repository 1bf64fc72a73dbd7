"""Tests on real pages that what their scripts make crosses the seam as JSON."""

from collections.abc import AsyncIterator

import pytest

from tests.front.service.test_seam import (
    test_results_errors_notices_and_artifacts_cross_as_json,
    test_values_without_json_do_not_break_the_seam,
)
from tests.support.carriers import JsonCarrier
from tests.support.service import RunningService, running_service, settings_for, visiting
from tests.support.site import Site

__all__ = [
    "test_results_errors_notices_and_artifacts_cross_as_json",
    "test_values_without_json_do_not_break_the_seam",
]

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
async def _remote(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RunningService]:
    async with running_service(settings_for(tmp_path_factory.mktemp("seam")), JsonCarrier) as running:
        yield running


@pytest.fixture
async def remote(_remote: RunningService) -> AsyncIterator[RunningService]:
    yield _remote
    async with visiting(_remote):
        pass


async def test_text_that_is_no_unicode_is_mended_wherever_a_page_puts_it(remote: RunningService, site: Site) -> None:
    """Half a surrogate pair is legal in JavaScript, and cannot be sent as UTF-8."""
    async with remote.agent() as agent:
        await agent.call("goto", pageId="p", url=site.page("/", "<button>b</button>"))

        async def evaluated(expression: str) -> dict[str, object]:
            reply = await agent.reply("evaluate_script", pageId="p", expression=expression)
            return dict(reply.json())

        half, whole = "'a\\ud83d'", "'\\ud83d\\ude00'"
        assert (await evaluated(half))["result"] == {"value": "a\ufffd"}
        assert (await evaluated(whole))["result"] == {"value": "\U0001f600"}
        assert (await evaluated(f"({{[{half}]: [{half}]}})"))["result"] == {"value": {"a\ufffd": ["a\ufffd"]}}
        await evaluated(f"document.title = {half}")
        assert (await agent.call("get_page_title", pageId="p"))["title"] == "a\ufffd"
        assert "a\ufffd" in str(await evaluated(f"alert({half})"))
        assert "a\ufffd" in str(await agent.call("handle_dialog", pageId="p", accept=True))
        assert "a\ufffd" in str((await evaluated(f"throw new Error({half})"))["error"])
        assert "a\ufffd" in str(await evaluated(f"document.body.append({half})")) + str(
            await agent.call("content", pageId="p", format="text")
        )
        long = await agent.call("content", pageId="p", format="text", budget=1_000)
        assert "cursor" not in long
        await evaluated(f"document.body.append({half}.repeat(2000))")
        assert "cursor" in await agent.call("content", pageId="p", format="text", budget=1_000)
        assert (await evaluated("1"))["success"] is True
