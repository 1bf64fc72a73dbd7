"""Tests that a person is notified by their browser of what agents ask, and led there."""

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser, Page, expect

from tests.support.json import AnyJson
from tests.support.service import Agent, RunningService
from tests.support.sharing import StartService
from tests.support.wall import visit

pytestmark = [pytest.mark.anyio, pytest.mark.whole_browser]  # the lighter one shows no notifications

_ASKS: dict[str, AnyJson] = {"pageId": "shop", "kind": "login", "message": "Please sign in.", "timeout": 1_000}
_NOTES_SHOWN = """
globalThis.shown = [];
globalThis.Notification = class extends Notification {
  constructor(...given) {
    super(...given);
    this.addEventListener("show", () => shown.push(this));
  }
};
"""
_SHOWN = "shown.length && shown.map(({ title, body, tag }) => [title, body, tag])"
_HIDE = """() => {
  Object.defineProperty(document, "hidden", { get: () => true });
  document.dispatchEvent(new Event("visibilitychange"));
}"""


@pytest.fixture
async def browser(start: StartService) -> Browser:
    """Return a whole browser, in which a person has windows of their own."""
    service = await start()
    async with service.agent() as agent:
        await agent.call("open_page")
    browser = service.context().browser
    assert browser is not None
    return browser


@pytest.fixture
async def window(browser: Browser, running: RunningService, claude: Agent) -> AsyncIterator[Page]:  # noqa: ARG001 - there is a page to ask about
    window = await visit(browser, running)
    await window.context.grant_permissions(["notifications"], origin=running.base_url)
    await window.context.add_init_script(_NOTES_SHOWN)
    await window.reload()
    yield window
    await window.context.close()


async def turn_on(window: Page) -> None:
    await expect(window.get_by_role("link", name="/shop")).to_be_visible()
    await window.keyboard.press(",")
    settings = window.get_by_role("dialog", name="Settings")
    await settings.get_by_label("Notification").check()
    await settings.get_by_role("button", name="Done").click()


async def test_an_open_wall_notifies_while_it_is_not_in_view_and_a_click_leads_to_the_request(
    window: Page, running: RunningService, claude: Agent
) -> None:
    await turn_on(window)
    await window.evaluate(_HIDE)
    request_id = (await claude.call("request_human", **_ASKS))["requestId"]
    await window.wait_for_function(_SHOWN)
    assert await window.evaluate(_SHOWN) == [["An agent asks you to sign in", "", request_id]]
    await window.evaluate("shown[0].dispatchEvent(new Event('click'))")
    await expect(window).to_have_url(f"{running.base_url}/#/page/shop")
    await claude.call("request_human", pageId="shop", requestId=request_id, withdraw=True)
    await expect(window).to_have_title("browse-together")  # it has none left
    await window.goto(f"{running.base_url}/#/request/{request_id}")
    await expect(window.get_by_role("alert")).to_have_text("It is over: nobody is asked any more.")
