"""Tests the end of a page: whoever closes it, it is gone from the browser, and no later page of its name with it."""

import pytest

from browser_service.host.tabs import observation
from tests.page.service.test_closing import OPENER, windows
from tests.support.service import RunningService
from tests.support.site import Site
from tests.support.waiting import become

pytestmark = pytest.mark.anyio


async def test_a_popup_over_the_limit_of_pages_is_closed_and_its_openers_holder_is_told(
    narrow: RunningService, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(observation, "_POPUP_S", 0.3)  # no page of ours comes of it
    site.page("/popup", "<title>popup</title>")
    async with narrow.agent() as agent:
        await agent.call("goto", pageId="shop", url=site.page("/", OPENER))
        before = windows(narrow)
        clicked = (await agent.reply("click", pageId="shop", selector="button")).json()
        assert clicked["success"] is True
        await become(lambda: clicked["notices"] or narrow.has_news_for(agent))
        await become(lambda: windows(narrow) == before)
        listed = (await agent.reply("list_pages")).json()
        assert [page["pageId"] for page in listed["result"]["yours"]] == ["shop"]
        told = [notice["text"] for notice in (*clicked["notices"], *listed["notices"])]
        assert told == ["shop opened a popup over the limit of 1 pages; it was closed."]
        await agent.call("evaluate_script", pageId="shop", expression="1")
