"""Tests how many pages there may be, and what becomes of those whose client is gone or idle."""

import pytest

from tests.support.idle_time import rests, unused
from tests.support.listening import watching
from tests.support.sharing import StartService
from tests.support.site import Site
from tests.support.waiting import become

pytestmark = pytest.mark.anyio


async def test_pages_are_limited_in_a_session_and_in_all_and_a_refusal_names_what_can_be_closed(
    start: StartService,
) -> None:
    service = await start(session_pages=2, max_pages=4)
    async with service.agent() as agent, service.agent() as other:
        await agent.call("create_session", sessionId="three")
        for page_id in ("a", "b"):
            await agent.call("open_page", pageId=page_id)
        found = await other.error("open_page", pageId="c")
        assert found["message"].startswith('2 pages are open in session "default", which is the limit')
        assert "which is the limit" in found["message"]
        assert 'list_pages {"all": true}' in found["hint"]
        for page_id in ("c", "d"):
            await agent.call("open_page", pageId=page_id, sessionId="three")
        mine, others = [await each.error("open_page", pageId="e") for each in (agent, other)]
        assert "4 pages are open, which is the limit (BROWSE_MAX_PAGES)" in mine["message"]
        assert 'close_page {"pageId": "a"}' in mine["hint"]
        assert 'list_pages {"all": true}' in others["hint"]
        assert others["details"]["context"]["pages"] == []


async def test_a_long_idle_client_without_a_stream_loses_its_pages_except_held_ones(
    start: StartService,
) -> None:
    service = await start()
    pages, look = service.host.pages, service.parts.abandoned.release_leases
    async with service.agent() as gone, service.agent() as here:
        for agent, page_id in ((gone, "left"), (here, "used")):
            await agent.call("open_page", pageId=page_id)
        await gone.call("create_session", sessionId="other")
        await gone.call("open_page", pageId="kept", sessionId="other")
        await gone.call("hold_page", pageId="kept", reason="a code", minutes=30)
        unused(service, "left", 700)
        await look()
        assert all(page.record.ownership.lease for page in pages.values())  # one of its pages it used a moment ago
        unused(service, "kept", 700)
        await look()
        assert {page_id for page_id, page in pages.items() if page.record.ownership.abandoned} == {"left"}
        assert [page["pageId"] for page in (await gone.call("list_pages"))["yours"]] == ["left", "kept"]


async def test_the_untouched_pages_of_a_client_that_is_gone_are_closed_and_it_finds_its_others_again(
    start: StartService, site: Site
) -> None:
    service = await start(presence_grace_ms=0)
    abandoned = service.parts.abandoned
    async with service.agent("Claude", client_id="gone") as gone, service.agent("Codex") as here:
        await here.call("open_page", pageId="heres")
        async with watching(service, here.client_id):
            async with watching(service, "gone"):
                for page_id in ("blank", "held"):
                    await gone.call("open_page", pageId=page_id)
                await gone.call("goto", pageId="used", url=site.page("/", "x"))
                await gone.call("hold_page", pageId="held", reason="a code", minutes=30)
                await rests(service, 700)
                await abandoned.close_blank()
                assert {"blank", "heres"} <= {page.page_id for page in await service.parts.host.describe()}
            await become(lambda: not service.entry("used").record.ownership.lease)
            await rests(service, 700)
            await abandoned.close_blank()
            await service.parts.feeds.drain()
            assert {page.page_id for page in service.known_pages()} == {"heres", "held", "used"}
            (others,) = [page for page in (await here.call("list_pages"))["others"] if page["pageId"] == "used"]
            assert others["leftBy"] == "Claude"
        mine = {page["pageId"]: page for page in (await gone.call("list_pages"))["yours"]}
        assert mine.keys() == {"held", "used"}
        assert mine["used"]["fromBefore"] is True
        await gone.call("close_page", pageId="held")
        await gone.call("click", selector="body")
        (page,) = (await gone.call("list_pages"))["yours"]
        assert (page["pageId"], page["owner"]["you"]) == ("used", True)
