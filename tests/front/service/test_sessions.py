"""Tests sessions: their owners, what is shared, and acts that all pages of one would feel."""

import pytest

from browse_together.contract import catalogue
from browse_together.contract.actions.traits import Scope
from tests.support.bodies import smallest
from tests.support.json import AnyJson
from tests.support.listening import sent
from tests.support.service import Agent, RunningService
from tests.support.sharing import StartService
from tests.support.site import Answer, Site
from tests.support.waiting import become

pytestmark = pytest.mark.anyio

HTML = "<h1>Account</h1><button id=b>b</button>"


@pytest.fixture
async def mine(agent: Agent, site: Site) -> str:
    """Make a session of the agent's own, with a page in it that has a cookie."""
    created = await agent.call("create_session", sessionId="mine")
    site.page("/", Answer(HTML, headers={"set-cookie": "token=s3cret; Path=/"}))
    await agent.call("goto", sessionId="mine", pageId="inside", url=site.url("/"))
    return str(created["sessionId"])


async def test_a_session_has_cookies_of_its_own(agent: Agent, site: Site, mine: str) -> None:
    cookies = (await agent.call("get_cookies", sessionId=mine))["cookies"]
    assert [(cookie["name"], cookie["value"]) for cookie in cookies] == [("token", "s3cret")]
    await agent.call("goto", pageId="outside", url=site.page("/plain", "plain"))
    seen = (await agent.call("evaluate_script", pageId="outside", expression="document.cookie"))["value"]
    assert "token=" not in seen  # other tests leave cookies of theirs in the shared login


async def test_a_session_without_a_name_gets_a_free_one(agent: Agent) -> None:
    first, second = [(await agent.call("create_session"))["sessionId"] for _ in range(2)]
    assert first != second


async def test_a_name_that_a_session_or_page_has_is_taken(agent: Agent, mine: str) -> None:
    for taken in (mine, "default", "inside"):
        assert (await agent.error("create_session", sessionId=taken))["code"] == "VALIDATION_ERROR"


@pytest.mark.parametrize(
    ("given", "field", "code"),
    [
        ({"from": "nowhere"}, None, "SESSION_NOT_FOUND"),
        ({"from": "own", "sessionId": "own"}, None, "SESSION_NOT_FOUND"),
        ({"from": "inside"}, None, "SESSION_NOT_FOUND"),
        ({"sites": ["https://shop.example"]}, "sites", "VALIDATION_ERROR"),
        ({"from": "default", "sites": ["shop.example"]}, "sites.0", "VALIDATION_ERROR"),
        ({"from": "default", "sites": ["https://shop.example/cart"]}, "sites.0", "VALIDATION_ERROR"),
        ({"from": "default", "sites": ["https://shop.example:99999"]}, "sites.0", "VALIDATION_ERROR"),
        ({"from": "default", "sites": [f"https://s{n}.example" for n in range(1_000)]}, "sites", "VALIDATION_ERROR"),
        ({"from": "default", "proxy": {"server": "http://127.0.0.1:9"}}, "proxy", "VALIDATION_ERROR"),
    ],
    ids=str,
)
@pytest.mark.usefixtures("mine")
async def test_a_copy_that_cannot_be_is_refused_and_leaves_no_session(
    agent: Agent, given: dict[str, AnyJson], field: str | None, code: str
) -> None:
    before = (await agent.call("list_sessions"))["sessions"]
    error = await agent.error("create_session", **given)
    assert (error["code"], error["details"].get("context", {}).get("field")) == (code, field)
    assert (await agent.call("list_sessions"))["sessions"] == before


async def test_in_anothers_session_only_listing_is_allowed(agent: Agent, other: Agent, site: Site, mine: str) -> None:
    for name, action in catalogue.ACTIONS.items():
        if action.scope is Scope.SERVICE and {*action.id_fields} <= {"to"}:
            continue
        ways: list[dict[str, str]] = [{"from" if action.makes_session is True else "sessionId": mine}]
        if action.scope is Scope.SERVICE and "page_id" in action.id_fields:
            ways = [{"pageId": "inside"}]
        if action.scope is Scope.PAGE:
            ways += [{"pageId": "inside"}, {"sessionId": mine, "pageId": "inside"}]
        if action.unaddressed.opens:
            ways += [{"sessionId": mine, "pageId": "new"}]
        for way in ways:
            error = await other.error(name, **smallest(action, **way))
            assert error["code"] == "FORBIDDEN", (name, way, error)
            assert "s3cret" not in str(error)
    listed = await other.reply("list_pages", sessionId=mine)
    assert [page["pageId"] for page in listed.json()["result"]["others"]] == ["inside"]
    assert site.url("/") not in listed.text
    assert {"sessionId": mine, "usable": False}.items() <= (await other.call("list_sessions"))["sessions"][-1].items()
    assert len((await agent.call("get_cookies", sessionId=mine))["cookies"]) == 1


async def test_all_may_use_a_shared_session_but_only_its_owner_may_close_it(
    agent: Agent, other: Agent, site: Site, mine: str
) -> None:
    await agent.call("share_session", sessionId=mine)
    await other.call("goto", sessionId=mine, pageId="guest", url=site.url("/"))
    assert (await other.call("evaluate_script", pageId="guest", expression="document.cookie"))[
        "value"
    ] == "token=s3cret"
    for action in ("close_session", "share_session"):
        assert (await other.error(action, sessionId=mine))["code"] == "FORBIDDEN"
    await agent.call("share_session", sessionId=mine, access="private")
    assert (await other.error("content", pageId="guest"))["code"] == "FORBIDDEN"


async def test_a_closed_session_is_gone_with_its_pages(agent: Agent, mine: str) -> None:
    await agent.call("close_session", sessionId=mine)
    error = await agent.error("click", pageId="inside", selector="#b")
    assert (error["code"], error["status"]) == ("SESSION_NOT_FOUND", 404)
    assert 'create_session {"sessionId": "mine"}' in error["hint"]
    assert (await agent.error("get_cookies", sessionId=mine))["code"] == "SESSION_NOT_FOUND"
    assert [each["sessionId"] for each in (await agent.call("list_sessions"))["sessions"]] == ["default"]


async def test_a_closed_pages_name_in_an_own_session_does_not_come_back_in_the_shared_login(
    agent: Agent, other: Agent, site: Site, mine: str
) -> None:
    url = site.page("/again", HTML)
    ways = [f'goto {{"pageId": "inside", "sessionId": "{each}", "url": "{url}"}}' for each in (mine, "default")]
    await agent.call("close_page", pageId="inside")
    for action in ("goto", "open_page", "navigate_to"):
        error = await agent.error(action, pageId="inside", url=url)
        assert (error["code"], site.counts["/again"]) == ("PAGE_NOT_FOUND", 0)
        assert all(way in error["hint"] for way in ways)
    assert ways[0] in (await agent.error("click", pageId="inside", selector="#b"))["hint"].replace('"..."', f'"{url}"')
    reply = (await agent.reply("goto", pageId="inside", sessionId=mine, url=url)).json()
    assert reply["page"]["sessionId"] == mine
    await agent.call("close_session", sessionId=mine)
    error = await agent.error("goto", pageId="inside", url=url)
    assert (error["code"], site.counts["/again"]) == ("SESSION_NOT_FOUND", 1)
    assert ways[1] in error["hint"]
    assert (await other.reply("goto", pageId="inside", url=url)).json()["page"]["sessionId"] == "default"
    await other.call("close_page", pageId="inside")
    reply = (await agent.reply("goto", pageId="inside", sessionId="default", url=url)).json()
    assert reply["page"]["sessionId"] == "default"
    await agent.call("close_page", pageId="inside")
    await agent.call("goto", pageId="inside", url=url)  # it was of the shared login the last time


async def test_running_and_queued_calls_say_that_their_session_closed(
    agent: Agent, service: RunningService, mine: str
) -> None:
    first = sent(agent, "first", "evaluate_script", pageId="inside", expression="new Promise(() => {})", timeout=20_000)
    await become(lambda: bool(service.entry("inside").queue.busy))
    calls = [first, sent(agent, "second", "click", pageId="inside", selector="#b")]
    calls.append(sent(agent, "third", "wait_for_selector", pageId="inside", selector="#never", timeout=20_000))
    await become(lambda: len(service.running_calls()) == len(calls))
    await agent.call("close_session", sessionId=mine)
    assert [(await call).json()["error"]["code"] for call in calls] == ["SESSION_NOT_FOUND"] * 3


async def test_a_page_with_the_name_of_a_session_is_its_main_page(agent: Agent, site: Site, mine: str) -> None:
    url = site.url("/")
    assert (await agent.error("goto", pageId=mine, sessionId="default", url=url))["code"] == "VALIDATION_ERROR"
    reply = (await agent.reply("goto", pageId=mine, url=url)).json()
    assert (reply["page"]["pageId"], reply["page"]["sessionId"]) == (mine, mine)
    main = (await agent.reply("open_page", sessionId=mine)).json()["page"]["pageId"]
    await agent.call("close_session", sessionId=mine)
    assert (await agent.error("goto", pageId=mine, url=url))["code"] == "SESSION_NOT_FOUND"
    reply = (await agent.reply("goto", url=url)).json()  # nor is a name that is made for it one of there
    assert reply["page"]["sessionId"] == "default"
    assert reply["page"]["pageId"] != main


async def test_the_shared_login_belongs_to_all_and_is_neither_closed_nor_taken(agent: Agent) -> None:
    for action in ("close_session", "share_session"):
        assert (await agent.error(action, sessionId="default"))["code"] == "FORBIDDEN"


# --- acts that others would feel -----------------------------------------------------------------------------------


async def test_clearing_the_cookies_of_a_session_in_which_others_work_is_refused_and_names_them(
    agent: Agent, other: Agent, site: Site
) -> None:
    site.page("/in", Answer(HTML, headers={"set-cookie": "login=ana; Path=/"}))
    await agent.call("goto", pageId="cart", url=site.url("/in"))
    error = await other.error("clear_cookies")
    assert (error["status"], error["code"]) == (409, "AFFECTS_OTHERS")
    assert f'"cart" of "{agent.label}"' in error["message"]
    assert "clear_cookies {" in error["hint"]
    assert '"affectOthers": true' in error["hint"]
    assert "login=ana" in (await agent.call("evaluate_script", pageId="cart", expression="document.cookie"))["value"]
    assert (await other.call("clear_cookies", domain="example.com"))["cleared"] == 0
    assert (await other.call("clear_cookies", affectOthers=True))["cleared"] > 0
    assert (await agent.call("evaluate_script", pageId="cart", expression="document.cookie"))["value"] == ""


async def test_clearing_cookies_of_a_domain_that_others_are_at_is_refused_too(
    agent: Agent, other: Agent, site: Site
) -> None:
    await agent.call("goto", pageId="cart", url=site.page("/in", HTML))
    assert (await other.error("clear_cookies", domain="127.0.0.1"))["code"] == "AFFECTS_OTHERS"
    await agent.call("release_page", pageId="cart")
    await other.call("clear_cookies", domain="127.0.0.1")


async def test_cookies_are_cleared_by_domain_name_and_path(agent: Agent, site: Site) -> None:
    await agent.call("create_session", sessionId="own")
    headers = {"set-cookie": "one=1; Path=/"}
    site.page("/one", Answer(HTML, headers=headers))
    site.page("/two", Answer(HTML, headers={"set-cookie": "two=2; Path=/"}))
    for path in ("/one", "/two"):
        await agent.call("goto", sessionId="own", pageId="p", url=site.url(path))
    assert (await agent.call("clear_cookies", sessionId="own", name="one"))["cleared"] == 1
    kept = (await agent.call("get_cookies", sessionId="own", urls=[site.url("/")]))["cookies"]
    assert [cookie["name"] for cookie in kept] == ["two"]
    assert (await agent.call("clear_cookies", sessionId="own", path="/none"))["cleared"] == 0
    assert (await agent.call("clear_cookies", sessionId="own", domain="127.0.0.1"))["cleared"] == 1


async def test_a_session_that_nobody_uses_is_closed_unless_it_is_kept(start: StartService) -> None:
    service = await start(session_idle_ms=1_000)
    async with service.agent() as agent:
        await agent.call("create_session", sessionId="idle")
        await agent.call("create_session", sessionId="kept", persistent=True)
        for record in service.parts.directory.sessions.all():
            record.accessed_at -= 2
        await service.close_expired_sessions()
        names = [one["sessionId"] for one in (await agent.call("list_sessions"))["sessions"]]
        assert names == ["default", "kept"]
        over = await agent.error("get_session", sessionId="idle")
        assert (over["code"], '"persistent": true' in over["hint"]) == ("SESSION_EXPIRED", True)
