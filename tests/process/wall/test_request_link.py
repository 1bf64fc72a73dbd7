"""Tests the link of a request in a person's own browser, on a phone: its page is live there, and takes their hands."""

import re
from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser, Page, expect

from tests.support.account import recorded
from tests.support.json import AnyJson
from tests.support.service import Agent, RunningService
from tests.support.site import Site

pytestmark = pytest.mark.anyio

UPRIGHT = re.compile(r"--ratio: 0\.")


@pytest.fixture
async def phone(browser: Browser) -> AsyncIterator[Page]:
    context = await browser.new_context(viewport={"width": 390, "height": 844}, is_mobile=True, has_touch=True)
    window = await context.new_page()
    window.set_default_timeout(10_000)
    errors: list[str] = []
    window.on("pageerror", lambda error: errors.append(str(error)))
    window.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
    yield window
    await context.close()
    assert errors == []


async def follow(phone: Page, running: RunningService, request_id: str) -> None:
    """Go to the link of a request, and wait for the picture of its page."""
    await phone.goto("about:blank")
    await phone.goto(running.link_to(request_id))
    await expect(phone.get_by_role("main").locator(".picture")).not_to_have_class(re.compile("empty"))
    assert await phone.evaluate("document.documentElement.scrollWidth") == 390


async def test_a_request_is_answered_beside_its_page(phone: Page, running: RunningService, claude: Agent) -> None:
    asks: list[tuple[dict[str, AnyJson], str, str]] = [
        (
            {"kind": "code", "message": "The <b>code</b>?"},
            "Done",
            "A person says it is done: a code at .* It says: 724 115",
        ),
        ({"kind": "decision", "message": "Which?", "choices": ["red", "blue"]}, "blue", "decided. It says: blue"),
        ({"kind": "other", "message": "Pay."}, "Decline", "A person declined: something at "),
    ]
    for what, press, told in asks:
        asked = await claude.call("request_human", pageId="shop", timeout=1, **what)
        await follow(phone, running, asked["requestId"])
        await expect(phone.locator(".holds")).to_contain_text(str(what["message"]))
        if what["kind"] == "code":
            await phone.get_by_role("textbox", name="The code").fill("724 115")
        await phone.get_by_role("button", name=press).tap()
        await expect(phone.get_by_role("heading")).to_contain_text("agents go on" if press != "Decline" else "declined")
        answered = await claude.call("request_human", pageId="shop", requestId=asked["requestId"])
        assert re.search(told, answered["observed"])
    await phone.goto(running.link_to(asked["requestId"]))
    await expect(phone.get_by_role("heading")).to_have_text("It is over: nobody is asked any more.")


async def test_on_a_phone_a_person_signs_in_with_password_and_code_by_two_taps_and_what_they_type(
    phone: Page, running: RunningService, claude: Agent, site: Site
) -> None:
    site.page("/totp", "<form action=/in><input name=code inputmode=numeric></form>")
    site.page("/in", "<h1>Welcome</h1><button>Go</button>")
    fields = "<style>input{display:block;width:200px;height:40px}</style><input name=user><input name=pw type=password>"
    await claude.call("goto", pageId="shop", url=site.page("/login", f"<form action=/totp>{fields}<button>In</button>"))
    page = running.window("shop")
    width = await page.evaluate("innerWidth")
    asked = await claude.call("request_human", pageId="shop", kind="login", message="Please.", timeout=1)
    await follow(phone, running, asked["requestId"])
    await page.wait_for_function("innerWidth === 390")
    await expect(phone.get_by_role("main").locator(".picture")).to_have_attribute(
        "style", UPRIGHT
    )  # they tap what they see
    await phone.get_by_role("textbox", name="The page itself").tap(position={"x": 60, "y": 25})
    for text, field in (("ana", "user"), ("s3cret", "pw"), ("724115", "code")):
        await expect(page.locator(f"[name={field}]")).to_be_visible()
        await phone.keyboard.type(text)
        await expect(page.locator(f"[name={field}]")).to_have_value(text)
        await phone.keyboard.press("Enter")
    await expect(page.get_by_role("heading")).to_have_text("Welcome")
    await phone.get_by_role("button", name="Done").tap()
    await expect(phone.get_by_role("heading")).to_contain_text("agents go on")
    answered = await claude.call("request_human", pageId="shop", requestId=asked["requestId"])
    assert answered["observed"].startswith("A person says it is done: a login at ")
    await page.wait_for_function("width => innerWidth === width", arg=width)
    await claude.call("click", pageId="shop", selector="button")
    assert "s3cret" not in str(await recorded(claude, pageId="shop"))
