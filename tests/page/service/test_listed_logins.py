"""Tests that a session's logins are listed: which sites, until when, and what the record knows of each."""

import json
import time
from collections.abc import AsyncIterator

import pytest

from tests.support.json import AnyJson
from tests.support.service import Agent, RunningService
from tests.support.site import Answer, Site
from tests.support.waiting import become

pytestmark = pytest.mark.anyio

VALUE = "4711-4711-4711-4711"
FORM = "<form action=/in><input name=user><button>In</button></form>"


@pytest.fixture
def account(site: Site) -> Site:
    """Serve a site that signs in with a form at /login, and says goodbye in a week."""
    cookies = [f"sid={VALUE}; Path=/; HttpOnly; Max-Age=604800", f"_csrf={VALUE}; Path=/; HttpOnly"]
    site.page("/login", FORM)
    site.page("/in", Answer("in", headers={"Set-Cookie": cookies[0]}))
    site.page("/seen", Answer("seen", headers={"Set-Cookie": cookies[1]}))
    site.page("/set", Answer("set", headers={"Set-Cookie": "lang=de; Path=/; HttpOnly"}))
    return site


@pytest.fixture
async def own(agent: Agent) -> AsyncIterator[str]:
    """Make a session without cookies, which ports do not keep apart."""
    await agent.call("create_session", sessionId="listed")
    yield "listed"
    await agent.call("close_session", sessionId="listed")


async def logins(agent: Agent, session: str, **arguments: AnyJson) -> list[AnyJson]:
    return list((await agent.call("list_logins", sessionId=session, **arguments))["logins"])


async def test_a_site_is_listed_once_its_cookie_looks_like_a_login(agent: Agent, account: Site, own: str) -> None:
    for path in ("/seen", "/set"):
        await agent.call("goto", pageId="p", sessionId=own, url=account.url(path))
    assert await logins(agent, own) == []
    await agent.call("goto", pageId="p", url=account.url("/login"))
    await agent.call("click", pageId="p", selector="text=In")
    found = await agent.reply("list_logins", sessionId=own)
    (login,) = found.json()["result"]["logins"]
    assert (login["site"], login["cookies"], login["signedInBy"]) == ("127.0.0.1", 1, agent.label)
    assert login["lastUsedBy"] == agent.label
    in_days = (time.mktime(time.strptime(login["until"], "%Y-%m-%dT%H:%M:%SZ")) - time.time()) / 86_400
    assert 5.5 < in_days < 8.5  # in whatever zone
    assert VALUE not in found.text


async def test_a_login_that_ends_with_the_browser_says_so_and_one_that_ends_soon_whom_to_ask(
    agent: Agent, account: Site, own: str
) -> None:
    of_session = {"name": "session", "value": VALUE, "url": account.url("/")}
    await agent.call("set_cookies", sessionId=own, cookies=[of_session])
    (login,) = await logins(agent, own)
    assert login["until"] == "the browser forgets it"
    assert "signedInBy" not in login  # nobody was at a page to sign in at
    await agent.call("set_cookies", sessionId=own, cookies=[{**of_session, "expires": time.time() + 3_000}])
    told = await agent.call("list_logins", sessionId=own)
    assert "127.0.0.1: within a day" in told["advice"]
    assert 'request_human {"kind": "login"' in told["advice"]


async def test_a_token_for_some_origins_lists_the_logins_there_alone(
    agent: Agent, service: RunningService, account: Site, own: str
) -> None:
    here, elsewhere = account.url("/"), account.url("/", host="localhost")
    for url in (here, elsewhere):
        await agent.call("set_cookies", sessionId=own, cookies=[{"name": "session", "value": VALUE, "url": url}])
    await agent.call("share_session", sessionId=own, access="act")
    async with service.agent("narrow", limits={"origins": [here.rstrip("/")]}) as narrow:
        (login,) = await logins(narrow, own, urls=[here])
        assert login["site"] == "127.0.0.1"
        for urls in ({}, {"urls": [elsewhere]}):
            assert (await narrow.error("list_logins", sessionId=own, **urls))["code"] == "FORBIDDEN"
    async with service.agent("none", limits={"cookies": "none"}) as none:
        assert (await none.error("list_logins", sessionId=own))["code"] == "FORBIDDEN"


async def test_logins_that_are_bound_to_this_browser_are_told_wherever_they_would_be_copied(
    agent: Agent, service: RunningService, account: Site, own: str
) -> None:
    bind = {"Secure-Session-Registration": '(ES256);path="/start"', "Set-Cookie": f"sid={VALUE}; Path=/; HttpOnly"}
    account.page("/in", Answer("in", headers=bind))
    await agent.call("set_cookies", sessionId=own, cookies=[{"name": "auth", "value": VALUE, "url": "http://a.test/"}])
    copied = await agent.call("create_session", sessionId="free", **{"from": own})
    assert "bound" not in copied["copied"]
    await agent.call("goto", pageId="p", sessionId=own, url=account.url("/in"))
    await become(lambda: "boundHosts" in service.session(own).logins.saved)
    assert [(each["site"], each["bound"]) for each in await logins(agent, own)] == [
        ("127.0.0.1", True),
        ("a.test", False),
    ]
    copied = await agent.call("create_session", sessionId="bound", **{"from": own})
    exported = await agent.call("export_session", sessionId=own)
    state = (await agent.http.get(f"/api/files/{exported['artifact']['artifactId']}")).json()
    imported = await agent.call("import_login", sessionId=own, content=json.dumps({**state, "origins": []}))
    for told in (copied["copied"], exported["observed"], imported["observed"]):
        assert "logins bound" in told.replace("logins are bound", "logins bound"), told
        assert "within minutes elsewhere: 127.0.0.1. There a person signs in anew: login {}" in told
        assert "browse-together attach" in told
    for session in ("free", "bound"):
        await agent.call("close_session", sessionId=session)
