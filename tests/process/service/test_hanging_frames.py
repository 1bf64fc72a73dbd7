"""Tests that replies tell of a frame that does not answer, in a browser with a process for each site."""

import pytest

from tests.process.service.conftest import whole_service as service
from tests.support.service import Agent
from tests.support.site import Site

__all__ = ["service"]

pytestmark = [pytest.mark.anyio, pytest.mark.whole_browser]


async def test_a_frame_that_does_not_answer_is_told_as_that(agent: Agent, site: Site) -> None:
    hangs = site.page("/hangs", "Rent<script>onmessage = () => { while (true); }</script>")
    inside = hangs.replace("127.0.0.1", "localhost")
    await agent.call("goto", pageId="p", url=site.page("/", f"<p>From Ida</p><iframe src={inside}></iframe>"))
    await agent.call("evaluate_script", expression="frames[0].postMessage('hang', '*')")
    assert f"a frame at {inside} (no answer)" in (await agent.call("content", format="text"))["inFrames"]
    assert "(no answer)" in (await agent.call("find", selector="#till"))["inFrames"]
    assert "(no answer)" in (await agent.call("extract_links"))["inFrames"]
    shown = "- iframe [not shown, it does not answer]"
    assert shown in (await agent.call("snapshot"))["snapshot"]
    assert shown in (await agent.call("find", text="Rent"))["found"]
    (frame,) = (await agent.call("list_frames"))["frames"]
    assert (frame["url"], frame["answers"]) == (inside, False)
    missing = await agent.error("click", selector="Order now", timeout=200)
    assert missing["hint"].startswith("It was looked up as CSS. By its words: text=Order now")
