"""Tests what a person does with pages of their own at the wall, and how an agent finds them afterwards."""

import re

import pytest
from playwright.async_api import Page, expect

from browser_service.security.auth import Identity
from tests.support.service import Agent, RunningService
from tests.support.site import Answer, Site
from tests.support.wall import press

pytestmark = pytest.mark.anyio

_FIND = "<p>one</p><div style='height: 3000px'></div><p id=far>needle</p>"
_DROP = """<body style="margin: 0"><div style="height: 300px; background: teal" ondragover="event.preventDefault()"
ondrop="event.preventDefault(); document.title = 'got ' + event.dataTransfer.files[0].name"></div><p>nothing here</p>"""
_DROPS = """(hand, [x, y, width]) => {
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File(["a,b"], "list.csv"));
  const box = hand.getBoundingClientRect(), scale = box.width / width;
  const where = { clientX: box.left + x * scale, clientY: box.top + y * scale };
  for (const type of ["dragover", "drop"])
    hand.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true, ...where }));
}"""


async def taken(window: Page, running: RunningService) -> None:
    """Take the agent's page over, with its picture there."""
    await window.goto(f"{running.base_url}/#/page/shop")
    await press(window, "Take over")
    await expect(window.get_by_role("main").locator(".picture")).not_to_have_class(re.compile("empty"))
    await expect(window.get_by_role("textbox", name="The page itself")).to_be_focused()


async def test_a_page_in_hand_is_led_to_addresses_back_forward_and_to_words(
    window: Page, running: RunningService, claude: Agent, site: Site
) -> None:
    await taken(window, running)
    address, page = window.get_by_role("combobox", name="Address"), running.window("shop")
    await expect(address).to_have_value(site.url("/shop"))
    await address.fill(site.page("/long", _FIND).removeprefix("http://"))
    await address.press("Enter")
    await expect(page).to_have_title("/long")
    await expect(window.get_by_role("heading", name="/long")).to_be_visible()
    await expect(window.get_by_role("textbox", name="The page itself")).to_be_focused()
    for name, title in (("Back", "/shop"), ("Forward", "/long")):
        await press(window, name)
        await expect(page).to_have_title(title)
    await press(window, "Forward")
    await expect(window.get_by_role("alert")).to_contain_text("there is no such entry")
    words = window.get_by_role("searchbox", name="Find in page")
    await words.fill("nowhere")
    await words.press("Enter")
    await expect(window.get_by_role("search")).to_contain_text("is not on the page")
    await words.fill("needle")
    await words.press("Enter")
    await page.wait_for_function("scrollY > 1000")
    await address.focus()
    for been in ("/shop", "/long"):
        await expect(window.locator(f'#visited option[value="{site.url(been)}"]')).to_have_count(1)
    await address.fill("file:///etc/passwd")
    await address.press("Enter")
    await expect(window.get_by_role("alert")).to_contain_text("file:")
    await press(window, "Give back")
    await expect(address).to_be_hidden()
    assert "needle" in str(await claude.call("content", pageId="shop"))


async def test_a_person_opens_a_page_of_their_own_which_agents_do_not_disturb(
    window: Page, running: RunningService, claude: Agent, site: Site
) -> None:
    await press(window, "New page")
    dialog = window.get_by_role("dialog", name="A page of your own")
    await dialog.get_by_role("combobox", name="Address").fill(site.page("/mine", "<p>mine</p>"))
    await dialog.get_by_role("button", name="Open").click()
    await expect(window.get_by_role("heading", name="/mine")).to_be_visible()
    await expect(window).to_have_url(re.compile("#/page/person"))
    assert (await claude.error("click", pageId="person", selector="body"))["code"] == "HUMAN_IN_CONTROL"
    assert running.entry("person").record.of_person
    state = running.parts.wall.state(Identity(client_id="person-ana", label="ana", operator=True))
    assert [each["label"] for each in state.agents] == ["Claude"], "a person is none"
    await window.get_by_label("Menu", exact=True).click()
    await press(window, "Close")
    await press(window, "Close it")
    await expect(window.get_by_role("link", name="/mine")).to_have_count(0)


async def test_a_sign_in_by_a_popup_is_done_at_the_wall_which_leads_there_and_back(
    window: Page, running: RunningService, claude: Agent, site: Site
) -> None:
    done = "opener.document.body.innerHTML = '<h1>Welcome</h1>'; window.close()"
    popup = f"""<input onkeydown="if (event.key === 'Enter') {{ {done} }}">"""
    opens = f"""<button onclick="window.open('{site.page("/in", popup)}')">Sign in</button>"""
    await claude.call("goto", pageId="shop", url=site.page("/shop", opens))
    await taken(window, running)
    await running.window("shop").locator("button").focus()
    await window.keyboard.press("Enter")
    await expect(window).to_have_url(re.compile("#/page/shop~1"))
    await expect(window.get_by_role("heading", name="/in")).to_be_visible()
    await expect(window.get_by_role("textbox", name="The page itself")).to_be_focused()
    field = running.window("shop~1").locator("input")
    await field.focus()
    await window.keyboard.type("ana")
    await expect(field).to_have_value("ana")
    await window.keyboard.press("Enter")
    await expect(window).to_have_url(re.compile("#/page/shop$"))
    await press(window, "Give back")
    await expect(window.get_by_role("button", name="Take over")).to_be_visible()
    assert "Welcome" in str(await claude.call("content", pageId="shop"))


async def test_a_file_that_is_dropped_onto_a_page_reaches_it_or_is_told_not_to(
    window: Page, running: RunningService, claude: Agent, site: Site
) -> None:
    async def drop(x: int, y: int) -> None:
        width = await running.window("shop").evaluate("innerWidth")
        await window.get_by_role("textbox", name="The page itself").evaluate(_DROPS, [x, y, width])

    await claude.call("goto", pageId="shop", url=site.page("/drop", _DROP))
    await taken(window, running)
    await drop(100, 100)
    await expect(running.window("shop")).to_have_title("got list.csv")
    await drop(30, 325)
    await expect(window.get_by_role("alert")).to_contain_text("takes no files there")
    await press(window, "Give back")
    field = "<body style='margin: 0'><input type=file multiple style='width: 400px; height: 200px'>"
    await claude.call("goto", pageId="shop", url=site.page("/field", field))
    await taken(window, running)
    await drop(100, 100)
    await expect(running.window("shop").locator("input")).to_have_value(re.compile("list.csv"))
    await press(window, "Give back")
    await expect(window.get_by_role("button", name="Take over")).to_be_visible()
    read = await claude.call("evaluate_script", pageId="shop", script="document.querySelector('input').files[0].text()")
    assert "a,b" in str(read)


async def test_the_past_day_shows_where_the_shared_login_is_signed_in_and_until_when(
    window: Page, running: RunningService, claude: Agent, site: Site
) -> None:
    cookie = "sid=0123456789abcdef; Path=/; HttpOnly; Max-Age=604800"
    await claude.call("goto", pageId="shop", url=site.page("/in", Answer("in", headers={"Set-Cookie": cookie})))
    await window.goto(f"{running.base_url}/#/day")
    login = window.get_by_role("region", name="Signed in").get_by_role("listitem")
    await expect(login).to_contain_text(re.compile(r"127\.0\.0\.1.*until .*\d{4}"))
    assert "0123456789abcdef" not in await window.content()


async def test_the_past_day_tells_who_was_there_what_was_asked_and_what_came_and_plays_it_again(
    window: Page, running: RunningService, claude: Agent, site: Site
) -> None:
    site.page("/report.txt", lambda _: Answer("all well", headers={"Content-Disposition": "attachment"}))
    await claude.call("goto", pageId="shop", url=site.page("/shop", "<a href=/report.txt>Report</a>"))
    asked = await claude.call("request_human", pageId="shop", message="Is <b>it</b> right?", timeout=1)
    await window.clock.install()
    await window.clock.fast_forward(60_000)
    await expect(window.get_by_role("region", name="Waiting for you")).to_contain_text("1 min ago")
    await window.goto(f"{running.base_url}/#/page/shop")
    await window.get_by_role("button", name="Decline").click()
    await claude.call("request_human", pageId="shop", requestId=asked["requestId"])
    choices = ["<i>North</i>", "South"]
    asked = await claude.call("request_human", pageId="shop", kind="decision", message="?", choices=choices, timeout=1)
    await window.get_by_role("button", name=choices[0]).click()
    await claude.call("request_human", pageId="shop", requestId=asked["requestId"])
    await claude.call("click", pageId="shop", selector="a")
    await window.get_by_role("link", name="Back to the wall").click()
    await window.get_by_role("link", name="Past day").click()
    said = window.get_by_role("region", name="Asked of people")
    for words in ("Claude asked for you", "Is <b>it</b> right?", "ana declined"):
        await expect(said.get_by_role("listitem").last).to_contain_text(words)
    chosen = "<i>North</i>?ana answered · Claude asked for a decision"
    await expect(said.get_by_role("listitem").first).to_contain_text(chosen)
    came = window.get_by_role("region", name="Downloads")
    async with window.expect_popup() as opening:
        await came.get_by_role("button", name="Open report.txt").click()
    shown = await opening.value
    await expect(shown.get_by_text("all well")).to_be_visible()
    async with window.expect_download() as saving:
        await came.get_by_role("button", name="Save report.txt").click()
    assert (await saving.value).suggested_filename == "report.txt"
    chats = window.get_by_role("region", name="Chats and their pages")
    its_page = chats.get_by_role("listitem").filter(has_text="Claude").locator("+ li")  # the first under its chat
    replay = its_page.get_by_role("button", name="Replay shop")
    await replay.focus()
    await claude.call("click", pageId="shop", selector="a")
    await window.clock.fast_forward(3_000)
    await expect(came.get_by_role("listitem")).to_have_count(2)
    await expect(replay).to_be_focused()
    for pressed, title in ((replay, "Replay of shop"), (chats.get_by_role("button", name="Replay Claude"), "Replay")):
        async with window.expect_popup() as opening:
            await pressed.first.click()
        played = await opening.value
        await expect(played).to_have_title(title)
        await expect(played.get_by_role("region", name="Timeline")).to_contain_text("click")
        await played.close()
