"""Tests that an act that ends logins keeps them for a day, for whom they belonged to, and that its reply gives the call
that puts them back."""

import json
import re

import pytest

from browse_together.contract.actions.traits import Effect
from browse_together.contract.catalogue import ACTIONS
from tests.support.json import AnyJson
from tests.support.service import Agent
from tests.support.site import Answer, Site

pytestmark = pytest.mark.anyio

SECRET = "the-value-of-a-login"
CALL = re.compile(r"kept for a day: restore_session_state (\{.*?\})")


def way_back(observed: str) -> dict[str, AnyJson]:
    """Return the arguments of the call that puts the logins back, as a reply gives it."""
    found = CALL.search(observed)
    assert found is not None, observed
    arguments: dict[str, AnyJson] = json.loads(found[1])
    return arguments


async def cookies(agent: Agent, session_id: str = "own") -> dict[str, str]:
    found = (await agent.call("get_cookies", sessionId=session_id))["cookies"]
    return {each["name"]: each["value"] for each in found}


def cookie(name: str, value: str) -> dict[str, str]:
    return {"name": name, "value": value, "domain": "127.0.0.1"}


async def sees(agent: Agent, page_id: str, expression: str) -> AnyJson:
    return (await agent.call("evaluate_script", pageId=page_id, expression=expression))["value"]


@pytest.fixture
async def own(agent: Agent) -> Agent:
    """The agent, with a session of its own that has a login."""
    await agent.call("create_session", sessionId="own")
    await agent.call("set_cookies", sessionId="own", cookies=[cookie("login", SECRET), cookie("theme", "dark")])
    return agent


# --- what comes back -------------------------------------------------------------------------------------------------


async def test_cleared_cookies_are_put_back_beside_what_came_since(own: Agent) -> None:
    cleared = await own.reply("clear_cookies", sessionId="own", name="login")
    await own.call("set_cookies", sessionId="own", cookies=[cookie("theme", "light")])
    told = await own.reply("restore_session_state", **way_back(cleared.json()["result"]["observed"]))
    assert await cookies(own) == {"login": SECRET, "theme": "light"}
    records = await own.reply("get_activity", client="me", format="records")
    assert not any(SECRET in text for text in (cleared.text, told.text, records.text))


async def test_a_closed_session_opens_again_with_its_options_and_logins(agent: Agent, site: Site) -> None:
    page = Answer("<h1>in</h1>", headers={"set-cookie": f"sid={SECRET}; Path=/"})
    await agent.call("create_session", sessionId="own", locale="de-DE", persistent=True)
    await agent.call("goto", sessionId="own", pageId="in", url=site.page("/in", page))
    await sees(agent, "in", "localStorage.cart = 'tea'")
    closed = await agent.reply("close_session", sessionId="own")
    assert SECRET not in closed.text
    restored = await agent.call("restore_session_state", **way_back(closed.json()["result"]["observed"]))
    assert "1 cookies, storage of 1 origins" in restored["observed"]
    assert await cookies(agent) == {"sid": SECRET}
    await agent.call("goto", sessionId="own", pageId="in", url=site.page("/plain", "<h1>plain</h1>"))
    assert await sees(agent, "in", "localStorage.cart + navigator.language") == "teade-DE"
    assert (await agent.call("get_session", sessionId="own"))["persistent"]


async def test_restored_logins_are_replaced_by_those_before(own: Agent, site: Site) -> None:
    page = site.page("/in", "<script>localStorage.a ??= 1</script>")
    await own.call("goto", sessionId="own", pageId="in", url=page)
    await own.call("save_session_state", sessionId="own")
    await own.call("set_cookies", sessionId="own", cookies=[cookie("login", "ben")])
    await sees(own, "in", "localStorage.a = 2")
    restored = await own.call("restore_session_state", sessionId="own")
    assert await cookies(own) == {"login": SECRET, "theme": "dark"}
    await own.call("restore_session_state", **way_back(restored["observed"]))
    assert ((await cookies(own))["login"], await sees(own, "in", "localStorage.a")) == ("ben", "2")


async def test_what_an_import_replaces_is_kept(own: Agent, site: Site) -> None:
    origin = site.url("").rstrip("/")
    await own.call("goto", sessionId="own", pageId="in", url=site.page("/in", "<h1>in</h1>"))
    await sees(own, "in", "localStorage.token = 'ana'")
    state = {
        "cookies": [{**cookie("login", "ben"), "path": "/"}],
        "origins": [{"origin": origin, "localStorage": [{"name": "token", "value": "ben"}]}],
    }
    brought = await own.call("import_login", sessionId="own", content=json.dumps(state), affectOthers=True)
    assert ((await cookies(own))["login"], await sees(own, "in", "localStorage.token")) == ("ben", "ben")
    await own.call("restore_session_state", **way_back(brought["observed"]))
    assert ((await cookies(own))["login"], await sees(own, "in", "localStorage.token")) == (SECRET, "ana")


async def test_databases_that_an_import_replaces_are_kept(own: Agent, site: Site) -> None:
    make = (
        "new Promise(done => { const open = indexedDB.open('auth'); open.onupgradeneeded = () =>"
        " open.result.createObjectStore('t').put(WHO, 'who'); open.onsuccess = () => (open.result.close(), done(1)) })"
    )
    who = (
        "new Promise(done => { const open = indexedDB.open('auth'); open.onsuccess = () => { const get ="
        " open.result.transaction('t').objectStore('t').get('who'); get.onsuccess = () =>"
        " (open.result.close(), done(get.result)) } })"
    )
    url = site.page("/in", "<h1>in</h1>")
    await own.call("goto", sessionId="own", pageId="in", url=url)
    await sees(own, "in", make.replace("WHO", "'ben'"))
    exported = await own.call("export_session", sessionId="own")
    content = (await own.http.get(f"/api/files/{exported['artifact']['artifactId']}")).text
    await sees(own, "in", "new Promise(done => { indexedDB.deleteDatabase('auth').onsuccess = () => done(1) })")
    await sees(own, "in", make.replace("WHO", "'ana'"))
    brought = await own.call("import_login", sessionId="own", content=content, affectOthers=True)
    await own.call("goto", pageId="in", url=url)
    assert await sees(own, "in", who) == "ben"
    await own.call("restore_session_state", **way_back(brought["observed"]))
    assert await sees(own, "in", who) == "ana"


@pytest.mark.parametrize("how", ["alone", "in a batch"])
async def test_cleared_local_storage_is_put_back(agent: Agent, site: Site, how: str) -> None:
    url = site.page("/s", "<script>localStorage.clear()</script>")
    await agent.call("create_session", sessionId="own")
    await agent.call("goto", pageId="p", sessionId="own", url=url)
    await agent.call("set_storage", pageId="p", items={"token": "ana", "size": "2"})
    if how == "alone":
        observed = (await agent.call("clear_storage", pageId="p"))["observed"]
    else:
        steps = [
            {"action": "clear_storage"},
            {"action": "set_storage", "items": {"size": "3"}},
            {"action": "clear_storage"},
        ]
        observed = (await agent.call("batch", pageId="p", steps=steps))["steps"][-1]["observed"]
    await agent.call("restore_session_state", **way_back(observed), affectOthers=True)
    assert (await agent.call("get_storage", pageId="p"))["items"] == {"token": "ana", "size": "2"}


async def test_a_page_made_by_a_launch_ends_its_session_and_tells_how_its_logins_come_back(agent: Agent) -> None:
    launched = await agent.call("browser_launch", viewport={"width": 640, "height": 480})
    page_id = launched["pageId"]
    await agent.call("set_cookies", sessionId=page_id, cookies=[cookie("login", SECRET)])
    closed = await agent.call("close_page", pageId=page_id)
    assert f"made for it alone, session {page_id} is closed" in closed["observed"]
    assert page_id not in [each["sessionId"] for each in (await agent.call("list_sessions"))["sessions"]]
    await agent.call("restore_session_state", **way_back(closed["observed"]))
    assert await cookies(agent, page_id) == {"login": SECRET}
    await agent.call("close_session", sessionId=page_id)


async def test_a_browser_that_is_quit_tells_how_its_logins_come_back(agent: Agent) -> None:
    page_id = (await agent.call("browser_launch", viewport={"width": 640, "height": 480}))["pageId"]
    await agent.call("set_cookies", sessionId=page_id, cookies=[cookie("login", SECRET)])
    reply = (await agent.reply("browser_quit")).json()
    assert way_back(" ".join(each["text"] for each in reply["notices"]))["sessionId"] == page_id


# --- where nothing is kept, and nothing said -------------------------------------------------------------------------


@pytest.mark.parametrize("action", ["clear_cookies", "close_session", "clear_storage", "restore_session_state"])
async def test_nothing_is_said_where_there_was_no_login(agent: Agent, site: Site, action: str) -> None:
    await agent.call("create_session", sessionId="own")
    await agent.call("save_session_state", sessionId="own")
    address: dict[str, AnyJson] = {"sessionId": "own"}
    if action == "clear_storage":
        await agent.call("goto", sessionId="own", pageId="p", url=site.page("/s", "<h1>s</h1>"))
        address = {"pageId": "p"}
    reply = await agent.call(action, **address)
    assert ("kept" in reply, "kept" in reply["observed"]) == (False, False)


async def test_an_act_that_cannot_keep_the_logins_says_so(own: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("browser_service.sessions.kept_logins.MOST_BYTES_OF_CLIENT", 100)
    cleared = await own.call("clear_cookies", sessionId="own")
    assert ("its logins are NOT kept" in cleared["observed"], "kept" in cleared) == (True, False)
    closed = await own.call("close_session", sessionId="own")
    assert "kept" not in closed


# --- whose they are --------------------------------------------------------------------------------------------------


async def test_nobody_else_gets_the_logins_back(own: Agent, other: Agent) -> None:
    cleared, closed = (
        await own.call("clear_cookies", sessionId="own", name="theme"),
        await own.call("close_session", sessionId="own"),
    )
    back = way_back(closed["observed"])
    assert (await other.error("restore_session_state", **back))["code"] == "SESSION_NOT_FOUND"
    await other.call("create_session", sessionId="own")
    for each in (back, way_back(cleared["observed"])):
        error = await other.error("restore_session_state", **each)
        assert (error["code"], "Saved:" in error["hint"]) == ("INVALID_REQUEST", False)
    assert await cookies(other) == {}
    assert (await own.error("restore_session_state", **back))["code"] == "FORBIDDEN"
    await own.call("restore_session_state", sessionId="mine", name=back["name"])  # the name is another's now
    assert await cookies(own, "mine") == {"login": SECRET}


async def test_who_used_a_shared_session_gets_back_what_it_cleared_only_while_it_may_use_it(
    own: Agent, other: Agent
) -> None:
    await own.call("share_session", sessionId="own")
    back = way_back((await other.call("clear_cookies", sessionId="own"))["observed"])
    await own.call("share_session", sessionId="own", access="private")
    assert (await other.error("restore_session_state", **back))["code"] == "FORBIDDEN"
    await other.call("create_session", sessionId="theirs")
    assert (await other.error("restore_session_state", **back | {"sessionId": "theirs"}))["code"] == "INVALID_REQUEST"
    await own.call("restore_session_state", **back)
    assert (await cookies(own))["login"] == SECRET
    await own.call("close_session", sessionId="own")
    assert (await other.error("restore_session_state", **back))["code"] == "SESSION_NOT_FOUND"


async def test_what_was_strict_does_not_come_back_into_what_is_not(agent: Agent) -> None:
    await agent.call("create_session", sessionId="own", guarded=True)
    await agent.call("set_cookies", sessionId="own", cookies=[cookie("login", SECRET)])
    back = way_back((await agent.call("close_session", sessionId="own"))["observed"])
    await agent.call("create_session", sessionId="own")
    assert (await agent.error("restore_session_state", **back))["code"] == "INVALID_REQUEST"
    await agent.call("close_session", sessionId="own")
    await agent.call("restore_session_state", **back)
    assert (await agent.call("get_session", sessionId="own"))["guarded"]


async def test_a_name_that_is_lost_is_found_again(own: Agent) -> None:
    kept = (await own.call("clear_cookies", sessionId="own"))["kept"]
    error = await own.error("restore_session_state", sessionId="own", name="what was it")
    assert kept in error["hint"]


def test_each_destroying_act_on_logins_keeps_them() -> None:
    destroys = {name for name, action in ACTIONS.items() if action.effect is Effect.DESTROYS and not action.part_fields}
    assert destroys - {name for name, action in ACTIONS.items() if action.ends_logins} == {
        "close_page",
        "browser_quit",
        "call_tool",
    }
