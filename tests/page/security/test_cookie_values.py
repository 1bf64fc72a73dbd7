"""Tests that only those who may read them get cookie values of the shared login: by tools, logs, scripts and files."""

import json

import pytest

from tests.support.json import AnyJson
from tests.support.service import Agent, RunningService
from tests.support.site import Answer, Site
from tests.support.tokens import limited

pytestmark = pytest.mark.anyio
VALUE = "s3cr3t-4711"


@pytest.fixture(autouse=True)
async def _no_other_cookies(service: RunningService) -> None:
    """Begin without the cookies of other tests, which ports do not keep apart."""
    if (context := service.session().opened) is not None:
        await context.clear_cookies()


async def every_way(agent: Agent, site: Site, page: str) -> list[str]:
    """Ask for the cookies of a page's session in each way, and return what the replies and files have."""
    html = "<h1>In</h1><iframe src='mailto:a@b.test'></iframe>"
    site.page("/in", Answer(html, headers={"set-cookie": f"login={VALUE}; Path=/"}))
    await agent.call("goto", pageId=page, url=site.url("/in"))
    await agent.call("reload_page", pageId=page)
    session = {"sessionId": (await agent.reply("get_page_title", pageId=page)).json()["page"]["sessionId"]}
    scripts = ("document.cookie", "cookieStore.getAll()", "Object.fromEntries([document.cookie.split('=')])")
    network = {"pageId": page, "includeHeaders": True, "includeSecrets": True}
    of_element = {"expression": "(e, name) => e.ownerDocument[name]", "arg": "cookie", "selector": "h1"}
    calls: list[tuple[str, dict[str, AnyJson]]] = [
        ("get_cookies", session),
        ("get_cookies", {**session, "urls": [site.url("/in")], "budget": 100}),
        *(("evaluate_script", {"pageId": page, "expression": expression}) for expression in scripts),
        ("evaluate_script", {"pageId": page, **of_element}),
        ("get_network_log", network),
        ("export_har", {"pageId": page, "includeSecrets": True}),
        ("export_session", session),
        ("wait_for_response", {**network, "url": "*", "during": {"action": "reload_page"}}),
        ("batch", {"pageId": page, "steps": [{"action": "evaluate_script", "expression": "document.cookie"}]}),
        ("fetch", {"pageId": page, "url": site.url("/in")}),
    ]
    told = []
    for name, arguments in calls:
        reply = (await agent.reply(name, **arguments)).json()
        text = json.dumps(reply)
        files = [part.split('"')[0] for part in text.split("/api/files/")[1:]]
        texts = [text, *[(await agent.http.get(f"/api/files/{file}")).text for file in files]]
        told.append(f"{name} {arguments}: {' '.join(texts)}")
    return told


async def test_no_tool_shows_cookie_values_to_an_ordinary_token(service: RunningService, site: Site) -> None:
    async with limited(service, "plain") as agent:
        told = await every_way(agent, site, "p")
        assert [text[:200] for text in told if VALUE in text] == []
        assert [text for text in told if "SCRIPT_EXECUTION_FAILED" in text] == []
        assert "login" in told[0]  # its name is
        assert "browse-together token create --name NAME --cookies" in told[0]
        assert "browse-together token create --name NAME, with --cookies" in told[8]
        await agent.call("close_page", pageId="p")


async def test_no_tool_shows_cookie_values_of_a_copy_of_the_shared_login(service: RunningService, site: Site) -> None:
    async with limited(service, "copier") as agent:
        signed_in = Answer("in", headers={"set-cookie": f"login={VALUE}; Path=/"})
        await agent.call("goto", pageId="p", url=site.page("/", signed_in))
        await agent.call("create_session", sessionId="copy", **{"from": "default"})
        await agent.call("create_session", sessionId="second", **{"from": "copy"})
        for session in ("copy", "second"):
            kept = (await agent.call("close_session", sessionId=session))["kept"]
            await agent.call("restore_session_state", sessionId=session, name=kept)  # it is a copy still
            await agent.call("open_page", pageId=f"of-{session}", sessionId=session)
            assert [text[:200] for text in await every_way(agent, site, f"of-{session}") if VALUE in text] == []
            await agent.call("close_session", sessionId=session)
        await agent.call("close_page", pageId="p")


async def test_cookie_values_are_shown_to_tokens_made_for_it_and_in_own_sessions_to_all(
    service: RunningService, site: Site
) -> None:
    async with limited(service, "trusted", cookies="values") as agent:
        silent = [text[:60] for text in await every_way(agent, site, "p") if VALUE not in text]
        assert [text.split(" ")[0] for text in silent] == ["fetch"]  # no script sees Set-Cookie
        await agent.call("close_page", pageId="p")
    async with limited(service, "owner-of-one") as agent:
        await agent.call("create_session", sessionId="own")
        await agent.call("open_page", pageId="o", sessionId="own")
        silent = [text[:60] for text in await every_way(agent, site, "o") if VALUE not in text]
        assert [text.split(" ")[0] for text in silent] == ["fetch"]
        await agent.call("close_session", sessionId="own")


async def test_saved_shared_logins_cannot_be_restored_into_another_session(service: RunningService, site: Site) -> None:
    async with limited(service, "mover") as agent:
        await agent.call("goto", pageId="p", url=site.page("/", "x"))
        await agent.call("save_session_state", name="mine")
        await agent.call("create_session", sessionId="own")
        assert (await agent.error("restore_session_state", sessionId="own", name="mine"))["status"] == 404
        await agent.call("close_session", sessionId="own")
        await agent.call("close_page", pageId="p")
    async with limited(service, "none", cookies="none") as agent:
        await agent.call("create_session", sessionId="own2")
        for name in ("get_cookies", "export_session", "start_tracing"):
            assert (await agent.error(name, sessionId="own2"))["details"]["context"]["rule"] in {
                "--no-cookies",
                "--cookies",
            }
        await agent.call("close_session", sessionId="own2")
