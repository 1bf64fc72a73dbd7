"""Tests what a session is made with, how long it lasts, and how its logins are saved, restored and taken elsewhere."""

import json
import time
from datetime import UTC, datetime, timedelta

import pytest

from browse_together.contract.catalogue import ACTIONS
from browse_together.contract.schema import full_schema, properties_of
from tests.support.json import AnyJson
from tests.support.service import Agent, RunningService
from tests.support.site import Answer, Site
from tests.support.waiting import become

pytestmark = pytest.mark.anyio

SEEN = """() => ({
  size: [innerWidth, innerHeight], agent: navigator.userAgent, language: navigator.language,
  zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
})"""


async def seen(agent: Agent, expression: str, **where: str) -> AnyJson:
    return (await agent.call("evaluate_script", expression=expression, **where))["value"]


async def test_pages_of_a_session_see_what_it_was_made_with(agent: Agent, site: Site) -> None:
    await agent.call(
        "create_session",
        sessionId="made",
        viewport={"width": 800, "height": 600},
        userAgent="Tester/1",
        locale="de-DE",
        timezone="Asia/Tokyo",
        permissions=["geolocation"],
    )
    await agent.call("goto", pageId="in", sessionId="made", url=site.page("/", "here"))
    assert await seen(agent, SEEN, pageId="in") == {
        "size": [800, 600],
        "agent": "Tester/1",
        "language": "de-DE",
        "zone": "Asia/Tokyo",
    }
    granted = "async () => (await navigator.permissions.query({name: 'geolocation'})).state"
    assert await seen(agent, granted, pageId="in") == "granted"


async def test_a_session_that_says_nothing_is_full_hd_and_american(agent: Agent, site: Site) -> None:
    await agent.call("create_session", sessionId="plain")
    await agent.call("goto", pageId="in", sessionId="plain", url=site.page("/", "here"))
    found = await seen(agent, SEEN, pageId="in")
    assert (found["size"], found["language"]) == ([1920, 1080], "en-US")
    assert "Headless" not in found["agent"]


async def test_a_proxy_is_used_and_its_password_told_to_nobody(agent: Agent, site: Site) -> None:
    site.page("/", "through the proxy")
    proxy = {"server": site.url("").removesuffix("/"), "username": "u", "password": "s3cret-proxy"}
    created = await agent.reply("create_session", sessionId="proxied", proxy=proxy)
    await agent.call("goto", pageId="in", sessionId="proxied", url="http://shop.test/")
    assert "through the proxy" in (await agent.call("content", pageId="in"))["content"]
    assert "http://shop.test/" in [received.path for received in site.received]
    told = await agent.reply("get_session", sessionId="proxied")
    assert told.json()["result"]["proxy"] == {"server": proxy["server"], "username": "u"}
    for reply in (created, told, await agent.reply("list_sessions"), await agent.reply("get_activity")):
        assert "s3cret-proxy" not in reply.text


async def test_an_option_that_cannot_be_is_named_and_makes_no_session(agent: Agent) -> None:
    options: list[tuple[dict[str, AnyJson], str]] = [
        ({"permissions": ["clipboard"]}, "permissions.0"),
        ({"timezone": "Mars/Olympus"}, "timezone"),
        ({"viewport": {"width": 0}}, "viewport.width"),
        ({"proxy": {"server": "http://u:p@host"}}, "proxy.server"),
        ({"locale": "german"}, "locale"),
        ({"ttl": 0}, "ttl"),
    ]
    for wrong, field in options:
        error = await agent.error("create_session", sessionId="never", **wrong)
        assert (error["code"], error["details"]["context"]["field"]) == ("VALIDATION_ERROR", field)
    assert (await agent.error("get_session", sessionId="never"))["code"] == "SESSION_NOT_FOUND"


async def test_the_number_of_a_clients_sessions_is_bounded(agent: Agent, other: Agent) -> None:
    for _ in range(50):
        await agent.call("create_session")
    assert (await agent.error("create_session"))["code"] == "RESOURCE_EXHAUSTED"
    await other.call("create_session")


async def test_an_engine_that_is_not_installed_is_an_error_that_says_how(agent: Agent) -> None:
    for engine in ("firefox", "webkit"):
        error = await agent.error("create_session", sessionId="other", browserType=engine, persistent=True)
        assert error["code"] == "BROWSER_LAUNCH_FAILED"
        assert f"browse-together setup --browser-type {engine}" in error["hint"]
    await agent.call("create_session", sessionId="other")  # the name is free


async def test_a_session_is_described_as_it_is(agent: Agent, other: Agent, site: Site) -> None:
    await agent.call("create_session", sessionId="known", name="Shopping", userId="ana", ttl=60_000)
    await agent.call("goto", pageId="in", sessionId="known", url=site.page("/", "here"))
    await agent.error("click", pageId="in", selector="#none", timeout=100)
    found = await agent.call("get_session", sessionId="known")
    assert (found["id"], found["name"], found["userId"]) == ("known", "Shopping", "ana")
    assert (found["pageCount"], found["requestCount"], found["errorCount"]) == (1, 2, 1)
    assert found["createdAt"] < found["lastAccessedAt"] < found["expiresAt"]
    assert found["owner"] == {"label": agent.label, "you": True}
    assert (await other.error("get_session", sessionId="known"))["code"] == "FORBIDDEN"
    ids = [one["sessionId"] for one in (await agent.call("list_sessions", userId="ana"))["sessions"]]
    assert ids == ["known"]
    kept = [one["sessionId"] for one in (await agent.call("list_sessions", persistent=True))["sessions"]]
    assert kept == ["default"]
    shared = await agent.call("get_session")
    assert (shared["id"], shared["viewport"], shared["owner"]) == ("default", {"width": 1280, "height": 720}, None)


async def test_a_session_whose_time_is_over_is_closed_and_says_so(
    service: RunningService, agent: Agent, site: Site
) -> None:
    await agent.call("create_session", sessionId="short", ttl=600_000)
    await agent.call("goto", pageId="in", sessionId="short", url=site.page("/", "here"))
    ends = datetime.fromisoformat((await agent.call("extend_session", sessionId="short", ttl=1))["expiresAt"])
    await become(lambda: datetime.now(UTC) > ends + timedelta(milliseconds=1))  # it is told in whole ones
    error = await agent.error("content", pageId="in")
    assert (error["code"], error["status"]) == ("SESSION_EXPIRED", 410)
    await service.close_expired_sessions()
    assert (await agent.reply("list_pages", sessionId="short")).json()["result"]["yours"] == []
    error = await agent.error("open_page", sessionId="short")
    assert error["code"] == "SESSION_EXPIRED"
    assert "create_session" in error["hint"]


DAY_MS, YEAR_MS = 86_400_000, 365 * 86_400_000


@pytest.mark.parametrize("action", ["create_session", "extend_session"])
async def test_a_session_lasts_as_long_as_it_says_a_day_without_and_from_a_millisecond_to_a_year(
    service: RunningService, agent: Agent, action: str
) -> None:
    said = properties_of(full_schema(ACTIONS[action]))["ttl"]
    assert (said["default"], said["minimum"], said["maximum"]) == (DAY_MS, 1, YEAR_MS)
    for ttl in (None, 1, YEAR_MS):
        session_id = f"lasts-{action[:6]}-{ttl}"
        if action == "extend_session":
            await agent.call("create_session", sessionId=session_id, ttl=60_000)
        began = int(time.time() * 1000)
        given = {} if ttl is None else {"ttl": ttl}
        lasts_until = (await agent.call(action, sessionId=session_id, **given))["expiresAt"]
        left = datetime.fromisoformat(lasts_until).timestamp() * 1000 - (ttl or DAY_MS)
        assert began <= round(left) <= time.time() * 1000
    for ttl in (0, YEAR_MS + 1):
        error = await agent.error(action, sessionId=f"lasts-{action[:6]}-None", ttl=ttl)
        assert (error["code"], error["details"]["context"]["field"]) == ("VALIDATION_ERROR", "ttl")
    await service.close_expired_sessions()
    assert (await agent.error("get_session", sessionId=f"lasts-{action[:6]}-1"))["code"] == "SESSION_EXPIRED"
    assert (await agent.call("get_session", sessionId=f"lasts-{action[:6]}-None"))["pageCount"] == 0


async def test_a_session_is_closed_when_its_time_has_passed_and_not_before(
    service: RunningService, agent: Agent, other: Agent
) -> None:
    for session_id, given in (("a-day", {}), ("an-hour", {"ttl": 3_600_000})):
        await agent.call("create_session", sessionId=session_id, **given)
        await agent.call("open_page", pageId=f"{session_id}-page", sessionId=session_id)
        record = service.parts.directory.sessions.record(session_id)
        assert record.expires_at
        of_all = given.get("ttl", DAY_MS) / 1000
        record.expires_at -= of_all - 60  # as it is a minute before its end
        await service.close_expired_sessions()
        assert (await agent.call("get_session", sessionId=session_id))["pageCount"] == 1
        record.expires_at -= 60
        await service.close_expired_sessions()
        assert (await agent.error("get_session", sessionId=session_id))["code"] == "SESSION_EXPIRED"
        assert (await agent.error("content", pageId=f"{session_id}-page"))["code"] == "SESSION_EXPIRED"
        listed = (await other.call("list_sessions"))["sessions"]
        assert session_id not in [one["sessionId"] for one in listed]


SIGN_IN = "localStorage.setItem('who', 'ana')"
SIGNED_IN = "[document.cookie, localStorage.getItem('who')]"
LOGIN = Answer("<title>in</title>", headers={"set-cookie": "token=t1; Path=/"})


async def test_logins_are_saved_and_restored_by_name(agent: Agent, site: Site) -> None:
    await agent.call("create_session", sessionId="mine")
    await agent.call("goto", pageId="in", sessionId="mine", url=site.page("/", LOGIN))
    await seen(agent, SIGN_IN, pageId="in")
    saved = await agent.call("save_session_state", sessionId="mine", name="signed in")
    assert (saved["cookies"], saved["origins"]) == (1, 1)
    assert (await agent.call("get_session", sessionId="mine"))["savedStates"] == ["signed in"]
    site.page("/", "no new cookie")
    await agent.call("clear_cookies", sessionId="mine")
    await seen(agent, "localStorage.clear()", pageId="in")
    await agent.call("restore_session_state", sessionId="mine", name="signed in")
    await agent.call("reload_page", pageId="in")
    assert await seen(agent, SIGNED_IN, pageId="in") == ["token=t1", "ana"]
    error = await agent.error("restore_session_state", sessionId="mine", name="never")
    assert error["status"] == 404
    assert error["hint"].startswith("Saved: signed in, mine-")  # what the two acts took is kept for a day


async def test_restoring_a_session_in_which_others_work_is_refused(agent: Agent, other: Agent, site: Site) -> None:
    await agent.call("save_session_state")
    await other.call("goto", pageId="theirs", url=site.page("/", "here"))
    assert (await agent.error("restore_session_state"))["code"] == "AFFECTS_OTHERS"


async def test_an_exported_login_is_imported_elsewhere(agent: Agent, other: Agent, site: Site) -> None:
    await agent.call("create_session", sessionId="from")
    await agent.call("goto", pageId="in", sessionId="from", url=site.page("/", LOGIN))
    await seen(agent, SIGN_IN, pageId="in")
    exported = await agent.call("export_session", sessionId="from")
    assert "token" not in json.dumps(exported)
    file = f"/api/files/{exported['artifact']['artifactId']}"
    assert (await other.http.get(file)).status_code == 404
    content = (await agent.http.get(file)).text
    await agent.call("create_session", sessionId="to")
    await agent.call("import_login", sessionId="to", content=content)
    await agent.call("goto", pageId="there", sessionId="to", url=site.page("/", "no new cookie"))
    assert await seen(agent, SIGNED_IN, pageId="there") == ["token=t1", "ana"]
