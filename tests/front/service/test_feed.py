"""Tests that the front knows what happened on a host although its events fail, get lost or begin anew."""

import asyncio

import pytest

from browse_together.contract.calls import Call, Outcome
from browse_together.contract.errors import HostGone
from browse_together.contract.events import EventBatch
from browse_together.contract.pages import PageState
from tests.support.carriers import JsonCarrier
from tests.support.listening import sent
from tests.support.sharing import StartService
from tests.support.site import Site
from tests.support.waiting import become

pytestmark = pytest.mark.anyio


class Faulty(JsonCarrier):
    """A host whose events fail or get lost, and that may begin anew under another name."""

    fails, failed = False, 0
    loses = False
    name = ""

    async def run(self, call: Call) -> Outcome:
        outcome = await super().run(call)
        if self.name and outcome.as_of is not None:
            outcome.as_of = outcome.as_of.model_copy(update={"incarnation": self.name})
        return outcome

    async def events_after(self, seq: int, wait_ms: int, limit: int) -> EventBatch:
        batch = await super().events_after(seq, wait_ms, limit)
        if self.fails:
            self.failed += 1
            raise HostGone
        if self.loses and batch.events:
            batch = batch.model_copy(update={"events": [], "oldest_seq": batch.last_seq + 1})
        return batch.model_copy(update={"incarnation": self.name or batch.incarnation})


async def test_a_reply_waits_for_events_that_could_not_be_read_at_first(start: StartService, site: Site) -> None:
    service = await start(carrier=Faulty)
    host = service.parts.host
    assert isinstance(host, Faulty)
    async with service.agent() as agent:
        await agent.call("goto", pageId="p", url=site.page("/", "hello"))
        host.fails = True
        opening = sent(agent, "c-1", "goto", pageId="q", url=site.url("/"))
        await become(lambda: host.failed > 1)
        assert not opening.done()
        host.fails = False
        assert (await opening).is_success
        assert service.known_page("q") is not None


async def test_pages_are_known_though_the_events_about_them_are_lost(start: StartService, site: Site) -> None:
    service = await start(carrier=Faulty)
    host = service.parts.host
    assert isinstance(host, Faulty)
    async with service.agent() as agent:
        await agent.call("goto", pageId="p", url=site.page("/", "hello"))
        host.loses = True
        await asyncio.gather(agent.call("close_page", pageId="p"), agent.call("goto", pageId="q", url=site.url("/")))
        assert [page.page_id for page in service.known_pages()] == ["q"]


async def test_a_host_that_began_anew_is_known_as_it_is(start: StartService, site: Site) -> None:
    service = await start(carrier=Faulty)
    host = service.parts.host
    assert isinstance(host, Faulty)
    async with service.agent() as agent:
        await agent.call("goto", pageId="p", url=site.page("/", "hello"))
        service.parts.directory.note(PageState(page_id="ghost", session_id="default"))
        host.name = "second"
        await agent.call("goto", pageId="q", url=site.url("/"))
        await become(lambda: {page.page_id for page in service.known_pages()} == {"p", "q"})
