"""Tests the smart home on a real port: its event stream, how it stops, and its page in a real browser."""

import asyncio
import json
import re
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import httpx
import pytest
from anyio.streams.buffered import BufferedByteReceiveStream
from playwright.async_api import Browser, BrowserContext, Page, async_playwright, expect

from examples.smart_home.server import SiteServer
from examples.smart_home.state import Home, View
from tests.support import browsers
from tests.support.waiting import PATIENCE_S

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[3]
LOGIN = {"username": "ana", "password": "casa"}


@pytest.fixture
async def site() -> AsyncIterator[SiteServer]:
    """Run the site inside this program."""
    started = asyncio.Event()
    server = SiteServer(Home(), announce=lambda _: started.set())
    serving = asyncio.create_task(server.serve())
    await asyncio.wait_for(started.wait(), PATIENCE_S)
    yield server
    server.should_exit = True
    await asyncio.wait_for(serving, PATIENCE_S)


@asynccontextmanager
async def logged_in(url: str) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=url, trust_env=False, timeout=10) as client:
        await client.post("/login", data=LOGIN)
        yield client


@asynccontextmanager
async def following(client: httpx.AsyncClient) -> AsyncIterator[AsyncIterator[View]]:
    async with client.stream("GET", "/events") as reply:
        assert reply.headers["content-type"].startswith("text/event-stream")
        yield views(reply)


async def views(reply: httpx.Response) -> AsyncIterator[View]:
    async for line in reply.aiter_lines():
        if line.startswith("data: "):
            yield json.loads(line.removeprefix("data: "))


async def assert_ends(stream: AsyncIterator[View]) -> None:
    """Check that nothing comes after what is under way, and that the connection closes properly, else httpx raises."""
    with anyio.fail_after(PATIENCE_S):
        async for _ in stream:
            pass


# The event stream


async def test_the_stream_begins_with_the_house_and_brings_what_another_client_changes(site: SiteServer) -> None:
    async with logged_in(site.url) as watcher, logged_in(site.url) as actor, following(watcher) as stream:
        with anyio.fail_after(PATIENCE_S):
            before = await anext(stream)
            await actor.post("/api/lights/cocina", json={"on": True})
            after = await anext(stream)
    assert (before["lights"]["cocina"], after["lights"]["cocina"]) == (False, True)
    assert after["counts"] == {"login": 2, "set_light_state": 1, "set_light_state:cocina": 1}
    assert after["history"][0]["what"] == "turned cocina on"


async def test_a_logout_ends_the_streams_of_its_token_and_of_no_other(site: SiteServer) -> None:
    async with (
        logged_in(site.url) as leaver,
        logged_in(site.url) as stayer,
        following(leaver) as left,
        following(stayer) as stayed,
    ):
        with anyio.fail_after(PATIENCE_S):
            await anext(left)
            await anext(stayed)
            await leaver.post("/logout")
            await assert_ends(left)
            assert (await anext(stayed))["counts"]["logout"] == 1


# Stopping


async def test_a_terminated_site_ends_open_streams() -> None:
    command = [sys.executable, "-m", "examples.smart_home", "--port", "0"]
    async with await anyio.open_process(command, cwd=ROOT) as process:
        assert process.stdout
        assert process.stderr
        try:
            with anyio.fail_after(PATIENCE_S):
                line = await BufferedByteReceiveStream(process.stdout).receive_until(b"\n", 200)
                url = line.decode().removeprefix("SMART_HOME ")
                async with logged_in(url) as client, following(client) as stream:
                    await anext(stream)
                    process.terminate()
                    await assert_ends(stream)
                    await process.wait()
                said = [chunk async for chunk in process.stderr]
        finally:
            if process.returncode is None:
                process.kill()
    assert b"".join(said).decode() == f"Smart home: {url} (log in as ana, password casa)\n"


async def test_a_site_inside_another_program_stops_in_the_same_way(site: SiteServer) -> None:
    async with logged_in(site.url) as client, following(client) as stream:
        await anext(stream)
        site.should_exit = True
        await assert_ends(stream)


# The page


@pytest.fixture(scope="module")
async def browser() -> AsyncIterator[Browser]:
    """Start the light browser, else an installed Chromium, or Playwright's own."""
    executable = browsers.executable() or shutil.which("chromium")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=executable)
        yield browser
        await browser.close()


@pytest.fixture
async def ana(site: SiteServer, browser: Browser) -> AsyncIterator[BrowserContext]:
    context = await browser.new_context()
    page = await context.new_page()
    await page.goto(site.url)
    await log_in(page)
    await page.close()
    yield context
    await context.close()


async def log_in(page: Page) -> None:
    await page.get_by_label("Username").fill(LOGIN["username"])
    await page.get_by_label("Password").fill(LOGIN["password"])
    await page.get_by_role("button", name="Log in").click()
    await expect(page.get_by_role("button", name="Log out")).to_be_visible()


async def open_home(site: SiteServer, context: BrowserContext) -> Page:
    page = await context.new_page()
    await page.goto(site.url)
    return page


async def counts(site: SiteServer) -> object:
    async with httpx.AsyncClient(base_url=site.url, trust_env=False) as client:
        return (await client.get("/api/counts")).json()


async def test_a_loaded_page_has_its_switches_in_their_right_state(site: SiteServer, ana: BrowserContext) -> None:
    page = await open_home(site, ana)
    switches = await page.get_by_role("switch").evaluate_all(
        "all => all.map(one => [one.ariaLabel, one.ariaChecked === 'true'])"
    )
    assert switches == [
        ["salon", True],
        ["cocina", False],
        ["dormitorio", False],
        ["bano", False],
        ["garage", True],
        ["alarm", True],
        ["presence", True],
    ]


async def test_a_click_shows_in_another_page_without_a_reload(site: SiteServer, ana: BrowserContext) -> None:
    other = await open_home(site, ana)
    await other.evaluate("window.loadedOnce = true")
    page = await open_home(site, ana)
    for name in ("cocina", "alarm", "presence"):
        await page.get_by_role("switch", name=name, exact=True).click()
    await expect(other.get_by_role("switch", name="cocina")).to_be_checked()
    await expect(other.get_by_role("switch", name="alarm")).not_to_be_checked()
    await expect(other.locator("#presence .detail")).to_have_text("Nobody is home")
    await expect(other.get_by_role("listitem").filter(has_text="Ana turned cocina on")).to_be_visible()
    assert await other.evaluate("window.loadedOnce")
    assert await counts(site) == {
        "login": 1,
        "set_light_state": 1,
        "set_light_state:cocina": 1,
        "set_alarm_state": 1,
        "set_presence": 1,
    }


async def test_more_pages_than_a_browser_has_connections_all_stay_live(site: SiteServer, ana: BrowserContext) -> None:
    pages = [await open_home(site, ana) for _ in range(8)]
    await pages[-1].get_by_role("switch", name="bano").click()
    for page in pages:
        await expect(page.get_by_role("switch", name="bano")).to_be_checked()


async def test_a_switch_shows_its_old_state_until_the_server_confirms(site: SiteServer, ana: BrowserContext) -> None:
    page = await open_home(site, ana)
    await page.route("**/api/lights/*", lambda route: route.fulfill(status=503))
    await page.get_by_role("switch", name="salon").click()
    await expect(page.get_by_role("alert")).to_have_text("salon could not be switched: the house answered 503")
    await expect(page.get_by_role("switch", name="salon")).to_be_checked()
    assert await counts(site) == {"login": 1}


async def test_a_logout_in_one_page_brings_the_others_to_the_login(site: SiteServer, ana: BrowserContext) -> None:
    other = await open_home(site, ana)
    page = await open_home(site, ana)
    await expect(other.get_by_role("status")).to_have_text("Live")
    await page.get_by_role("button", name="Log out").click()
    await expect(other).to_have_url(re.compile("/login$"))
