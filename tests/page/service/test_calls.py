"""Tests calls: sent twice they happen once, they can be asked after and stopped, and a read does no work in vain."""

import httpx
import pytest

from tests.support.dialogs import asks
from tests.support.listening import sent
from tests.support.service import Agent, RunningService
from tests.support.site import Answer, Site

pytestmark = pytest.mark.anyio


def said(reply: httpx.Response) -> list[str]:
    return [notice["text"] for notice in reply.json()["notices"]]


async def test_a_stored_outcome_brings_the_notices_that_came_since_and_each_only_once(
    service: RunningService, agent: Agent, site: Site
) -> None:
    await agent.call("goto", pageId="p", url=site.page("/", "hello"))
    first = await sent(agent, "c", "evaluate_script", pageId="p", expression="1")
    await asks(service, "p", "alert('later')")
    again = [await sent(agent, "c", "evaluate_script", pageId="p", expression="1") for _ in range(2)]
    (told,) = [text for reply in (first, *again) for text in said(reply)]
    assert told.startswith("p shows alert 'later'.")
    assert [reply.json()["result"] for reply in again] == [first.json()["result"]] * 2


async def test_a_page_that_does_not_open_again_is_loaded_once_for_a_call_that_reads(
    service: RunningService, agent: Agent, site: Site
) -> None:
    await agent.call("goto", pageId="p", url=site.page("/", "<h1>Here</h1>"))
    service.entry("p").tab_life.abandon()
    site.page("/", Answer(status=204))
    error = await agent.error("get_page_title", pageId="p")
    assert (error["code"], site.counts["/"]) == ("BROWSER_CRASHED", 2)
