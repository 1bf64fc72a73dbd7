"""Tests that a person is notified by their browser of what agents ask, also while the wall is closed, and led there.

Chromium has no push service without its maker's servers: what that does, a test does by the browser's protocol.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser, Page, expect

from tests.support.called import CalledBrowser
from tests.support.json import AnyJson
from tests.support.listening import PATIENCE_S, become
from tests.support.service import Agent, RunningService
from tests.support.sharing import StartService
from tests.support.site import Answer, Site
from tests.support.wall import visit

pytestmark = [pytest.mark.anyio, pytest.mark.whole_browser]  # the lighter one shows no notifications

_ASKS: dict[str, AnyJson] = {"pageId": "shop", "kind": "login", "message": "Please sign in.", "timeout": 1_000}
_SUBSCRIBES = """
PushManager.prototype.subscribe = async ({ applicationServerKey, userVisibleOnly }) => {
  if (!userVisibleOnly || applicationServerKey.length !== 87) throw new Error("no browser takes that");
  return { toJSON: () => (WHERE), unsubscribe: async () => true };
};
"""
_SHOWN = """async () => (await (await navigator.serviceWorker.getRegistration("/wall/static/")).getNotifications())
  .map(({ title, body, tag }) => [title, body, tag])"""
_CLICK = """async () => {
  const [notification] = await registration.getNotifications();
  dispatchEvent(new NotificationEvent("notificationclick", { notification }));
}"""
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
    yield window
    await window.context.close()


async def turn_on(window: Page, says: str) -> None:
    await expect(window.get_by_role("link", name="/shop")).to_be_visible()
    await window.keyboard.press(",")
    settings = window.get_by_role("dialog", name="Settings")
    await settings.get_by_label("Notification").check()
    await expect(settings).to_contain_text(f"when an agent asks for you, {says}")
    await settings.get_by_role("button", name="Done").click()


async def until_shown(page: Page, *notifications: list[str]) -> None:
    """Wait until the browser shows these notifications: title, text and tag of each."""
    async with asyncio.timeout(PATIENCE_S):
        while await page.evaluate(_SHOWN) != [*notifications]:  # noqa: ASYNC110 - the browser tells nobody
            await asyncio.sleep(0.02)


async def deliver(page: Page, running: RunningService, message: AnyJson) -> None:
    """Do what a browser does that its push service woke."""
    registered: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    browser = await page.context.new_cdp_session(page)

    def note(told: AnyJson) -> None:
        for each in told["registrations"]:
            if not registered.done():
                registered.set_result(each["registrationId"])

    browser.on("ServiceWorker.workerRegistrationUpdated", note)
    await browser.send("ServiceWorker.enable")
    where = {"origin": running.base_url, "registrationId": await registered}
    await browser.send("ServiceWorker.deliverPushMessage", {**where, "data": json.dumps(message)})


async def test_a_closed_walls_person_is_called_by_the_push_service_and_a_click_leads_to_the_request(
    window: Page, running: RunningService, claude: Agent, site: Site
) -> None:
    phone = CalledBrowser(site.page("/push/phone", Answer(status=201)))
    running.parts.push.services = re.compile(re.escape(phone.endpoint))
    endpoint, keys = phone.endpoint, {"p256dh": phone.subscription["p256dh"], "auth": phone.subscription["auth"]}
    await window.context.add_init_script(_SUBSCRIBES.replace("WHERE", json.dumps({"endpoint": endpoint, "keys": keys})))
    await window.reload()
    await turn_on(window, "also when this page is closed")
    beside = await window.context.new_page()
    await beside.goto(f"{running.base_url}/health")
    await window.close()
    await become(lambda: not running.parts.viewing.watched)
    request_id = (await claude.call("request_human", **_ASKS))["requestId"]
    await become(lambda: site.counts["/push/phone"] == 1)
    (received,) = [each for each in site.received if each.path == "/push/phone"]
    await deliver(beside, running, phone.read(received.body))
    await until_shown(beside, ["An agent asks you to sign in", "", request_id])
    await beside.goto(running.base_url)
    await expect(beside.get_by_role("link", name="Answer")).to_be_visible()
    (worker,) = beside.context.service_workers
    await worker.evaluate(_CLICK)
    await expect(beside).to_have_url(f"{running.base_url}/#/page/shop")
    await claude.call("request_human", pageId="shop", requestId=request_id, withdraw=True)
    await beside.goto(f"{running.base_url}/#/request/{request_id}")
    await expect(beside.get_by_role("alert")).to_have_text("It is over: nobody is asked any more.")


async def test_without_a_push_service_the_switch_says_so_and_an_open_wall_notifies_while_it_is_not_in_view(
    window: Page, claude: Agent
) -> None:
    await turn_on(window, "while this page is open")
    await window.evaluate(_HIDE)
    request_id = (await claude.call("request_human", **_ASKS))["requestId"]
    await until_shown(window, ["An agent asks you to sign in", "", request_id])
    await claude.call("request_human", pageId="shop", requestId=request_id, withdraw=True)
