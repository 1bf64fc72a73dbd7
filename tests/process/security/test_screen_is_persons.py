"""Tests that agents in a person's own browser never take the screen: neither a letter that the person types, nor the
place of the window that is in front."""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import httpx
import pytest

from browse_together.contract.background import AtMost
from tests.support.json import AnyJson
from tests.support.persons import Persons, their_page
from tests.support.screen import Desk, desk
from tests.support.sharing import StartService
from tests.support.site import Answer, Site
from tests.support.waiting import PATIENCE_S, become

pytestmark = pytest.mark.anyio

_BETWEEN_KEYS_MS: Final = 60
_ARRIVES_WITHIN_S: Final = 3.0
PERSONS = """<textarea id=t autofocus style="position: fixed; inset: 0; width: 100%; height: 100%">
</textarea><script>document.title = '.'; t.oninput = () => document.title = `.${t.value.trim()}`;</script>"""
AGENTS = """<title>agents</title><button id=b onclick="this.textContent = 'clicked'">b</button><input id=i>
<textarea id=t></textarea><select id=s><option>one<option>two</select><input id=k type=checkbox>
<p id=d draggable=true>drag</p><p id=onto ondragover="event.preventDefault()">onto</p>
<button id=tab onclick="window.open('/popup')">tab</button>
<button id=window onclick="window.open('/popup', '', 'width=300,height=300')">window</button>
<a id=link href=/popup target=_blank>link</a>
<button id=asks onclick="this.textContent = confirm('sure?')">asks</button>
<button id=front onclick="window.focus()">front</button>
<input id=f type=file><a id=load href=/file download>load</a>
<a id=next href=/next>next</a><form action=/found target=_blank><input name=q value="a b"><input name=method>
<button id=asked name=by value=me>find</button></form>
<form action=/sent method=post target=_blank><input name=q value=x><button id=sent>send</button></form>
<iframe id=other src="//localhost:PORT/frame" width=300 height=90></iframe><div style="height: 3000px"></div>"""
ACTS: Final[tuple[dict[str, AnyJson], ...]] = (
    {"action": "goto", "url": "/agents"},
    {"action": "click", "selector": "#b"},
    {"action": "double_click", "selector": "#b"},
    {"action": "fill", "selector": "#i", "value": "filled"},
    {"action": "type", "selector": "#t", "text": "typed"},
    {"action": "press", "selector": "#t", "key": "Enter"},
    {"action": "hover", "selector": "#b"},
    {"action": "select_option", "selector": "#s", "value": "two"},
    {"action": "check", "selector": "#k"},
    {"action": "drag_and_drop", "source": "#d", "target": "#onto"},
    {"action": "mouse", "do": "click", "x": 300, "y": 300},
    {"action": "scroll", "y": 300},
    {"action": "focus", "selector": "#i"},
    {"action": "screenshot"},
    {"action": "screenshot", "fullPage": True},
    {"action": "screenshot", "selector": "#b"},
    {"action": "snapshot"},
    {"action": "click", "selector": "#tab"},
    {"action": "click", "selector": "#window"},
    {"action": "click", "selector": "#link"},
    {"action": "click", "selector": "#link", "modifiers": ["Control"]},
    {"action": "click", "selector": "#tab", "modifiers": ["Control"]},
    {"action": "click", "selector": "#asked"},
    {"action": "click", "selector": "#sent"},
    {"action": "click", "selector": "#sent", "modifiers": ["Control"]},
    {"action": "click", "selector": "#tab", "frame": "#other"},
    {"action": "click", "selector": "#b"},
    {"action": "click", "selector": "#asks"},
    {"action": "handle_dialog", "accept": True},
    {"action": "click", "selector": "#f"},
    {"action": "upload_file", "selector": "#f", "files": [{"name": "a.txt", "text": "a"}]},
    {"action": "click", "selector": "#load"},
    {"action": "click", "selector": "#front"},
    {"action": "emulate", "device": "Pixel 7"},
    {"action": "click", "selector": "#b"},
    {"action": "emulate", "reset": True},
    {"action": "click", "selector": "#next"},
    {"action": "go_back", "waitUntil": "commit"},
    {"action": "reload_page"},
    {"action": "evaluate_script", "expression": "window.focus()"},
    {"action": "generate_pdf"},
)

_EACH: Final = 3
LETTERS: Final = ("abcdefghijklmnopqrstuvwxyz" * 6)[: _EACH * len(ACTS)]
BESIDE_KEYS: Final[tuple[dict[str, AnyJson], ...]] = (
    {"action": "fill", "selector": "#t", "value": "filled"},
    {"action": "press", "selector": "#t", "key": "a"},
    {"action": "hover", "selector": "#t"},
    {"action": "type", "selector": "#t", "text": "typed"},
    {"action": "screenshot"},
    {"action": "snapshot"},
)


@pytest.fixture
async def at_desk(tmp_path: Path) -> AsyncIterator[tuple[Desk, Persons]]:
    """Provide a person's browser on a screen with a window manager."""
    with desk() as own:
        await own.ready()
        browser = Persons(tmp_path / "persons", display=own.display)
        try:
            await browser.ready()
            yield own, browser
        finally:
            browser.end()


@pytest.fixture
def pages(site: Site) -> Site:
    site.page("/persons", PERSONS)
    site.page("/agents", AGENTS.replace("PORT", str(urlsplit(site.url("/")).port)))
    site.page("/frame", """<button id=tab onclick="window.open('/popup?framed')">tab</button>""")
    site.page("/found", "<title>found</title>")
    site.page("/sent", "<title>sent</title>")
    site.page("/popup", "<title>popup</title><script>if (window.opener) fetch('/linked')</script>")
    site.page("/linked", "")
    site.page("/next", "<title>next</title>")
    site.page("/file", Answer("a file", headers={"Content-Disposition": "attachment; filename=a.txt"}))
    return site


async def typed(browser: Persons) -> str:
    """Return what the person's tab got of what they typed: its title."""
    async with httpx.AsyncClient(trust_env=False) as http:
        listed = (await http.get(f"{browser.url}/json/list")).json()
    return next(str(each["title"]) for each in listed if each["url"].endswith("/persons"))[1:]


async def sit_down(at: Desk, browser: Persons, url: str) -> None:
    """Open the person's tab, and click into its field."""
    await browser.open(url)
    async with asyncio.timeout(PATIENCE_S):
        while await typed(browser):  # it has the title of its address at first
            pass  # asking takes a moment each time
    window = await at.hand("search", "--sync", "--onlyvisible", "--class", "chromium")
    await at.hand("windowactivate", "--sync", window.splitlines()[-1])
    await at.hand("mousemove", "500", "500", "click", "1")
    await become(lambda: at.fronts[-1] != "0x0")


async def type_beside(at: Desk, browser: Persons, letters: str, act: Awaitable[httpx.Response]) -> str:
    """Type letters while an agent acts, and return what went wrong, with the letters or with the act."""
    before, fronts = await typed(browser), len(at.fronts)
    (reply, _) = await asyncio.gather(act, at.hand("type", "--delay", str(_BETWEEN_KEYS_MS), letters))
    async with AtMost(_ARRIVES_WITHIN_S):
        while (after := await typed(browser)) != before + letters:
            pass  # asking takes a moment each time
    wrong = [] if after == before + letters else [f"{after!r} instead of {before + letters!r}"]
    wrong += [f"in front: {at.fronts[fronts:]}"] if at.fronts[fronts:] else []
    return "; ".join([*wrong, *([] if reply.json()["success"] else [reply.text])])


async def test_a_person_types_while_an_agent_acts_and_every_letter_arrives_where_they_type(
    start: StartService, at_desk: tuple[Desk, Persons], pages: Site
) -> None:
    at, browser = at_desk
    await sit_down(at, browser, pages.url("/persons"))
    service = await start(cdp_url=browser.url)
    went_wrong = list[str]()
    async with service.agent() as agent:
        for number, arguments in enumerate(ACTS):
            given = {**arguments, **({"url": pages.url("/agents")} if "url" in arguments else {})}
            letters = LETTERS[number * _EACH :][:_EACH]
            if wrong := await type_beside(at, browser, letters, agent.reply(pageId="mine", **given)):
                went_wrong.append(f"{arguments}: {wrong}")
        assert went_wrong == []
        await become(lambda: pages.counts["/popup"] == 6 and pages.counts["/linked"])
        popups = [page for page in (await agent.call("list_pages"))["yours"] if page["pageId"] != "mine"]
    assert await typed(browser) == LETTERS
    assert pages.counts["/sent"] == 1, "only with Control is a form sent by POST, and its tab is the person's"
    opened = [urlsplit(page["url"]) for page in popups]
    assert sorted(each.path for each in opened) == ["/found", *["/popup"] * 6]
    assert {each.query for each in opened} == {"", "framed", "q=a+b&method=&by=me"}
    assert pages.counts["/linked"] == 1, "a press with Control opens one that knows its opener"


async def test_in_a_shared_tab_that_is_selected_an_agent_presses_the_mouse_only_while_its_window_has_the_keys(
    start: StartService, at_desk: tuple[Desk, Persons], pages: Site
) -> None:
    at, browser = at_desk
    await sit_down(at, browser, pages.url("/persons"))
    service = await start(attached_tabs="shared", cdp_url=browser.url)
    await at.hand("key", "ctrl+n")
    await become(lambda: len({*at.fronts} - {"0x0"}) == 2)
    await browser.until_shown(pages.url("/persons"))
    async with service.agent() as agent:
        theirs = await their_page(agent, pages.url("/persons"))
        before = [*at.fronts]
        refused = await agent.error("click", pageId=theirs, selector="#t")
        assert (refused["code"], "did not happen" in refused["message"]) == ("HUMAN_IN_CONTROL", True)
        for arguments in BESIDE_KEYS:
            assert (await agent.reply(pageId=theirs, **arguments)).json()["success"], arguments
        assert (await agent.error("click", pageId=theirs, selector="#t"))["code"] == "HUMAN_IN_CONTROL"
        assert at.fronts == before
        await at.hand("key", "alt+Tab", "mousemove", "500", "500", "click", "1")
        await become(lambda: at.fronts[-1] == before[0])
        await agent.call("click", pageId=theirs, selector="#t")
        assert {*at.fronts[len(before) :]} - {"0x0"} == {before[0]}


async def test_a_page_that_crashed_comes_back_behind(
    start: StartService, at_desk: tuple[Desk, Persons], pages: Site
) -> None:
    at, browser = at_desk
    await sit_down(at, browser, pages.url("/persons"))
    service = await start(cdp_url=browser.url)
    async with service.agent() as agent:
        await agent.call("goto", pageId="mine", url=pages.url("/agents"))
        before = [*at.fronts]
        window = service.window("mine")
        cdp = await window.context.new_cdp_session(window)
        async with window.expect_event("crash"):
            crashes = asyncio.create_task(cdp.send("Page.crash"))  # which gets no answer
        crashes.cancel()
        wrong = await type_beside(at, browser, "abc", agent.reply("click", pageId="mine", selector="#b"))
        assert wrong == ""
        assert at.fronts == before
