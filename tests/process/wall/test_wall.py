"""Tests the wall as a person uses it: in a browser of their own, with pictures of real pages, by mouse and keyboard.

It is longer than 300 lines because each way to use the wall has a long visit of its own.
"""

import asyncio
import base64
import re
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, WebSocketRoute, expect

from browser_service.host.tabs import secrecy
from browser_service.host.watching import screencast, thumbnails
from tests.support.account import recorded
from tests.support.json import AnyJson
from tests.support.listening import connected
from tests.support.service import Agent, RunningService
from tests.support.site import Answer, Received, Site
from tests.support.waiting import PATIENCE_S, become
from tests.support.wall import link, visit

pytestmark = pytest.mark.anyio


async def test_a_page_is_seen_live_and_gone_to_by_keyboard_with_all_that_was_done_there(
    window: Page, claude: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(screencast, "_AIMS_WITHIN_MS", 5_000)  # a machine may be busy
    monkeypatch.setattr(secrecy, "_WITHIN_S", 5.0)
    monkeypatch.setattr(thumbnails, "_WITHIN_S", PATIENCE_S)
    monkeypatch.setattr(screencast, "_ACT_SHOWN_S", PATIENCE_S)
    await expect(window).to_have_url(re.compile(r"/#/$"))
    tile = window.get_by_role("listitem").filter(has_text="Claude").filter(has=window.locator(".picture"))
    await expect(tile.locator(".picture")).not_to_have_class(re.compile("empty"))
    await claude.call("click", pageId="shop", selector="button")
    await expect(tile.locator(".target")).to_be_visible()
    await tile.get_by_role("link", name="/shop").focus()
    await window.keyboard.press("Enter")
    await expect(window.get_by_role("heading", name="/shop")).to_be_visible()
    await expect(window.get_by_role("main").locator(".picture")).not_to_have_class(re.compile("empty"))
    await expect(window.get_by_role("tabpanel")).to_contain_text("clicked")
    pictures = window.get_by_role("button", name="Pictures of what Claude did").first  # the newest
    await expect(pictures).to_contain_text("After")
    await expect(pictures.locator(".mark")).to_be_visible()
    await pictures.press("Enter")
    await expect(window.get_by_role("dialog", name="Before and after")).to_contain_text("Claude clicked")
    await expect(window.get_by_role("img", name="After: the page")).to_be_visible()
    await window.keyboard.press("Escape")
    await window.get_by_role("tab", name="Timeline").focus()
    await window.keyboard.press("ArrowRight")
    await expect(window.get_by_role("tabpanel")).to_contain_text("hello")
    await window.get_by_role("tab", name="Network").click()
    await expect(window.get_by_role("tabpanel")).to_contain_text("200")
    await window.keyboard.press("Escape")
    await expect(tile).to_be_visible()
    await window.keyboard.press("/")
    await window.keyboard.type("nowhere")
    await expect(window.get_by_role("heading", name="Nothing matches")).to_be_visible()


async def test_every_button_does_what_it_says(window: Page, running: RunningService, claude: Agent) -> None:
    async def press(name: str) -> None:
        await window.get_by_role("button", name=name, exact=True).click()

    async with connected(running, "c-2", "Codex") as codex, connected(running, "c-3", "Claude") as sibling:
        await codex.call("open_page", pageId="other")
        await sibling.call("open_page", pageId="another")
        await window.goto(f"{running.base_url}/#/page/shop")
        await press("Stop this act")
        await expect(window.locator(".holds")).to_contain_text("You stopped it")
        assert (await claude.error("click", pageId="shop", selector="button"))["code"] == "HUMAN_IN_CONTROL"
        await press("Take over")
        await expect(window.locator(".holds")).to_contain_text("In your hands")
        await press("Give back")
        await expect(window.locator(".holds")).to_be_hidden()
        await claude.call("click", pageId="shop", selector="button")
        await window.get_by_label("Menu", exact=True).press("Enter")
        await press("Give to…")
        choice = window.get_by_role("dialog", name="Give it to")
        await expect(choice.get_by_role("button", name="Claude 2 1 page")).to_be_visible()
        await choice.get_by_role("button", name="Codex").click()
        await expect(window.locator(".whose")).to_contain_text("Codex")
        await codex.call("click", pageId="shop", selector="button")
        await window.get_by_label("Menu", exact=True).click()
        await press("Close")
        await press("Close it")
        await expect(window.get_by_role("link", name="/shop")).to_have_count(0)
        await codex.call("close_page", pageId="other")
        await sibling.call("close_page", pageId="another")


async def test_a_stretch_of_the_timeline_is_saved_as_a_flow(
    window: Page, running: RunningService, claude: Agent
) -> None:
    await claude.call("click", pageId="shop", selector="role=button[name=Buy]")
    await window.goto(f"{running.base_url}/#/page/shop")
    await expect(window.get_by_role("tabpanel")).to_contain_text("clicked")
    await window.get_by_role("button", name="Save as a flow…").click()
    await window.get_by_role("textbox", name="Name").fill("buy")
    last = window.get_by_role("combobox", name="To").locator("option")
    await window.get_by_role("combobox", name="To").select_option(index=await last.count() - 1)
    await window.get_by_role("button", name="Save", exact=True).click()
    await expect(window.get_by_text("flow buy is saved")).to_be_visible()
    saved = (running.settings.flows_dir / "buy.toml").read_text("utf-8")
    assert 'selector = ["role=button[name=Buy]"' in saved


async def test_a_person_signs_in_by_hand_and_nobody_sees_what_they_type(
    window: Page, running: RunningService, claude: Agent, site: Site
) -> None:
    fields = "<style>input{display:block;width:300px;height:40px}</style><input id=name><input id=p type=password>"
    await claude.call("goto", pageId="shop", url=site.page("/login", fields + "<div style='height:4000px'>"))
    page = running.window("shop")
    await window.goto(f"{running.base_url}/#/page/shop")
    await window.get_by_role("button", name="Take over").click()
    hand = window.get_by_role("textbox", name="The page itself")
    await expect(window.get_by_role("main").locator(".picture")).not_to_have_class(re.compile("empty"))
    box = await hand.bounding_box()
    assert box is not None
    scale = box["width"] / await page.evaluate("innerWidth")
    await window.mouse.click(box["x"] + 100 * scale, box["y"] + 30 * scale)
    await window.keyboard.type("ana@shop")
    await window.keyboard.press("Tab")
    await window.keyboard.type("s3cret")
    await expect(page.locator("#p")).to_have_value("s3cret")
    await expect(page.locator("#name")).to_have_value("ana@shop")
    await window.keyboard.insert_text("é漢")
    await expect(page.locator("#p")).to_have_value("s3creté漢")
    await window.mouse.wheel(0, 600)
    await page.wait_for_function("scrollY > 300")
    assert (await claude.error("content", pageId="shop"))["code"] == "HUMAN_IN_CONTROL"
    await window.keyboard.press("Shift+Escape")
    await expect(window.get_by_role("button", name="Give back")).to_be_focused()
    await window.get_by_role("button", name="Give back").click()
    await expect(hand).to_be_hidden()
    records = str(await recorded(claude, pageId="shop", client="ana"))
    assert "'mouse'" in records
    assert "s3cret" not in records


async def test_a_finger_taps_and_swipes_an_input_method_composes_and_lines_are_pasted(
    browser: Browser, running: RunningService, claude: Agent, site: Site
) -> None:
    body = """<body style="margin: 0; height: 4000px"><textarea style="display: block; width: 100%; height: 200px">
    </textarea><button style="width: 100%; height: 200px" onclick="document.title = 'tapped'">b</button>"""
    await claude.call("goto", pageId="shop", url=site.page("/touch", body))
    page = running.window("shop")
    options: dict[str, AnyJson] = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    phone = await visit(browser, running, permissions=["clipboard-read", "clipboard-write"], **options)
    cdp = await phone.context.new_cdp_session(phone)
    await phone.get_by_role("link", name="/touch").tap()
    await phone.get_by_role("button", name="Take over").tap()
    hand = phone.get_by_role("textbox", name="The page itself")
    await page.wait_for_function("innerWidth < 500")  # it is fitted to the phone
    ratio = f"--ratio: {int(100 * await page.evaluate('innerWidth / innerHeight')) / 100}"
    await expect(phone.get_by_role("main").locator(".picture")).to_have_attribute("style", re.compile(ratio))
    box = await hand.bounding_box()
    assert box is not None
    x, scale = box["x"] + 100, box["width"] / await page.evaluate("innerWidth")
    await phone.touchscreen.tap(x, box["y"] + 300 * scale)
    await expect(page).to_have_title("tapped")
    await phone.touchscreen.tap(x, box["y"] + 100 * scale)
    await expect(page.locator("textarea")).to_be_focused()
    for typed in ("に", "にほ", "日本"):  # what an input method shows meanwhile is its own
        await cdp.send("Input.imeSetComposition", {"text": typed, "selectionStart": 0, "selectionEnd": len(typed)})
    await cdp.send("Input.insertText", {"text": "日本"})
    await expect(page.locator("textarea")).to_have_value(re.compile("日本$"))
    await phone.evaluate("navigator.clipboard.writeText('one\\ntwo 👩‍👩‍👧\\n\\nfour')")
    await phone.keyboard.press("ControlOrMeta+v")
    await expect(page.locator("textarea")).to_have_value(re.compile("日本one\ntwo 👩‍👩‍👧\n\nfour$"))
    await phone.evaluate("navigator.clipboard.writeText('漢'.repeat(25000))")
    await phone.keyboard.press("ControlOrMeta+v")
    await page.wait_for_function("document.querySelector('textarea').value.endsWith('漢'.repeat(25000))")
    await page.evaluate("document.querySelector('textarea').value = ''")  # which is much to draw
    for kind, y in (("touchStart", 410), ("touchMove", 340), ("touchMove", 110), ("touchEnd", None)):
        points = [] if y is None else [{"x": x, "y": box["y"] + y * scale}]
        await cdp.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    await page.wait_for_function("scrollY > 100")
    await phone.get_by_role("button", name="Give back").click()  # Chromium may take a tap for the swipe's end
    await expect(hand).to_be_hidden()
    await phone.context.close()


async def test_a_pages_dialog_is_answered_at_the_wall_for_an_agent_and_by_the_person_who_has_it(
    window: Page, running: RunningService, claude: Agent, site: Site, tmp_path: Path
) -> None:
    body = """<style>body, button, input {display: block; width: 300px; height: 40px; margin: 0}</style>
    <button onclick="document.title = prompt('Your name?', 'Ana')">Name</button><input type=file multiple>"""
    await claude.call("goto", pageId="shop", url=site.page("/asks", body))
    page = running.window("shop")
    kept = await running.parts.journal.read("SELECT 1 FROM artifacts")
    await window.goto(f"{running.base_url}/#/page/shop")
    asks = window.get_by_role("group", name="The page asks")
    waits = await claude.call("click", pageId="shop", selector="button")
    await expect(asks).to_contain_text("Your name?")
    await asks.get_by_role("button", name="OK").click()
    await expect(window.get_by_role("alert")).to_contain_text("The page has your answer")
    told = (await claude.reply("get_call", callId=waits["callId"])).json()
    assert "was accepted by a person" in str(told["notices"])
    assert told["result"]["state"] == "done"
    await expect(asks).to_be_hidden()
    await window.get_by_role("button", name="Take over").click()
    hand = window.get_by_role("textbox", name="The page itself")
    await expect(window.get_by_role("main").locator(".picture")).to_have_attribute("style", re.compile("--ratio: 1"))
    box = await hand.bounding_box()
    assert box is not None
    scale = box["width"] / await page.evaluate("innerWidth")
    await window.mouse.click(box["x"] + 100 * scale, box["y"] + 20 * scale)
    await expect(asks.get_by_role("textbox")).to_be_focused()
    await window.keyboard.press("ControlOrMeta+a")
    await window.keyboard.type("Zoë")
    await window.keyboard.press("Enter")
    await expect(page).to_have_title("Zoë")
    await expect(hand).to_be_focused()
    await window.mouse.click(box["x"] + 50 * scale, box["y"] + 60 * scale)
    (tmp_path / "ä.txt").write_text("hello")
    async with window.expect_file_chooser() as chooser:
        await asks.get_by_role("button", name="Choose files …").click()
    await (await chooser.value).set_files(tmp_path / "ä.txt")
    await page.wait_for_function("document.querySelector('input').files[0]?.name === 'ä.txt'")
    assert await page.evaluate("document.querySelector('input').files[0].text()") == "hello"
    await expect(asks).to_be_hidden()
    await window.get_by_role("button", name="Give back").click()
    await expect(hand).to_be_hidden()
    acts = [row["action"] for row in await recorded(claude, pageId="shop", client="ana")]
    assert acts[:7] == ["give_back", "upload_file", "mouse", "handle_dialog", "mouse", "take_over", "handle_dialog"]
    assert await running.parts.journal.read("SELECT 1 FROM artifacts") == kept


async def test_an_agents_request_is_answered_in_its_card_or_next_to_its_page(window: Page, claude: Agent) -> None:
    async def ask(kind: str, **more: AnyJson) -> str:
        asked = await claude.call("request_human", pageId="shop", kind=kind, message="Please.", timeout=1, **more)
        return str(asked["requestId"])

    async def told(request_id: str) -> str:
        return str((await claude.call("request_human", pageId="shop", requestId=request_id))["observed"])

    asked = window.get_by_role("region", name="Waiting for you")
    request = await ask("decision", choices=["red", "blue"])
    await asked.get_by_role("button", name="blue").click()
    await expect(asked).to_be_hidden()
    assert "It says: blue" in await told(request)
    request = await ask("code")
    await asked.get_by_role("textbox", name="The code").fill("12")
    await claude.call("open_page", pageId="another")
    other = await claude.call("request_human", pageId="another", kind="other", message="Look.", timeout=1)
    await expect(asked.get_by_role("listitem")).to_have_count(2)
    await expect(asked.get_by_role("textbox", name="The code")).to_have_value("12")
    await asked.get_by_role("textbox", name="The code").press("Enter")
    await expect(asked.get_by_role("listitem")).to_have_count(1)
    assert "12" in await told(request)
    await claude.call("request_human", pageId="another", requestId=other["requestId"], withdraw=True)
    await claude.call("close_page", pageId="another")
    request = await ask("login")
    await asked.get_by_role("link", name="Sign in there").click()
    await window.get_by_role("button", name="Done").click()
    assert "ana says it is done: a login" in await told(request)
    await expect(window.locator(".holds")).to_be_hidden()


async def test_a_lost_connection_is_shown_and_reconnects_with_everything_that_changed(
    window: Page, running: RunningService, claude: Agent, site: Site
) -> None:
    sockets: list[WebSocketRoute] = []

    def pass_on(route: WebSocketRoute) -> None:
        if len(sockets) != 1:  # the service cannot be reached the second time
            route.connect_to_server()
        sockets.append(route)

    await window.route_web_socket("**/wall/socket", pass_on)
    await window.goto(f"{running.base_url}/#/page/shop")
    await window.reload()
    status = window.get_by_role("banner").get_by_role("status")
    await expect(status).to_have_text("Live")
    await sockets[0].close()
    await expect(status).to_contain_text("Connection lost")
    await claude.call("goto", pageId="shop", url=site.page("/later", "<title>Later</title>"))
    await become(lambda: len(sockets) > 1)
    await sockets[1].close()
    await expect(status).to_have_text("Live")
    await expect(window.get_by_role("heading", name="Later")).to_be_visible()
    await expect(window.get_by_role("tabpanel")).to_contain_text("/later")


async def test_a_reader_learns_why_buttons_do_nothing_and_a_used_link_why_it_is_refused(
    browser: Browser, running: RunningService, claude: Agent
) -> None:
    phone = await visit(browser, running, read_only=True, viewport={"width": 390, "height": 844}, color_scheme="dark")
    await phone.get_by_role("link", name="/shop").click()
    await expect(phone.get_by_role("button", name="Take over")).to_be_disabled()
    await expect(phone.get_by_text("your link was a read-only one")).to_be_visible()
    await claude.call("share_page", pageId="shop", access="private")
    await expect(phone.get_by_text("Private", exact=True)).to_be_visible()
    assert await phone.evaluate("document.documentElement.scrollWidth") == 390
    await phone.get_by_role("button", name="Sign out").click()
    await expect(phone.get_by_role("heading", name="See what your agents do")).to_be_visible()
    code = await link(running)
    for _ in range(2):  # who is in already need not know that the link is used
        await phone.goto("about:blank")
        await phone.goto(f"{running.base_url}/#{code}")
        await expect(phone.get_by_role("link", name="browse-together")).to_be_visible()
    await phone.get_by_role("button", name="Sign out").click()
    await expect(phone.get_by_role("heading", name="See what your agents do")).to_be_visible()
    await phone.goto("about:blank")
    await phone.goto(f"{running.base_url}/#{code}")
    await expect(phone.get_by_role("alert")).to_contain_text("used already")
    other = await phone.context.new_page()
    await other.goto(f"{running.base_url}/#{await link(running)}")
    await expect(phone.get_by_role("link", name="browse-together")).to_be_visible()  # behind the other
    await phone.context.close()


async def test_a_reader_is_not_addressed_as_the_asked_person_and_sees_why_there_is_no_picture(
    browser: Browser, running: RunningService, claude: Agent, site: Site
) -> None:
    await claude.call("share_page", pageId="shop", access="read")
    looks = await visit(browser, running, read_only=True)
    asked = await claude.call("request_human", pageId="shop", kind="decision", message="Which?", timeout=1)
    await expect(looks.get_by_role("region", name="Waiting for a person")).to_contain_text("asks somebody to decide")
    await claude.call("request_human", pageId="shop", requestId=asked["requestId"], withdraw=True)
    url = site.page("/says", "<button onclick=\"alert('Sold out')\">Buy</button>")
    await claude.call("goto", pageId="shop", url=url)
    await claude.call("click", pageId="shop", selector="button")
    await looks.goto(f"{running.base_url}/#/page/shop")
    await looks.reload()
    await expect(looks.get_by_text("No picture while the page asks")).to_be_visible()
    await claude.call("handle_dialog", pageId="shop", accept=True)
    await expect(looks.get_by_text("No picture while the page asks")).to_be_hidden()
    await looks.context.close()


async def test_buttons_that_are_pressed_by_keyboard_lose_no_focus_and_a_page_that_is_taken_has_the_keys_at_once(
    window: Page, running: RunningService, claude: Agent, site: Site
) -> None:
    await claude.call("goto", pageId="shop", url=site.page("/note", "<textarea autofocus></textarea>"))
    await window.goto(f"{running.base_url}/#/page/shop")
    await window.get_by_role("button", name="Stop").press("Enter")
    await expect(window.locator(".holds")).to_contain_text("Agents are kept out until you give it back")
    await expect(window.get_by_role("status").filter(has_text="shop is stopped")).to_have_count(1)
    await expect(window.get_by_role("button", name="Take over")).to_be_focused()
    await window.keyboard.press("Enter")
    await expect(window.get_by_role("textbox", name="The page itself")).to_be_focused()
    await window.keyboard.type("hello")
    await expect(running.window("shop").locator("textarea")).to_have_value("hello")
    acts = window.get_by_role("tabpanel")
    for said in ("stopped it", "took the page over", "typed"):
        await expect(acts).to_contain_text(said)
    await expect(acts).not_to_contain_text("(1 character)")  # so it has been recorded, whatever was typed
    await window.keyboard.press("Shift+Escape")
    await window.get_by_role("button", name="Give back").press("Enter")
    await expect(window.get_by_role("button", name="Stop")).to_be_focused()


async def test_a_drop_down_list_that_the_hand_presses_is_shown_at_the_wall_and_chosen_from_there(
    window: Page, running: RunningService, claude: Agent, site: Site
) -> None:
    options = "<option>one<option value=2>two<option disabled>three"
    inner = f"<body style='margin: 0'><select id=inner style='width: 200px; height: 40px'>{options}</select>"
    body = f"""<body style="margin: 0"><select id=list style="display: block; width: 200px; height: 40px"
    onchange="document.title = 'chose ' + value">{options}</select>
    <iframe srcdoc="{inner}" style="border: 0; margin: 20px; width: 300px; height: 60px"></iframe>"""
    await claude.call("goto", pageId="shop", url=site.page("/list", body))
    page = running.window("shop")
    await window.goto(f"{running.base_url}/#/page/shop")
    await window.get_by_role("button", name="Take over").click()
    hand, asks = (
        window.get_by_role("textbox", name="The page itself"),
        window.get_by_role("group", name="The page asks"),
    )
    await expect(window.get_by_role("main").locator(".picture")).to_have_attribute("style", re.compile("--ratio: 1"))

    async def press(x: int, y: int) -> None:
        box = await hand.bounding_box()
        assert box is not None
        scale = box["width"] / await page.evaluate("innerWidth")
        await window.mouse.click(box["x"] + x * scale, box["y"] + y * scale)

    await press(100, 20)
    shown = asks.get_by_role("listbox", name="The list's options")
    await expect(shown).to_be_focused()
    await expect(shown.get_by_role("option", name="three")).to_be_disabled()
    await window.keyboard.press("ArrowDown")
    await window.keyboard.press("Enter")
    await expect(page).to_have_title("chose 2")
    await expect(asks).to_be_hidden()
    await expect(hand).to_be_focused()
    await press(100, 20)
    await asks.get_by_role("button", name="Cancel").click()
    await expect(asks).to_be_hidden()
    await press(100, 80)
    await shown.select_option("two")
    await asks.get_by_role("button", name="Choose").click()
    await expect(page.frame_locator("iframe").locator("#inner")).to_have_value("2")
    await expect(window.get_by_role("tabpanel")).to_contain_text("chose")


async def test_a_page_without_a_window_has_one_again_once_a_person_takes_it_over(
    window: Page, running: RunningService, claude: Agent, site: Site
) -> None:
    await claude.call("goto", pageId="shop", url=site.page("/note", "<textarea autofocus></textarea>"))
    await window.goto(f"{running.base_url}/#/page/shop")
    picture = window.get_by_role("main").locator(".picture")
    await expect(picture).to_have_attribute("data-state", "live")
    tab = running.entry("shop").record.tab
    assert tab is not None
    assert tab.cdp is not None
    asyncio.ensure_future(tab.cdp.send("Page.crash")).add_done_callback(lambda done: done.exception())
    await expect(picture).to_have_attribute("data-state", "crashed")
    await window.get_by_role("button", name="Take over").click()
    await expect(picture).to_have_attribute("data-state", "live")
    await expect(window.get_by_role("textbox", name="The page itself")).to_be_focused()
    await window.keyboard.type("hello")
    await expect(running.window("shop").locator("textarea")).to_have_value("hello")


async def test_a_person_gives_http_credentials_for_their_page_at_the_wall(window: Page, claude: Agent) -> None:
    def answer(received: Received) -> Answer:
        if received.headers.get("Authorization") == f"Basic {base64.b64encode(b'ana:right').decode()}":
            return Answer("<h1>Inside</h1>")
        return Answer("", 401, headers={"WWW-Authenticate": 'Basic realm="The archive"'})

    with Site() as archive:
        await claude.error("goto", pageId="shop", url=archive.page("/", answer))
        await window.goto(window.url.partition("#")[0] + "#/page/shop")
        assert not await window.get_by_label("Password").is_visible()
        await window.get_by_role("button", name="Take over").click()
        asking = window.get_by_role("group", name="The page asks")
        await expect(asking).to_contain_text(f"{archive.url('').rstrip('/')} asks you to sign in")
        await expect(asking).to_contain_text("It calls itself “The archive”")
        for password in ("wrong", "right"):
            await window.get_by_label("Name", exact=True).fill("ana")
            await window.get_by_label("Password").fill(password)
            await window.get_by_label("Password").press("Enter")
            if password == "wrong":
                await expect(asking).to_contain_text("It refused that name and password.")
        await expect(asking).to_be_hidden()
        await window.get_by_role("button", name="Give back").click()
        await expect(window.get_by_role("button", name="Take over")).to_be_visible()
        assert "Inside" in str(await claude.call("snapshot", pageId="shop"))
        assert (await claude.call("goto", pageId="shop", url=archive.url()))["status"] == 200
