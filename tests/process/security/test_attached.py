"""Tests that in a browser that is attached to agents neither go, nor paste, nor close what they may not."""

from pathlib import Path

import pytest
from playwright.async_api import Page

from browser_service.host.seam import HostLimits
from browser_service.host.tabs import tab
from tests.support.json import AnyJson
from tests.support.persons import Persons, their_page
from tests.support.service import RunningService
from tests.support.sharing import StartService
from tests.support.site import Answer, Site
from tests.support.waiting import become, found

pytestmark = pytest.mark.anyio

ATTACHED: dict[str, AnyJson] = {"attached_tabs": "shared"}

FORM = "<input id=a><button>b</button>"


async def test_no_page_reaches_the_port_by_which_the_browser_is_driven(
    attached: RunningService, persons: Persons, site: Site
) -> None:
    async with attached.agent() as agent:
        await agent.call("goto", pageId="mine", url=site.page("/", FORM))
        for host in ("127.0.0.1", "localhost", "[::ffff:127.0.0.1]"):
            listed = f"http://{host}:{persons.port}/json/list"
            assert (await agent.error("goto", pageId="mine", url=listed))["code"] == "FORBIDDEN"
            ask = f"fetch('{listed}', {{mode: 'no-cors'}}).then(() => 'answered', () => 'refused')"
            assert (await agent.call("evaluate_script", pageId="mine", expression=ask))["value"] == "refused"
        await persons.open(persons.url + "/json/version")
        await persons.open(attached.base_url + "/health")
        await persons.until_shown(persons.url + "/json/version", attached.base_url + "/health")
        assert "is blocked" not in str((await agent.call("list_pages"))["people"])


FORBIDDEN_THERE = """<title>bank</title><a id=pop target=_blank rel="noopener noreferrer" href="{0}?popup">pop</a>
<a id=go href="{0}?go">go</a>"""


async def test_popups_frames_and_links_lead_agents_nowhere_that_the_rules_forbid_in_a_persons_tab_neither(
    start: StartService, persons: Persons, site: Site
) -> None:
    there = site.page("/there", "not for agents").replace("127.0.0.1", "localhost")
    frame = f'<iframe sandbox=allow-scripts srcdoc="<script>location=`{there}?frame`</script>"></iframe>'
    await persons.open(site.page("/", FORBIDDEN_THERE.format(there)))
    service = await start(attached_tabs="shared", cdp_url=persons.url, url_blacklist=(there,))
    async with service.agent() as agent:
        await agent.call("goto", pageId="mine", url=site.page("/mine", FORBIDDEN_THERE.format(there) + frame))
        theirs = await their_page(agent, site.url("/"))
        for page_id in ("mine", theirs):
            assert (await agent.call("click", pageId=page_id, selector="#pop"))["popups"]
            went = await agent.call("click", pageId=page_id, selector="#go")
            assert "ERR_BLOCKED_BY_CLIENT" in went["observed"]
        assert site.counts["/there"] == 0
        await persons.open(f"{there}?person")
        await become(lambda: site.counts["/there"] > 0)
        assert [received.path for received in site.received if "/there" in received.path] == ["/there?person"]


async def test_the_middle_button_pastes_nothing_that_others_selected(at_windows: RunningService, site: Site) -> None:
    async with at_windows.agent() as agent, at_windows.agent() as other:
        await agent.call("goto", pageId="mine", url=site.page("/", FORM))
        await agent.call("share_page", pageId="mine", access="private")
        await agent.call("fill", pageId="mine", selector="#a", value="the words of a private page")
        await agent.call("press", pageId="mine", selector="#a", key="Control+a")
        await other.call("goto", pageId="yours", url=site.page("/", FORM))
        refused = await other.error("click", pageId="yours", selector="#a", button="middle")
        await other.error("mouse", pageId="yours", do="click", x=20, y=90, button="middle")
        assert (refused["code"], "paste" in refused["hint"]) == ("VALIDATION_ERROR", True)
        pasted = "document.querySelector('#a').value"
        assert (await other.call("evaluate_script", pageId="yours", expression=pasted))["value"] == ""


async def test_a_printing_page_is_reported_and_can_be_left(
    at_windows: RunningService, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tab, "_TITLE_WITHIN_S", 5.0)  # a machine may be busy
    async with at_windows.agent() as agent:
        await agent.call("goto", pageId="p", url=site.page("/", "<button onclick='print()'>Print</button>"))
        await agent.error("click", pageId="p", selector="button", timeout=1_000)
        assert "such as that for printing" in (await agent.error("snapshot", pageId="p"))["message"]
        assert (await agent.call("goto", pageId="p", url=site.page("/else", "elsewhere")))["status"] == 200


async def test_downloads_kept_by_the_persons_browser_are_reported_and_in_an_own_session_they_are_files(
    attached: RunningService, site: Site
) -> None:
    site.page("/file", Answer("words", headers={"Content-Disposition": 'attachment; filename="told.txt"'}))
    url = site.page("/", "<a href=/file>get</a>")
    async with attached.agent() as agent:
        await agent.call("goto", pageId="mine", url=url)
        told = (await agent.call("click", pageId="mine", selector="a"))["observed"]
        assert "download 'told.txt' began; the browser that is attached to" in told
        assert "failed" not in told
        session = (await agent.call("create_session"))["sessionId"]
        await agent.call("goto", pageId="own", sessionId=session, url=url)
        assert "download 'told.txt' finished" in (await agent.call("click", pageId="own", selector="a"))["observed"]


async def test_even_its_user_closes_a_persons_tab_only_with_a_reason(
    attached: RunningService, persons: Persons, site: Site
) -> None:
    await persons.open(site.page("/", FORM))
    async with attached.agent() as agent:
        await agent.call("goto", pageId="mine", url=site.page("/login", "in"))
        theirs = await their_page(agent, site.url("/"))
        await agent.call("click", pageId=theirs, selector="button")
        refused = await agent.error("close_page", pageId=theirs)
        assert (refused["code"], site.url("/") in await persons.tabs()) == ("PAGE_OWNED", True)
        await agent.call("close_page", pageId=theirs, reason="the person asked for it")
        assert site.url("/") not in await persons.tabs()


async def test_a_dialog_that_an_agents_act_opens_in_a_persons_tab_is_the_agents_to_answer(
    attached: RunningService, persons: Persons, site: Site
) -> None:
    alert = "<button onclick=\"alert('really?'); document.title = 'answered'\">b</button>"
    await persons.open(site.page("/", alert))
    async with attached.agent() as agent:
        await agent.call("goto", pageId="mine", url=site.page("/mine", "mine"))
        theirs = await their_page(agent, site.url("/"))
        assert "really?" in (await agent.reply("click", pageId=theirs, selector="button")).text
        await agent.call("handle_dialog", pageId=theirs, accept=True)
        seen = await agent.call("evaluate_script", pageId=theirs, expression="document.title")
        assert seen["value"] == "answered"


PERSONS_OWN = """<a href=/file>get</a><button>b</button>
<script>new BroadcastChannel('person').onmessage = () => { alert('mine'); document.title = 'answered'; };</script>"""


async def test_no_agent_answers_a_dialog_of_a_persons_tab_that_it_did_not_cause_and_it_is_told_of_its_own_downloads(
    attached: RunningService, persons: Persons, site: Site
) -> None:
    site.page("/file", Answer("words", headers={"Content-Disposition": 'attachment; filename="told.txt"'}))
    await persons.open(site.page("/", PERSONS_OWN))
    async with attached.agent() as agent, attached.agent("Ana", operator=True) as ana:
        await agent.call("goto", pageId="mine", url=site.page("/mine", "mine"))
        theirs = await their_page(agent, site.url("/"))
        told = (await agent.call("click", pageId=theirs, selector="a"))["observed"]
        assert "download 'told.txt' began; the browser that is attached to" in told
        person = "new BroadcastChannel('person').postMessage('')"  # what is not done there is no agent's act there
        await agent.call("evaluate_script", pageId="mine", expression=person)
        await become(lambda: attached.entry(theirs).record.dialog is not None)
        for action in ("snapshot", "handle_dialog"):
            refused = await agent.error(
                action, pageId=theirs, **({"accept": True} if action == "handle_dialog" else {})
            )
            assert (refused["code"], "the person's own" in refused["hint"]) == ("DIALOG_OPEN", True)
        await ana.call("handle_dialog", pageId=theirs, accept=True)
        seen = await agent.call("evaluate_script", pageId=theirs, expression="document.title")
        assert seen["value"] == "answered"


async def test_the_owners_rules_cover_an_agents_requests_from_a_persons_tab(
    start: StartService, persons: Persons, site: Site, tmp_path: Path
) -> None:
    rules = tmp_path / "data" / "policy.toml"
    rules.parent.mkdir()
    rules.write_text('[[rule]]\nname = "posts"\nmethods = ["POST"]\n')
    site.page("/paid", "paid")
    await persons.open(site.page("/", "<form action=/paid method=post><button>b</button></form>"))
    service = await start(attached_tabs="shared", cdp_url=persons.url)
    async with service.agent() as agent:
        await agent.call("goto", pageId="mine", url=site.page("/mine", "mine"))
        sent = await agent.call("click", pageId=await their_page(agent, site.url("/")), selector="button")
        assert "BLOCKED_BY_CLIENT" in sent["observed"]
        assert site.counts["/paid"] == 0


async def test_the_tabs_of_a_chat_that_is_gone_close_with_their_popups_and_come_back_by_their_ids(
    attached: RunningService, persons: Persons, site: Site
) -> None:
    mine, popup = site.page("/mine", "<a id=pop target=_blank href=/popup>pop</a>"), site.page("/popup", "popup")
    async with attached.agent() as gone, attached.agent() as here:
        for agent, page_id in ((gone, "left"), (gone, "held"), (here, "used"), (here, "released")):
            await agent.call("goto", pageId=page_id, url=mine if page_id == "left" else site.page(f"/{page_id}", ""))
        await gone.call("click", pageId="left", selector="#pop")
        await gone.call("hold_page", pageId="held", reason="a code", minutes=30)
        await here.call("release_page", pageId="released")
        await persons.until_shown(mine, popup)
        await attached.host.release(gone.client_id, 10**18)
        await attached.host.room.sweep()
        kept = {site.url(path) for path in ("/held", "/used", "/released")}
        await found(persons.tabs, lambda tabs: {*tabs} == {"about:blank", *kept})
        assert "pop" in (await gone.call("snapshot", pageId="left"))["snapshot"]


ASKS_FOR_MANY = """<button id=many onclick="for (let n = 0; n < 60; n++) window.open('/popup?' + n)">many</button>
<a id=file target=_blank href="file:///">file</a>
<button id=script onclick="window.open('file:///')">script</button>"""


async def test_no_window_is_opened_behind_beyond_the_limit_or_where_the_page_could_open_none(
    attached: RunningService, site: Site
) -> None:
    site.page("/popup", "popup")
    async with attached.agent() as agent:
        await agent.call("goto", pageId="mine", url=site.page("/mine", ASKS_FOR_MANY))
        opened = list[Page]()
        attached.context().on("page", lambda page: opened.append(page))  # noqa: PLW0108 - Playwright marks what it calls
        told = await agent.call("click", pageId="mine", selector="#many")
        assert "further popups were closed as they came" in told["observed"]
        assert 0 < len(opened) <= HostLimits().page_popups
        for selector in ("#file", "#script"):
            await agent.call("click", pageId="mine", selector=selector)
        assert [each for each in attached.context().pages if each.url.startswith("file:")] == []
