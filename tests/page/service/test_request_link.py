"""Tests the link of a request in a person's own browser, on a phone: its page is live there, and takes their hands."""

import re
from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser, Page, expect

from tests.page.service.test_wall import browser, claude, running
from tests.support.json import AnyJson
from tests.support.service import Agent, RunningService

__all__ = ["browser", "claude", "running"]

pytestmark = pytest.mark.anyio


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
    await phone.goto(running.base_url + running.parts.requests.link(request_id))
    await expect(phone.get_by_role("main").locator(".picture")).not_to_have_class(re.compile("empty"))
    assert await phone.evaluate("document.documentElement.scrollWidth") == 390


async def test_what_is_asked_is_answered_beside_its_page(phone: Page, running: RunningService, claude: Agent) -> None:
    asks: list[tuple[dict[str, AnyJson], str, str]] = [
        ({"kind": "code", "message": "The <b>code</b>?"}, "Done", "A person gave the code at .* It says: 724 115"),
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
    await phone.goto(running.base_url + running.parts.requests.link(asked["requestId"]))
    await expect(phone.get_by_role("alert")).to_contain_text("it may be answered already")
