"""Tests the page behind the link of a request: a person in an ordinary browser sees what is asked, and answers it."""

import shutil
from collections.abc import AsyncIterator

import httpx
import pytest
from playwright.async_api import Page, async_playwright, expect

from client.credentials import mint
from shared import wire
from tests.front.service.test_person_page import DECISION, asker, asks, running
from tests.support.service import Agent, RunningService
from tests.support.site import Site

__all__ = ["asker", "running"]

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
async def window() -> AsyncIterator[Page]:
    """Return the person's own browser, which has nothing to do with the shared one."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=shutil.which("chromium"))
        page = await browser.new_page()
        page.set_default_timeout(5_000)
        yield page
        await browser.close()


async def link(running: RunningService, request_id: str) -> str:
    """Return the link as the account's own command line shows it."""
    token = mint(running.parts.secret, "cli", operator=True)
    async with httpx.AsyncClient(base_url=running.base_url, headers={"Authorization": f"Bearer {token}"}) as http:
        requests = (await http.get(wire.REQUESTS)).json()["result"]["requests"]
    return running.base_url + next(str(one["link"]) for one in requests if one["requestId"] == request_id)


async def test_a_decision_is_made_on_the_page(running: RunningService, asker: Agent, window: Page, site: Site) -> None:
    request_id = await asks(asker, **DECISION)
    await window.goto(await link(running, request_id))
    await expect(window.get_by_role("heading")).to_have_text("Red or <b>blue</b>?")
    await expect(window.locator("#about")).to_contain_text(site.url("/cart"))
    await expect(window.get_by_role("textbox")).to_be_hidden()
    await window.get_by_label("blue").check()
    await window.get_by_role("button", name="Done").click()
    await expect(window.get_by_role("status")).to_contain_text("the agents go on")
    told = await asker.call("request_human", pageId="cart", requestId=request_id)
    assert told["observed"] == "A person decided. It says: blue"


async def test_a_code_is_given_and_a_login_declined_on_the_page(
    running: RunningService, asker: Agent, window: Page
) -> None:
    code = await asks(asker, kind="code", message="The code from the text message, please.")
    await window.goto(await link(running, code))
    await window.get_by_label("The code").fill("724 115")
    await window.keyboard.press("Enter")
    await expect(window.get_by_role("status")).to_contain_text("the agents go on")
    assert (await asker.call("request_human", pageId="cart", requestId=code))["answer"] == "724 115"

    login = await asks(asker, kind="login", message="Please sign in.")
    await window.goto(await link(running, login))
    await expect(window.get_by_role("heading")).to_have_text("Please sign in.")
    await expect(window.get_by_role("textbox")).to_be_hidden()
    await window.get_by_role("button", name="Decline").click()
    await expect(window.get_by_role("status")).to_contain_text("Declined")
    assert (await asker.call("request_human", pageId="cart", requestId=login))["state"] == "refused"
    await window.reload()
    await expect(window.get_by_role("status")).to_contain_text("it may be answered already")
