"""Tests that agents know of a person's tabs only what the person shares, and leave all others alone.

They are more than 300 lines because one test walks all that could tell of a tab, beside a test for each way to share.
"""

import asyncio

import pytest
from fastapi.routing import APIRoute

from browse_together.contract import wire
from browse_together.contract.actions.traits import Scope
from browse_together.contract.catalogue import ACTIONS
from tests.support.bodies import smallest
from tests.support.json import AnyJson
from tests.support.persons import Persons, list_until, open_tab
from tests.support.service import Agent, RunningService
from tests.support.sharing import StartService
from tests.support.site import Answer, Site
from tests.support.waiting import become

pytestmark = pytest.mark.anyio

ATTACHED: dict[str, AnyJson] = {}
WORD = "tabularasa"
SIZE = """[innerWidth, innerHeight, devicePixelRatio, navigator.userAgent, navigator.maxTouchPoints,
matchMedia('(prefers-color-scheme: dark)').matches, matchMedia('print').matches]"""
FORM = Answer("""<title>form</title><h1>form</h1><input id=a><select id=s><option>1</select>
<button id=b onclick="document.title = 'clicked'">b</button>""")
THEIRS = f"""<title>{WORD}</title><h1>{WORD}</h1><script>
document.cookie = '{WORD}={WORD}; max-age=9999'; localStorage.{WORD} = '{WORD}'; console.log('{WORD}');
indexedDB.open('{WORD}').onupgradeneeded = event => event.target.result.createObjectStore('{WORD}');
fetch('/api?{WORD}'); setInterval(() => {{ console.log('{WORD}'); fetch('/api?{WORD}') }}, 200);
addEventListener('pagehide', () => navigator.sendBeacon('/left?{WORD}'))</script>"""

THEIR_TABS = 3
COMES = ("visibilitychange", "focus", "blur", "resize", "pageshow")


class Owner:
    """The account's owner, with what the wall and the command line ask for them."""

    def __init__(self, agent: Agent) -> None:
        self.http = agent.http

    async def tabs(self) -> dict[str, dict[str, AnyJson]]:
        """Return the tabs by their URLs."""
        listed = (await self.http.get(wire.TABS)).json()["result"]["tabs"]
        return {tab["url"]: tab for tab in listed}

    async def reply(self, path: str, url: str, **more: AnyJson) -> dict[str, AnyJson]:
        tab = (await self.tabs())[url]
        return dict((await self.http.post(path, json={"tabId": tab["tabId"], **more})).json())

    async def share(self, url: str, **more: AnyJson) -> str:
        """Share the tab at a URL, and return its pageId."""
        reply = await self.reply(wire.TABS_SHARE, url, **more)
        assert reply["success"], reply
        return str(reply["result"]["pageId"])

    async def take_back(self, url: str) -> None:
        reply = await self.reply(wire.TABS_UNSHARE, url)
        assert reply["success"], reply


async def attached_to(start: StartService, persons: Persons) -> RunningService:
    """Start a service, and wait until it is attached to the person's browser."""
    service = await start(cdp_url=persons.url)
    await service.session().context()
    return service


async def test_an_agents_list_has_only_the_number_of_the_tabs_that_are_not_shared(
    attached: RunningService, persons: Persons, site: Site
) -> None:
    await open_tab(attached, persons, site.page("/", FORM))
    async with attached.agent() as agent, attached.agent(operator=True) as person:
        await agent.call("goto", pageId="mine", url=site.page("/mine", FORM))
        listed = await list_until(agent, lambda listed: listed["unshared"] == 2)
        assert listed["people"] == []
        assert "2 tabs of the person's own are not shared" in listed["text"]
        assert (await agent.http.get(wire.TABS)).json()["error"]["code"] == "FORBIDDEN"
        assert {*await Owner(person).tabs()} == {"about:blank", site.url("/")}


async def test_a_shared_tab_is_a_page_of_the_persons_in_which_agents_act_and_which_they_do_not_close(
    attached: RunningService, persons: Persons, site: Site
) -> None:
    await open_tab(attached, persons, site.page("/", FORM))
    async with attached.agent() as agent, attached.agent(operator=True) as person:
        page_id = await Owner(person).share(site.url("/"))
        (listed,) = (await agent.call("list_pages"))["people"]
        assert (listed["pageId"], listed["title"], listed["shared"]) == (page_id, "form", "act")
        await agent.call("click", pageId=page_id, selector="#b")
        assert (await agent.call("get_page_title", pageId=page_id))["title"] == "clicked"
        refused = await agent.error("close_page", pageId=page_id, reason="It is no longer needed.")
        assert (refused["code"], "only they close it" in refused["message"]) == ("PAGE_OWNED", True)
        assert site.url("/") in await persons.tabs()
        assert site.counts["/"] == 1


async def test_agents_only_read_a_tab_that_is_shared_to_read(
    attached: RunningService, persons: Persons, site: Site
) -> None:
    await open_tab(attached, persons, site.page("/", FORM))
    async with attached.agent() as agent, attached.agent(operator=True) as person:
        page_id = await Owner(person).share(site.url("/"), access="read")
        assert "form" in str(await agent.call("snapshot", pageId=page_id))
        for call in ({"action": "click", "selector": "#b"}, {"action": "claim_page", "reason": "The user asked."}):
            refused = await agent.error(**call, pageId=page_id)
            assert (refused["code"], "only read it" in refused["message"]) == ("PAGE_OWNED", True)
            assert "request_human" in refused["hint"]
        steps = [{"action": "click", "selector": "#b"}]
        assert (await agent.error("batch", pageId=page_id, steps=steps))["code"] == "PAGE_OWNED"
        assert (await agent.call("get_page_title", pageId=page_id))["title"] == "form"
        assert await Owner(person).share(site.url("/"), access="act") == page_id
        await agent.call("click", pageId=page_id, selector="#b")


async def test_a_tab_shared_with_one_client_is_private_to_it_and_it_cannot_give_it_away(
    attached: RunningService, persons: Persons, site: Site
) -> None:
    await open_tab(attached, persons, site.page("/", FORM))
    async with attached.agent("Ann") as ann, attached.agent("Bob") as bob, attached.agent(operator=True) as person:
        for agent in (ann, bob):
            await agent.call("list_pages")
        page_id = await Owner(person).share(site.url("/"), label="Ann")
        assert (await Owner(person).tabs())[site.url("/")]["withLabel"] == "Ann"
        await ann.call("click", pageId=page_id, selector="#b")
        for action, more in {
            "release_page": {},
            "share_page": {"access": "act"},
            "hand_over_page": {"to": "Bob"},
        }.items():
            refused = await ann.error(action, pageId=page_id, **more)
            assert "shared with you alone" in refused["message"]
        assert (await bob.error("snapshot", pageId=page_id))["code"] == "PAGE_OWNED"
        assert site.url("/") not in str(await bob.call("list_pages", all=True))
        await Owner(person).share(site.url("/"))
        await bob.call("click", pageId=page_id, selector="#b")


async def test_taking_a_tab_back_ends_the_act_that_runs_and_leaves_the_tab_as_it_is(
    attached: RunningService, persons: Persons, site: Site
) -> None:
    site.page("/api", "{}")
    await open_tab(attached, persons, site.page("/", FORM))
    async with attached.agent() as agent, attached.agent(operator=True) as person:
        page_id = await Owner(person).share(site.url("/"))
        await agent.call("fill", pageId=page_id, selector="#a", value="typed")
        own_size = await agent.call("evaluate_script", pageId=page_id, expression=SIZE)
        looks = {"device": "Pixel 7", "colorScheme": "dark", "media": "print"}
        await agent.call("emulate", pageId=page_id, offline=True, timezone="Asia/Tokyo", **looks)
        await agent.call("mock_response", pageId=page_id, pattern="*/api", body="mocked")
        await agent.call("add_init_script", pageId=page_id, script="window.ours = true")
        await agent.call("set_extra_headers", pageId=page_id, headers={"x-ours": "1"})
        page = attached.window(page_id)
        waiting = asyncio.create_task(agent.error("evaluate_script", pageId=page_id, expression="new Promise(() => 0)"))
        await become(lambda: bool(attached.running_calls()))
        await Owner(person).take_back(site.url("/"))
        error = await waiting
        assert (error["code"], "took the tab back" in error["message"]) == ("UNKNOWN_OUTCOME", True)
        assert (await agent.error("snapshot", pageId=page_id))["code"] == "PAGE_NOT_FOUND"
        assert await page.evaluate("document.querySelector('#a').value") == "typed"
        assert await page.evaluate("fetch('/api').then(answer => answer.text())") != "mocked"
        assert await page.evaluate("Intl.DateTimeFormat().resolvedOptions().timeZone") != "Asia/Tokyo"
        await page.reload()
        assert await page.evaluate("window.ours") is None
        assert await page.evaluate(SIZE) == own_size["value"]
        assert "x-ours" not in {name.lower() for name in site.received[-1].headers}
        assert page_id not in str(await agent.call("list_pages", all=True))


async def test_a_popup_of_a_shared_tab_is_shared_likewise_and_taken_back_with_it(
    attached: RunningService, persons: Persons, site: Site
) -> None:
    site.page("/popup", FORM)
    await open_tab(attached, persons, site.page("/", "<button onclick=\"window.open('/popup')\">open</button>"))
    async with attached.agent() as agent, attached.agent(operator=True) as person:
        page_id = await Owner(person).share(site.url("/"))
        (popup,) = (await agent.call("click", pageId=page_id, selector="button"))["popups"]
        assert (await agent.error("close_page", pageId=popup, reason="Done."))["code"] == "PAGE_OWNED"
        assert (await Owner(person).tabs())[site.url("/popup")]["pageId"] == popup
        await Owner(person).take_back(site.url("/"))
        assert (await agent.error("snapshot", pageId=popup))["code"] == "PAGE_NOT_FOUND"
        assert {site.url("/"), site.url("/popup")} <= {*await persons.tabs()}
        refused = await Owner(person).reply(wire.TABS_SHARE, site.url("/popup"))
        assert (refused["success"], "can reach another" in refused["error"]["message"]) == (False, True)
        await Owner(person).share(site.url("/popup"), linked=True)
        assert len((await agent.call("list_pages"))["people"]) == 2


async def test_shared_tabs_stay_shared_when_the_connection_or_the_service_comes_back_and_no_other_is_known(
    attached: RunningService, persons: Persons, site: Site
) -> None:
    await open_tab(attached, persons, site.page("/", FORM))
    await open_tab(attached, persons, site.page("/other", FORM))
    async with attached.agent() as agent, attached.agent(operator=True) as person:
        page_id = await Owner(person).share(site.url("/"), access="read")
        await attached.context().browser.close()  # type: ignore[union-attr] # an attached browser is there
        assert "form" in str(await agent.call("snapshot", pageId=page_id))
        assert (await agent.error("click", pageId=page_id, selector="#b"))["code"] == "PAGE_OWNED"
        listed = await list_until(agent, lambda listed: listed["unshared"] == 2)
        assert len(listed["people"]) == 1
        assert (site.counts["/"], site.counts["/other"]) == (1, 1)


async def test_a_tab_that_is_shared_twice_at_once_is_one_page_and_taken_back_whole(
    attached: RunningService, persons: Persons, site: Site
) -> None:
    await open_tab(attached, persons, site.page("/", FORM))
    async with attached.agent() as agent, attached.agent(operator=True) as person:
        owner = Owner(person)
        shares = [owner.reply(wire.TABS_SHARE, site.url("/"), access=access) for access in ("act", "read", "act")]
        assert len({reply["result"]["pageId"] for reply in await asyncio.gather(*shares)}) == 1
        await owner.take_back(site.url("/"))
        assert (await agent.call("list_pages", all=True))["people"] == []
        shared, _ = await asyncio.gather(owner.reply(wire.TABS_SHARE, site.url("/")), owner.take_back(site.url("/")))
        await owner.take_back(site.url("/"))
        assert (await agent.call("list_pages", all=True))["people"] == [], shared


UNENDING = {wire.EVENTS, wire.ACTIVITY}
"""Routes whose answers do not end."""
CHOSEN: dict[str, dict[str, AnyJson]] = {
    "fetch": {"url": "/mine"},
    "get_storage": {"kind": "local"},
    "list_pages": {"all": True},
    "record_video": {"command": "start"},
}
"""Arguments with which an action would show most."""
EVERYWHERE = {"export_session", "restore_session_state", "save_session_state", "set_session_headers", "import_login"}
EVERYWHERE |= {"add_session_init_script", "grant_permissions", "get_cookies", "clear_cookies"}
"""Acts on the whole session, which without a site would reach the person's."""


@pytest.mark.long
async def test_nothing_of_the_tabs_that_are_not_shared_is_in_any_reply_event_record_log_or_file(
    attached: RunningService, persons: Persons, site: Site, capfd: pytest.CaptureFixture[str]
) -> None:
    for path in ("/api", "/left", "/cart"):
        site.page(path, "{}")
    site.page("/their", Answer(THEIRS))
    for number in range(THEIR_TABS):
        await open_tab(attached, persons, site.url(f"/their?{WORD}={number}", host="localhost"))
    await become(lambda: site.counts["/api"] >= THEIR_TABS)
    await open_tab(attached, persons, site.page("/", FORM))
    told = list[str]()
    async with attached.agent() as agent, attached.agent(operator=True) as person:
        theirs = [tab["tabId"] for url, tab in (await Owner(person).tabs()).items() if WORD in url]
        shared = await Owner(person).share(site.url("/"))
        for name, action in ACTIONS.items():
            await agent.reply("goto", pageId="mine", url=site.page("/mine", FORM), reply="none")
            chosen: dict[str, AnyJson] = {"pageId": "mine"} if "page_id" in action.model_fields else {}
            if "timeout" in action.model_fields:
                comes_not = name.startswith("wait") and not name.endswith(("request", "response"))
                chosen["timeout"] = 200 if comes_not else 1_000
            reply = await agent.reply(name, **smallest(action, **{**chosen, **CHOSEN.get(name, {})}))
            told.append(reply.text)
            assert name not in EVERYWHERE or reply.json()["success"] is False, name
            if action.scope is Scope.PAGE and not action.unaddressed.opens:
                for guessed in ("default~2", theirs[0]):
                    refused = await agent.error(name, **smallest(action, pageId=guessed))
                    assert refused["code"] in {"PAGE_NOT_FOUND", "FORBIDDEN"}, (name, refused)
                    told.append(str(refused))
        for route in attached.app.routes:
            if isinstance(route, APIRoute) and "GET" in (route.methods or ()) and route.path not in UNENDING:
                told.append((await agent.http.get(route.path)).text)
        told.append(repr(await attached.host.events_after(0, 0, 100_000)) + repr(attached.known_pages()))
        assert shared in str(await agent.call("list_pages"))
    before = {url for url in await persons.tabs() if WORD in url}
    assert (len(before), site.counts["/their"], site.counts["/left"]) == (THEIR_TABS, THEIR_TABS, 0)
    assert WORD not in "".join(told)
    assert WORD not in "".join(capfd.readouterr())
    written = [path for path in attached.settings.data_dir.rglob("*") if path.is_file()]
    assert len(written) > 3
    assert not [path for path in written if WORD.encode() in path.read_bytes()]


async def test_a_page_learns_nothing_of_being_shared_and_read(
    start: StartService, windows: Persons, site: Site
) -> None:
    told = "".join(f"addEventListener('{each}', () => told.push('{each}'), true);" for each in COMES)
    await windows.open(site.page("/", f"<title>t</title><h1>h</h1><script>const told = [];{told}</script>"))
    await windows.open(site.page("/front", FORM))
    service = await attached_to(start, windows)
    async with service.agent() as agent, service.agent(operator=True) as person:
        (page,) = [page for page in service.context().pages if page.url == site.url("/")]
        await page.evaluate("told.length = 0")
        page_id = await Owner(person).share(site.url("/"), access="read")
        assert "h" in (await agent.call("snapshot", pageId=page_id))["snapshot"]
        await agent.call("screenshot", pageId=page_id)
        assert await page.evaluate("[document.visibilityState, ...told]") == ["hidden"]


async def test_agents_act_in_a_tab_behind_another_and_leave_that_in_front(
    start: StartService, windows: Persons, site: Site
) -> None:
    await windows.open(site.page("/", FORM))
    await windows.open(site.page("/front", FORM))
    service = await attached_to(start, windows)
    async with service.agent() as agent, service.agent(operator=True) as person:
        page_id = await Owner(person).share(site.url("/"))
        await agent.call("click", pageId=page_id, selector="#b", timeout=3_000)
        await agent.call("screenshot", pageId=page_id)
        (front,) = [page for page in service.context().pages if page.url == site.url("/front")]
        behind, seen = service.window(page_id), "[document.visibilityState, document.title]"
        assert await front.evaluate(seen) == ["visible", "form"]
        await Owner(person).take_back(site.url("/"))
        assert await behind.evaluate(seen) == ["hidden", "clicked"]


async def test_an_agent_has_to_do_with_cookies_only_where_it_has_a_page(
    attached: RunningService, persons: Persons, site: Site
) -> None:
    site.page("/login", Answer("in", headers={"Set-Cookie": f"sid={WORD}; Path=/"}))
    await open_tab(attached, persons, site.url("/login", host="localhost"))
    await open_tab(attached, persons, site.url("/login"))
    async with attached.agent() as agent:
        await agent.call("goto", pageId="mine", url=site.page("/mine", FORM))
        for action, more in (
            ("get_cookies", {"domain": "localhost"}),
            ("get_cookies", {"urls": [site.url("/mine"), site.url("/", host="localhost")]}),
            ("clear_cookies", {"domain": "localhost"}),
            ("get_cookies", {"domain": "a.127.0.0.1"}),
            ("set_cookies", {"cookies": [{"name": "sid", "value": "x", "url": site.url("/", host="localhost")}]}),
        ):
            refused = await agent.error(action, **more)
            assert (refused["code"], "at which you have no page" in refused["message"]) == ("FORBIDDEN", True)
        for action, instead in (("list_logins", 'list_logins {"urls": '), ("login", '"kind": "login"')):
            assert instead in (await agent.error(action))["hint"]
        assert (await agent.call("list_logins", urls=[site.url("/mine")]))["logins"] == []
        assert (await agent.call("get_cookies", urls=[site.url("/mine")]))["count"] == 1
        await agent.call("clear_cookies", domain="127.0.0.1")
        assert (await agent.call("get_cookies", domain="127.0.0.1"))["count"] == 0
