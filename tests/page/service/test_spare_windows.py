"""Tests the spare blank window: the next page gets it, and until then it is invisible to everybody."""

import asyncio

import pytest
from playwright.async_api import Error, Page

from browser_service.host.sessions.spare_window import SpareWindow
from browser_service.host.sessions.spare_windows import SpareWindows
from tests.support.service import Agent, RunningService
from tests.support.site import Site
from tests.support.waiting import become

pytestmark = [pytest.mark.anyio, pytest.mark.thorough]

MINUTE_S = 60.0


async def prepared(service: RunningService) -> int:
    """Have a spare window made, as after a call that opened the second page. Return the number of windows."""
    SpareWindows(MINUTE_S).prepare(service.session())
    before = len(service.context().pages)
    await become(lambda: len(service.context().pages) == before + 1)
    return before + 1


async def test_the_next_page_gets_the_spare_window_which_stays_invisible_until_then(
    service: RunningService, agent: Agent, site: Site
) -> None:
    url = site.page("/", "<button onclick=\"window.open('/popup')\">open</button>")
    site.page("/popup", "popup")
    for page_id in ("one", "two"):
        await agent.call("goto", pageId=page_id, url=url)
    count = await prepared(service)
    assert [state.page_id for state in await service.host.describe()] == ["one", "two"]
    assert [page["pageId"] for page in (await agent.call("list_pages", all=True))["yours"]] == ["one", "two"]
    assert (await agent.call("click", pageId="two", selector="button"))["popups"] == ["two~1"]
    await agent.call("open_page", pageId="three", url=url)
    assert len(service.context().pages) == count + 1
    assert (await agent.call("evaluate_script", pageId="three", expression="history.length"))["value"] == (
        await agent.call("evaluate_script", pageId="one", expression="history.length")
    )["value"]


async def test_a_spare_window_goes_when_its_session_changes_nobody_opens_pages_or_memory_is_short(
    service: RunningService, agent: Agent, site: Site
) -> None:
    session = service.session()
    for page_id in ("one", "two"):
        await agent.call("goto", pageId=page_id, url=site.page("/", "x"))
    with_spare = await prepared(service)
    await agent.call("start_tracing")
    SpareWindows(MINUTE_S).prepare(session)
    await agent.call("stop_tracing")
    await become(lambda: len(service.context().pages) == with_spare - 1)
    for lasts_s, short in ((0.0, False), (MINUTE_S, True)):
        await prepared(service)
        SpareWindows(lasts_s).drop_unused(session, short=short)
        await become(lambda: len(service.context().pages) == with_spare - 1)


async def test_one_of_two_pages_gets_the_spare_window_and_neither_waits_for_one_that_never_comes(
    service: RunningService, agent: Agent, site: Site
) -> None:
    await agent.call("goto", pageId="one", url=site.page("/", "x"))
    page = service.window("one")
    made: asyncio.Future[Page] = asyncio.get_running_loop().create_future()
    spare = SpareWindow(lambda: made)
    assert await spare.take() is None
    spare.make()
    left = asyncio.ensure_future(spare.take())
    await asyncio.sleep(0)  # begins to wait
    left.cancel()
    await asyncio.wait({left})
    takers = [asyncio.ensure_future(spare.take()) for _ in range(2)]
    await asyncio.sleep(0)  # likewise
    made.set_result(page)
    assert await asyncio.gather(*takers) == [page, None]
    made = asyncio.get_running_loop().create_future()
    made.set_exception(Error("no window"))
    spare.make()
    assert await spare.take() is None
