"""Tests what a session is made with, how long it lasts, and how its logins are saved, restored and taken elsewhere."""

import pytest

from tests.page.service.test_session_options import LOGIN, SIGN_IN, SIGNED_IN, seen
from tests.support.service import Agent
from tests.support.sharing import StartService
from tests.support.site import Site
from tests.support.waiting import become

pytestmark = pytest.mark.anyio


async def test_a_service_with_visible_windows_starts_a_headless_browser_on_request(
    start: StartService, site: Site
) -> None:
    service = await start(headless=False, min_instances=0)
    async with service.agent() as agent:
        launched = await agent.call("browser_launch", headless=True)
        assert launched["text"] == "Browser launched successfully (chromium, headless: true)"
        await agent.call("browser_navigate", url=site.page("/", "<h1>Here</h1>"))
        assert "Headless" not in await seen(agent, "navigator.userAgent", pageId=launched["pageId"])
        launcher = service.host.launcher
        assert (launcher.shared_runs, [kind.headless for kind in launcher.pool.running]) == (False, [True])
        await agent.call("browser_quit")


async def test_a_persistent_session_outlives_the_service_with_its_logins_and_pages_and_another_leaves_none(
    start: StartService, site: Site
) -> None:
    url = site.page("/", LOGIN)
    first = await start()
    async with first.agent(client_id="ana") as agent:
        await agent.call("create_session", sessionId="kept", persistent=True, locale="fr-FR")
        await agent.call("create_session", sessionId="lost")
        await agent.call("goto", pageId="in", sessionId="kept", url=url)
        await agent.call("goto", pageId="out", sessionId="lost", url=url)
        await agent.call("save_session_state", sessionId="lost")
        await seen(agent, SIGN_IN, pageId="in")
        await become(lambda: first.session("kept").logins.saved.get("origins"))
        await first.host.stop()
    second = await start()
    async with second.agent(client_id="ana") as agent, second.agent(client_id="eve") as stranger:
        site.page("/", "no new cookie")
        assert await seen(agent, SIGNED_IN, pageId="in") == ["token=t1", "ana"]
        assert await seen(agent, "navigator.language", pageId="in") == "fr-FR"
        assert (await stranger.error("open_page", sessionId="kept"))["code"] == "FORBIDDEN"
        assert (await agent.error("content", pageId="out"))["code"] == "SESSION_NOT_FOUND"
        await is_a_stranger(stranger, "lost", site)
        await agent.call("destroy_session", sessionId="kept")
    third = await start()
    assert third.known_sessions() == ["default"]


async def test_a_session_of_a_closed_ones_name_has_nothing_of_its_logins(
    agent: Agent, other: Agent, site: Site
) -> None:
    await agent.call("create_session", sessionId="shop", persistent=True)
    await agent.call("goto", pageId="in", sessionId="shop", url=site.page("/", LOGIN))
    await agent.call("save_session_state", sessionId="shop")
    await seen(agent, SIGN_IN, pageId="in")
    await agent.call("close_session", sessionId="shop")
    await is_a_stranger(other, "shop", site)


async def is_a_stranger(agent: Agent, session_id: str, site: Site) -> None:
    """Check that an agent that makes a session of this name has nothing of an earlier one's logins."""
    url = site.page("/", "no new cookie")
    await agent.call("create_session", sessionId=session_id, persistent=True)
    await agent.call("goto", pageId="hers", sessionId=session_id, url=url)
    assert await seen(agent, SIGNED_IN, pageId="hers") == ["", None]
    assert (await agent.error("restore_session_state", sessionId=session_id))["status"] == 404
    assert (await agent.call("get_session", sessionId=session_id))["savedStates"] == []
    await agent.call("destroy_session", sessionId=session_id)
