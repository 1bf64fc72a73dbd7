"""Tests what callers are told when the host of their page does not answer."""

import asyncio

import pytest

from browse_together.contract.calls import Call, Outcome
from browse_together.contract.errors import HostGone
from browse_together.contract.frames import Frame, View
from browse_together.contract.pages import SessionSpec
from tests.support.carriers import JsonCarrier
from tests.support.service import Agent, RunningService
from tests.support.sharing import StartService
from tests.support.site import Site

pytestmark = pytest.mark.anyio


class Gone(JsonCarrier):
    """A host that does the first of what it is asked, and is gone before it answers."""

    times = 0
    sent = True
    hangs = False

    def _go(self) -> None:
        if self.times:
            self.times -= 1
            raise HostGone(sent=self.sent)

    async def run(self, call: Call) -> Outcome:
        if not self.sent:
            self._go()
        outcome = await super().run(call)
        if self.hangs:
            await asyncio.Event().wait()
        self._go()
        return outcome

    async def close(self, session_id: str) -> SessionSpec | None:
        spec = await super().close(session_id)
        self._go()
        return spec

    async def release(self, client_id: str, before_seq: int, *, for_good: bool = False) -> None:
        self._go()
        await super().release(client_id, before_seq, for_good=for_good)

    async def frame_after(self, page_id: str, seq: int, wait_ms: int, view: View) -> Frame | None:
        self._go()
        return await super().frame_after(page_id, seq, wait_ms, view)


@pytest.fixture
async def service(start: StartService) -> RunningService:
    return await start(carrier=Gone)


async def opened(service: RunningService, agent: Agent, site: Site) -> Gone:
    await agent.call("goto", pageId="p", url=site.page("/", "<input id=a><button>b</button>"))
    host = service.parts.host
    assert isinstance(host, Gone)
    return host


async def test_an_act_that_a_lost_host_may_have_done_may_have_happened(service: RunningService, site: Site) -> None:
    async with service.agent() as agent:
        (await opened(service, agent, site)).times = 1
        error = await agent.error("goto", pageId="p", url=site.page("/next", "next"))
        assert (error["status"], error["code"]) == (500, "UNKNOWN_OUTCOME")
        assert error["message"] == "goto was under way when its host stopped answering."
        assert site.counts["/next"] == 1


async def test_an_act_whose_host_never_answers_ends_all_the_same(service: RunningService, site: Site) -> None:
    async with service.agent() as agent:
        (await opened(service, agent, site)).hangs = True
        service.parts.host_calls.late_by_s = -0.5
        url = site.page("/next", "next")
        assert (await agent.error("goto", pageId="p", url=url, timeout=1_000))["code"] == "UNKNOWN_OUTCOME"
        assert site.counts["/next"] == 1


async def test_an_act_that_did_not_reach_its_host_did_not_happen(service: RunningService, site: Site) -> None:
    async with service.agent() as agent:
        host = await opened(service, agent, site)
        host.times, host.sent = 1, False
        error = await agent.error("goto", pageId="p", url=site.page("/next", "next"))
        assert (error["status"], error["code"]) == (503, "SERVICE_UNAVAILABLE")
        assert error["hint"] == "Repeat the call in a moment."
        assert site.counts["/next"] == 0


async def test_a_read_is_done_once_more_and_then_refused(service: RunningService, site: Site) -> None:
    async with service.agent() as agent:
        host = await opened(service, agent, site)
        host.times = 1
        assert "button" in (await agent.call("content", pageId="p", format="html"))["content"]
        host.times = 2
        assert (await agent.error("content", pageId="p"))["code"] == "SERVICE_UNAVAILABLE"


async def test_a_session_whose_end_was_not_confirmed_is_there_until_it_is(service: RunningService, site: Site) -> None:
    async with service.agent() as agent:
        host = await opened(service, agent, site)
        await agent.call("create_session", sessionId="mine")
        await agent.call("goto", pageId="q", sessionId="mine", url=site.url("/"))
        host.times = 1
        assert (await agent.error("close_session", sessionId="mine"))["code"] == "UNKNOWN_OUTCOME"
        assert "mine" in service.known_sessions()
        await agent.call("close_session", sessionId="mine")
        assert "mine" not in service.known_sessions()


async def test_what_runs_by_itself_goes_on_without_the_host(service: RunningService, site: Site) -> None:
    async with service.agent() as agent:
        host = await opened(service, agent, site)
        host.times = 2
        await service.release(agent)
        assert await service.parts.reads.frame("p", 0, 0, View()) is None
        assert host.times == 0
