"""Tests what a person at the wall says to agents: lines, elements that they point at, pauses and stops. Each button's
effect is seen by the agent's next reply."""

import re
from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Page, expect

from tests.support.listening import connected, sent
from tests.support.service import Agent, RunningService
from tests.support.site import Site
from tests.support.wall import press

pytestmark = pytest.mark.anyio

_HTML = (
    "<title>Shop</title><style>body {margin: 0} button {display: block; width: 300px; height: 60px}</style>"
    "<button>Red</button><button onclick='document.title = this.textContent'>Blue</button><p>12 euros</p>"
    "<script>document.elementFromPoint = () => document.querySelector('button');"
    "Element.prototype.getBoundingClientRect = () => new DOMRect(0, 0, 300, 60)</script>"
)
_FRAMED = (
    "<title>Shop</title><style>body {margin: 0} button {display: block; width: 300px; height: 60px}</style>"
    "<button>Red</button><iframe style='border: 9px solid; padding: 5px; width: 400px; height: 140px' "
    "srcdoc='<body style=margin:0><button onclick=parent.document.title=this.textContent "
    "style=width:300px;height:60px>Blue</button><button>Green</button>'></iframe>"
)


@pytest.fixture
async def claude(running: RunningService, site: Site) -> AsyncIterator[Agent]:
    async with connected(running, "c-1", "Claude") as agent:
        await agent.call("goto", pageId="shop", url=site.page("/shop", _HTML))
        yield agent
        await agent.reply("close_page", pageId="shop")


async def test_an_agent_is_written_to_and_answers_and_is_paused_and_stopped(
    window: Page, running: RunningService, claude: Agent
) -> None:
    await press(window, "Write to Claude")
    thread = window.get_by_role("dialog", name="Write to")
    await thread.get_by_role("textbox", name="Your line").fill("The blue one, please.")
    await thread.get_by_role("button", name="Send").click()
    await expect(thread.get_by_role("listitem")).to_contain_text("not read yet")
    told = (await claude.reply("list_downloads")).json()["notices"]
    assert 'A person, "ana", writes to you, in their own words: "The blue one, please."' in told[0]["text"]
    await expect(thread).not_to_contain_text("not read yet")
    said = await claude.call("tell_person", message="<b>Done</b>")
    assert said["observed"] == "told your person: it stands on the live wall"
    await expect(thread.get_by_role("listitem").last).to_contain_text("<b>Done</b>")
    await thread.get_by_role("button", name="Close").click()
    await press(window, "Pause Claude")
    await expect(window.get_by_role("button", name="Stop Claude")).to_be_focused()
    waiting = sent(claude, "paused", "content", pageId="shop")
    row = window.get_by_role("listitem").filter(has=window.get_by_role("button", name="Write to Claude"))
    await expect(row).to_contain_text("1 call waits")
    await press(window, "Go on Claude")
    assert "had paused you" in str((await waiting).json()["notices"])
    await press(window, "Stop all")
    await expect(window.get_by_text("All agents are stopped by ana")).to_contain_text("Nothing was running")
    for _ in range(3):
        assert (await claude.error("click", pageId="shop", selector="button"))["code"] == "HUMAN_IN_CONTROL"
    await window.goto(f"{running.base_url}/#/page/shop")
    await expect(window.get_by_role("main").get_by_role("status")).to_contain_text("Claude is stopped by ana since")
    await expect(window.get_by_role("tabpanel", name="Timeline")).to_contain_text("has stopped the agent")
    refused = window.get_by_role("listitem").filter(has_text="a person has stopped the agent")
    await expect(refused).to_contain_text("3 times")
    await press(window, "Go on")
    await expect(window.get_by_role("main").get_by_role("status")).to_be_hidden()
    await claude.call("click", pageId="shop", selector="text=Red")
    await window.goto(f"{running.base_url}/#/")
    await press(window, "Stop Claude")
    tile = window.get_by_role("listitem").filter(has=window.get_by_role("button", name="Let Claude go on"))
    await expect(tile).to_contain_text("Stopped by ana since")
    await press(window, "Let Claude go on")
    await expect(tile).to_be_hidden()
    await press(window, "Go on")
    await expect(window.get_by_text("All agents are stopped by ana")).to_be_hidden()
    await claude.call("click", pageId="shop", selector="text=Red")
    await expect(row).to_contain_text(re.compile("clicked Red"))


@pytest.mark.parametrize("html", [_HTML, _FRAMED], ids=["a lying page", "a frame with a border"])
async def test_an_element_is_pointed_at_whatever_the_page_says_and_its_ref_is_in_the_next_reply(
    window: Page, running: RunningService, claude: Agent, site: Site, html: str
) -> None:
    await claude.call("goto", pageId="shop", url=site.page("/shop", html))
    await window.goto(f"{running.base_url}/#/page/shop")
    await expect(window.get_by_role("main").locator(".picture")).not_to_have_class(re.compile("empty"))
    await press(window, "Point")
    overlay = window.get_by_role("application", name="Point at an element")
    box = await overlay.bounding_box()
    assert box is not None
    scale = box["width"] / await running.window("shop").evaluate("innerWidth")
    await window.mouse.move(box["x"] + 100 * scale, box["y"] + 90 * scale)
    frame = window.locator(".framed")
    await expect(frame).to_contain_text("Blue")
    await window.mouse.down()
    await window.mouse.up()
    panel = window.get_by_role("group", name="Point")
    await expect(panel).to_contain_text("You mean button “Blue”")
    await panel.get_by_role("textbox").fill("This one, not that one.")
    await panel.get_by_role("button", name="Send").click()
    await expect(panel).to_be_hidden()
    told = (await claude.reply("list_downloads")).json()["notices"][0]["text"]
    found = re.search(r"points at (\w+), button 'Blue' on shop, in their own words: \"This one, not that one.\"", told)
    assert found, told
    await claude.call("click", pageId="shop", selector=found[1])
    page = running.window("shop")
    await expect(page).to_have_title("Blue")


async def test_what_an_agent_did_is_marked_no_longer_once_a_person_has_the_page(window: Page) -> None:
    shown = await window.evaluate("""async () => {
        const {Picture} = await import("/wall/static/picture.js");
        const made = new Picture("shop"), label = made.element.querySelector(".doing");
        const after = (state) => {
            made.frame({state: "live", width: 0, act: {state, action: "hover", agoMs: 0}}, null);
            return !label.hidden;
        };
        const before = after("done");
        made.inHand(true);
        return [before, !label.hidden, after("done"), after("running")];
    }""")
    assert shown == [True, False, False, True]
