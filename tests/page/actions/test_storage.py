"""Tests local and session storage of a page's origin, and what its cookies are set to."""

import json
import time

import pytest

from tests.support.json import AnyJson
from tests.support.service import Agent
from tests.support.site import Site
from tests.support.tab import Tab

pytestmark = [pytest.mark.anyio, pytest.mark.one_window]

ALL = "({...localStorage})"
EMPTIED = "new Promise(ok => { const look = () => localStorage.length ? setTimeout(look, 20) : ok(true); look() })"
"""A script that waits until the page's storage is empty, because another page's process learns of a change a little
later."""


# --- storage ---------------------------------------------------------------------------------------------------------


@pytest.mark.own_window
async def test_storage_is_read_whole_or_by_keys(tab: Tab) -> None:
    keeps = "localStorage.a = '1'; localStorage.b = 'zwei'; sessionStorage.a = 'mine'"
    await tab.show(f"<script>localStorage.clear(); {keeps}</script>")
    whole = await tab.call("get_storage")
    assert whole == {"items": {"a": "1", "b": "zwei"}, "count": 2, "origin": tab.site.url("").rstrip("/")}
    assert (await tab.call("get_storage", keys=["b", "none"]))["items"] == {"b": "zwei", "none": None}
    assert (await tab.call("get_storage", kind="session"))["items"] == {"a": "mine"}
    assert len((await tab.call("get_storage", budget=100, params={"keys": ["x" * 200]}))["items"]) == 100
    await tab.call("clear_storage")


async def test_items_are_set_removed_and_cleared_as_the_page_sees_it(tab: Tab) -> None:
    await tab.show("<script>localStorage.clear(); localStorage.old = 'kept'</script>")
    await tab.call("set_storage", params={"items": {"token": "abc", "cart": {"tea": [1, None]}, "n": 3}})
    assert await tab.sees(ALL) == {"old": "kept", "token": "abc", "cart": '{"tea": [1, null]}', "n": "3"}
    removed = await tab.call("remove_storage", keys=["token", "never"])
    assert (removed["removed"], "token" in await tab.sees(ALL)) == (1, False)
    await tab.call("set_storage", kind="session", params={"items": {"tab": "1"}})
    assert (await tab.call("clear_storage"))["removed"] == 3
    assert [await tab.sees(ALL), await tab.sees("({...sessionStorage})")] == [{}, {"tab": "1"}]


@pytest.mark.own_window
async def test_items_for_which_there_is_no_room_change_nothing(tab: Tab) -> None:
    await tab.show("<script>localStorage.clear(); localStorage.a = 'old'</script>")
    error = await tab.error("set_storage", params={"items": {"a": "new", "b": "x" * 6_000_000}})
    assert (error["code"], "quota" in error["message"]) == ("SCRIPT_EXECUTION_FAILED", True)
    assert await tab.sees(ALL) == {"a": "old"}
    await tab.call("clear_storage")


async def test_a_blank_page_has_no_storage(agent: Agent) -> None:
    await agent.call("open_page", pageId="blank")
    error = await agent.error("get_storage", pageId="blank")
    assert (error["code"], "goto {" in error["hint"]) == ("VALIDATION_ERROR", True)


async def test_local_storage_is_not_written_while_others_work_at_the_origin(
    agent: Agent, other: Agent, site: Site
) -> None:
    await agent.call(
        "goto",
        pageId="cart",
        url=site.page("/cart", "<script>localStorage.clear(); localStorage.login = 'ana'</script>"),
    )
    await other.call("goto", pageId="mine", url=site.url("/cart"))
    acts: tuple[tuple[str, dict[str, AnyJson]], ...] = (
        ("set_storage", {"items": {"login": "eve"}}),
        ("remove_storage", {"keys": ["login"]}),
        ("clear_storage", {}),
    )
    for act, arguments in acts:
        error = await other.error(act, pageId="mine", params=arguments)
        assert (error["code"], f'"cart" of "{agent.label}"' in error["message"]) == ("AFFECTS_OTHERS", True)
        assert '"kind": "session"' in error["hint"]
        await other.call(act, pageId="mine", kind="session", params=arguments)
    assert (await agent.call("get_storage", pageId="cart"))["items"] == {"login": "ana"}
    elsewhere = site.url("/cart", "localhost")
    await other.call("goto", pageId="mine", url=elsewhere)  # another origin concerns nobody
    assert (await other.call("clear_storage", pageId="mine"))["removed"] == 1
    await other.call("goto", pageId="mine", url=site.url("/cart"))
    assert (await other.call("clear_storage", pageId="mine", affectOthers=True))["removed"] == 1
    assert (await agent.call("evaluate_script", pageId="cart", expression=EMPTIED))["value"] is True
    assert (await agent.call("get_storage", pageId="cart"))["items"] == {}


# --- cookies ---------------------------------------------------------------------------------------------------------


async def test_cookies_are_set_as_the_server_and_the_page_see_them(agent: Agent, site: Site) -> None:
    await agent.call("create_session", sessionId="own")
    url, tomorrow = site.page("/in", "<h1>in</h1>"), round(time.time()) + 86_400
    cookies = [
        {"name": "login", "value": "ana", "url": url},
        {"name": "secret", "value": "s3", "domain": "127.0.0.1", "httpOnly": True, "sameSite": "Lax"},
        {"name": "late", "value": "x", "domain": "127.0.0.1", "path": "/in", "expires": tomorrow},
        {"name": "elsewhere", "value": "y", "domain": ".example.com", "secure": True, "sameSite": "None"},
    ]
    assert (await agent.call("set_cookies", sessionId="own", cookies=cookies))["set"] == 4
    await agent.call("goto", sessionId="own", pageId="p", url=url)
    sent = next(received.headers["Cookie"] for received in site.received if received.path == "/in")
    assert set(sent.split("; ")) == {"login=ana", "secret=s3", "late=x"}
    seen = (await agent.call("evaluate_script", pageId="p", expression="document.cookie"))["value"]
    assert ("login=ana" in seen, "secret" in seen) == (True, False)
    for filters, names in (
        ({"urls": [site.url("/")]}, ["login", "secret"]),
        ({"name": "late"}, ["late"]),
        ({"path": "/in"}, ["late"]),
        ({"domain": "example.com"}, ["elsewhere"]),
        ({"domain": "127.0.0.1", "path": "/"}, ["login", "secret"]),
    ):
        found = (await agent.call("get_cookies", sessionId="own", **filters))["cookies"]
        assert sorted(cookie["name"] for cookie in found) == names, filters
    cut = await agent.call("get_cookies", sessionId="own", budget=100)
    rest = await agent.call("content", cursor=cut["cursor"])
    assert [each["name"] for each in json.loads(cut["cookies"] + rest["content"])] == [
        each["name"] for each in (await agent.call("get_cookies", sessionId="own"))["cookies"]
    ]
    late = (await agent.call("get_cookies", sessionId="own", name="late"))["cookies"][0]
    assert (late["expires"], late["path"], late["sameSite"]) == (tomorrow, "/in", "Lax")


async def test_a_cookie_that_the_browser_rejects_is_reported(agent: Agent) -> None:
    await agent.call("create_session", sessionId="own")
    cookies = [
        {"name": "gone", "value": "x", "domain": "a.example", "expires": 1},
        {"name": "kept", "value": "y", "domain": "a.example"},
    ]
    told = await agent.call("set_cookies", sessionId="own", cookies=cookies)
    assert (told["set"], told["notKept"], "gone" in told["observed"]) == (1, ["gone"], True)


async def test_cookies_that_cannot_be_set_are_refused(agent: Agent) -> None:
    await agent.call("create_session", sessionId="own")
    for cookie, said in (
        ({"name": "a", "value": "x"}, "needs 'url' or 'domain'"),
        ({"name": "a", "value": "x", "url": "https://a.example", "domain": "a.example"}, "not both"),
        ({"name": "a", "value": "x", "domain": "a.example", "sameSite": "None"}, "needs secure"),
        ({"name": "a", "value": "x", "domain": "a.example", "samesite": "Lax"}, "cookies.0.samesite"),
        ({"name": "__Host-a", "value": "x", "domain": "a.example"}, "cookies"),
        ({"name": "a", "value": "x", "domain": "169.254.169.254"}, "169.254.169.254"),
    ):
        error = await agent.error("set_cookies", sessionId="own", cookies=[cookie])
        assert (error["status"] in {403, 422}, said in error["message"]) == (True, True), error
    assert (await agent.call("get_cookies", sessionId="own"))["count"] == 0


async def test_cookies_of_a_domain_are_cleared_with_those_below_it_and_no_others(agent: Agent) -> None:
    await agent.call("create_session", sessionId="own")
    hosts = ("shop.example", ".shop.example", "a.shop.example", "bookshop.example", "shopXexample")
    cookies = [{"name": f"c{n}", "value": "x", "domain": host} for n, host in enumerate(hosts)]
    await agent.call("set_cookies", sessionId="own", cookies=cookies)
    cleared = await agent.call("clear_cookies", sessionId="own", domain="shop.example")
    left = (await agent.call("get_cookies", sessionId="own"))["cookies"]
    assert (cleared["cleared"], {cookie["name"] for cookie in left}) == (3, {"c3", "c4"})


async def test_cookies_of_a_domain_that_others_are_at_are_refused_and_their_values_recorded_nowhere(
    agent: Agent, other: Agent, site: Site
) -> None:
    await agent.call("goto", pageId="cart", url=site.page("/in", "<h1>in</h1>"))
    mine = [{"name": "login", "value": "eves-secret", "domain": "127.0.0.1"}]
    error = await other.error("set_cookies", cookies=mine)
    assert (error["code"], '"cart"' in error["message"]) == ("AFFECTS_OTHERS", True)
    assert (await other.call("set_cookies", cookies=[{**mine[0], "domain": "sub.example.com"}]))["set"] == 1
    await other.call("set_cookies", cookies=mine, affectOthers=True)
    await other.call("goto", pageId="mine", url=site.url("/in"))
    await other.call("set_storage", pageId="mine", kind="session", params={"items": {"token": "eves-secret"}})
    records = json.dumps(await other.call("get_activity", client="me", format="records"))
    assert ("eves-secret" in records, '"name": "login"' in records, "(1 entry)" in records) == (False, True, True)
    for domain in ("127.0.0.1", "sub.example.com"):
        await other.call("clear_cookies", domain=domain, affectOthers=True)
