"""Tests how the wall is laid out, what a person chooses for it, and that all of it goes by keyboard."""

import asyncio
import json
import re

import pytest
from playwright.async_api import Browser, Page, expect

from tests.support.listening import connected
from tests.support.service import Agent, RunningService
from tests.support.site import Site
from tests.support.waiting import PATIENCE_S
from tests.support.wall import visit

pytestmark = pytest.mark.anyio

_WIDTH = """async (paper) => {
  await Promise.all(paper.getAnimations().map(({ finished }) => finished));
  return paper.getBoundingClientRect().width;
}"""
_NOTHING_BLANK = """() => {
  const right = (part) => document.querySelector(`.tile ${part}`).getBoundingClientRect().right;
  return Math.abs(right(".paper") - right(".picture")) < 2;
}"""


async def test_what_waits_for_a_person_is_first_and_the_others_stay_where_they_came(
    window: Page, claude: Agent, site: Site
) -> None:
    for name in ("another", "a-third"):
        await claude.call("goto", pageId=name, url=site.page(f"/{name}", f"<title>{name}</title>"))
    tiles = window.locator(".tile .title")
    await expect(tiles).to_have_text(["/shop", "/another", "/a-third"])
    asked = await claude.call("request_human", pageId="a-third", kind="other", message="Look.", timeout=1)
    await expect(tiles).to_have_text(["/a-third", "/shop", "/another"])
    await tiles.first.focus()
    await window.keyboard.press("ArrowRight")
    await expect(tiles.nth(1)).to_be_focused()
    await claude.call("request_human", pageId="a-third", requestId=asked["requestId"], withdraw=True)
    await expect(tiles).to_have_text(["/shop", "/another", "/a-third"])
    for name in ("another", "a-third"):
        await claude.call("close_page", pageId=name)


async def test_a_press_on_an_agent_leaves_its_pages_and_what_nobody_uses_is_folded(
    window: Page, running: RunningService, claude: Agent
) -> None:
    async with connected(running, "c-2", "Codex") as codex:
        await codex.call("open_page", pageId="other")
        tiles = window.get_by_role("list", name="Pages").get_by_role("listitem")
        await expect(tiles).to_have_count(2)
        agent = window.get_by_role("button", name="Codex", exact=True)
        await agent.press("Enter")
        await expect(tiles).to_have_count(1)
        await expect(tiles).to_contain_text("other")
        await agent.press("Enter")
        await expect(tiles).to_have_count(2)
        await codex.call("release_page", pageId="other")
        await window.clock.install()
        await window.clock.fast_forward(121_000)
        await claude.call("goto", pageId="shop", url="about:blank")
        await expect(tiles).to_have_count(1)
        folded = window.get_by_text("1 unused page")
        await expect(window.get_by_role("link", name="other")).to_be_hidden()
        await folded.press("Enter")
        await expect(window.get_by_role("link", name="other")).to_be_visible()
        await codex.call("close_page", pageId="other")


async def test_a_tile_goes_near_what_was_acted_on_and_says_when(window: Page, claude: Agent, site: Site) -> None:
    far = "<style>body{margin:0}</style><button style='position:absolute;left:1000px;top:600px'>Buy</button>"
    await window.set_viewport_size({"width": 500, "height": 800})  # where the whole would be too small to read
    await claude.call("goto", pageId="shop", url=site.page("/far", far))
    tile = window.locator(".tile")
    await expect(tile.locator(".picture")).to_have_attribute("data-state", "live")
    await claude.call("click", pageId="shop", selector="button")
    await expect(tile.locator(".picture")).to_have_attribute("style", re.compile(r"--zoom: (1\.[1-9]|2)"))
    await window.wait_for_function(_NOTHING_BLANK)  # once it has come there
    await expect(tile.locator(".whose")).to_have_text(re.compile("^Claude · .*(now| ago)$"))


async def test_a_tile_that_shows_a_part_gets_a_picture_with_a_pixel_for_each_of_the_screen(
    browser: Browser, running: RunningService, claude: Agent, site: Site
) -> None:
    window = await visit(browser, running, viewport={"width": 500, "height": 800}, device_scale_factor=2)
    widths: list[int] = []
    seen = asyncio.Event()

    def note(sent: str | bytes) -> None:
        tile = json.loads(sent).get("tiles", {}).get("shop", {})
        if tile.get("close"):
            widths.append(tile["width"])
            seen.set()

    window.on("websocket", lambda socket: socket.on("framesent", note))
    await window.reload()
    await claude.call("goto", pageId="shop", url=site.page("/far", "<button>Buy</button>"))
    await expect(window.locator(".tile .picture")).to_have_attribute("data-state", "live")
    await claude.call("click", pageId="shop", selector="button")
    async with asyncio.timeout(PATIENCE_S):
        await seen.wait()
    wide = await window.locator(".tile .paper").evaluate(_WIDTH)
    assert widths[-1] == pytest.approx(2 * wide, abs=1)
    await window.context.close()


async def test_settings_are_kept_and_keys_are_told_and_turned_off(window: Page) -> None:
    await expect(window.get_by_role("link", name="/shop")).to_be_visible()
    await window.keyboard.press("?")
    await expect(window.get_by_role("dialog", name="Keys")).to_contain_text("Find a page")
    await window.keyboard.press("Escape")
    await window.keyboard.press(",")
    settings = window.get_by_role("dialog", name="Settings")
    await settings.get_by_label("Colours").select_option("Dark")
    await settings.get_by_label("Single keys").uncheck()
    await settings.get_by_role("button", name="Done").click()
    ground = "getComputedStyle(document.body).backgroundColor"
    assert await window.evaluate(ground) == "rgb(14, 16, 19)"
    await window.reload()
    await expect(window.get_by_role("link", name="/shop")).to_be_visible()
    assert await window.evaluate(ground) == "rgb(14, 16, 19)"
    await window.keyboard.press("?")
    await expect(window.get_by_role("dialog")).to_have_count(0)


async def test_on_a_phone_the_first_page_is_above_the_fold_and_the_search_behind_an_icon(
    browser: Browser, running: RunningService, claude: Agent
) -> None:
    phone = await visit(browser, running, viewport={"width": 390, "height": 844}, is_mobile=True, has_touch=True)
    tile = phone.locator(".tile")
    box = await tile.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] < 844
    await expect(phone.get_by_role("searchbox")).to_be_hidden()
    await phone.get_by_role("button", name="Find", exact=True).tap()
    await expect(phone.get_by_role("searchbox")).to_be_focused()
    assert await phone.evaluate("document.documentElement.scrollWidth") == 390
    await claude.call("snapshot", pageId="shop")
    await phone.context.close()


async def test_on_a_phone_an_agent_that_is_pressed_has_buttons_that_can_be_pressed(
    browser: Browser, running: RunningService, claude: Agent
) -> None:
    phone = await visit(browser, running, viewport={"width": 390, "height": 844}, is_mobile=True, has_touch=True)
    await phone.locator(".agent").get_by_role("button", name="Claude", exact=True).tap()
    for button in ("Pause Claude", "Go on Claude"):
        await phone.get_by_role("button", name=button).tap()
    await expect(phone.get_by_role("button", name="Pause Claude")).to_be_visible()
    await phone.get_by_role("button", name="Rename Claude").tap()
    name = phone.get_by_role("textbox", name="Its name")
    await expect(name).to_be_focused()
    await name.press("Escape")
    await claude.call("snapshot", pageId="shop")
    await phone.context.close()


async def test_from_a_page_one_comes_back_to_where_one_was_on_the_wall(window: Page, claude: Agent, site: Site) -> None:
    await window.set_viewport_size({"width": 500, "height": 500})
    await claude.call("goto", pageId="last", url=site.page("/last", "<p>last</p>"))
    link = window.get_by_role("link", name="/last")
    await link.click()
    await expect(window.get_by_role("heading", name="/last")).to_be_visible()
    assert await window.evaluate("scrollY") == 0
    await window.keyboard.press("Escape")
    await expect(link).to_be_focused()
    await expect(link).to_be_in_viewport()
    await claude.call("close_page", pageId="last")
