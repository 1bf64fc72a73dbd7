"""Tests that the front can open a session again as it was, although the host that had it is lost."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from browse_together.contract.errors import SessionNotFound
from browse_together.contract.events import SessionTold, StateSaved
from browse_together.contract.model import Json
from browse_together.contract.pages import PageState, SessionSpec
from browser_service.host.calls import Handler
from browser_service.host.seam import ArtifactPort, HostLimits
from browser_service.host.sessions.options import LaunchOptions
from browser_service.security.urls import UrlPolicy
from browser_service.sessions import latest_states
from tests.support.fake_host import FakeHost
from tests.support.service import RunningService
from tests.support.sharing import StartService
from tests.support.site import Site

pytestmark = pytest.mark.anyio


def elsewhere(
    options: LaunchOptions,
    handlers: Mapping[str, Handler],
    artifacts: ArtifactPort,
    policy: UrlPolicy,
    limits: HostLimits,
) -> FakeHost:
    """Make a host that tells what would be lost with it."""
    return FakeHost(options, handlers, artifacts, policy, replace(limits, elsewhere=True))


async def told(service: RunningService) -> SessionSpec:
    """Return the spec of a session, once its host has told all."""
    await service.host.keeping.tell()
    await service.parts.feeds.drain()
    return await service.parts.lifecycle.spec_again("mine")


async def test_a_session_of_a_lost_host_opens_again_with_logins_settings_and_pages(
    start: StartService, site: Site
) -> None:
    service = await start(make_host=elsewhere)
    async with service.agent() as agent:
        await agent.call("create_session", sessionId="mine")
        await agent.call("goto", pageId="p", sessionId="mine", url=site.page("/", "hello"))
        service.session("mine").headers["x-team"] = "shop"
        await service.session("mine").logins.save()
        spec = await told(service)
        assert (spec.persistent, spec.headers, [*spec.former]) == (False, {"x-team": "shop"}, ["p"])
        assert spec.state == service.session("mine").logins.saved != {}
        assert spec.former["p"]["history"] == []
        assert await service.parts.journal.states("mine") == []
        await agent.call("close_session", sessionId="mine")
        assert service.parts.vault.latest.onto(spec.model_copy(update={"headers": {}})).headers == {}
        with pytest.raises(SessionNotFound):
            await service.parts.lifecycle.spec_again("mine")


async def test_what_one_session_tells_too_much_costs_no_other_its_own(
    start: StartService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(latest_states, "_MOST_BYTES", 10_000)
    kept = (await start()).parts.vault.latest
    large: Json = {"cookies": ["x" * 1_000]}
    for number in range(50):
        kept.note(SessionTold(session_id="theirs", former={f"p~{number}": large}))
        kept.note_state(StateSaved(session_id=f"mine-{number % 4}", state={"cookies": [number]}))
    states = [kept.onto(SessionSpec(session_id=f"mine-{number}")).state for number in range(4)]
    assert states == [{"cookies": [number]} for number in (48, 49, 46, 47)]
    pages = [PageState(page_id=f"p~{number}", session_id="theirs") for number in range(50)]
    assert 0 < len(kept.onto(SessionSpec(session_id="theirs", pages=pages)).former) < 5
    for session_id in ("theirs", *(f"mine-{number}" for number in range(4))):
        kept.session_closed(session_id)
    kept.note(SessionTold(session_id="theirs", former={"p~1": large}))
    assert [*kept.onto(SessionSpec(session_id="theirs", pages=pages)).former] == ["p~1"]


async def test_a_session_that_is_opened_once_more_is_told_anew(start: StartService, site: Site) -> None:
    service = await start(make_host=elsewhere)
    async with service.agent() as agent:
        await agent.call("create_session", sessionId="mine")
        await agent.call("goto", pageId="p", sessionId="mine", url=site.page("/", "hello"))
        known = await told(service)
        service.parts.directory.drop("p")  # as in a front that has just started
        service.parts.vault.latest.session_closed("mine")
        await service.parts.host.open(SessionSpec(session_id="mine"))
        await service.parts.feeds.drain()
        again = await told(service)
        assert (again.state, [*again.former]) == (known.state, ["p"])


async def test_a_reply_says_what_of_a_page_was_lost_with_its_host_and_what_came_back(
    start: StartService, site: Site
) -> None:
    service = await start(make_host=elsewhere)
    async with service.agent() as agent:
        await agent.call("create_session", sessionId="mine")
        await agent.call("goto", pageId="p", sessionId="mine", url=site.page("/", "<button>b</button>"))
        spec = await told(service)
        await service.host.close("mine")
        await service.host.open(spec.model_copy(update={"lost_by": "its host is gone"}))
        await service.parts.feeds.drain()
        (notice,) = (await agent.reply("click", pageId="p", selector="button")).json()["notices"]
        assert "because its host is gone; form contents and scripts' memory are lost." in notice["text"]
