"""Tests that a login which Chromium binds to a key of its own is known, though no answer that a page got says so."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.async_api import async_playwright

from browser_service.host.network.bound_logins import BoundLogins
from browser_service.host.sessions.executables import installed_browser
from browser_service.security.http_logins import BOUND
from tests.support.gateways import chat, service_process, text_of
from tests.support.named_site import NamedSite, browser_that_knows, named_site
from tests.support.site import Answer, Received
from tests.support.waiting import PATIENCE_S, become

pytestmark = [pytest.mark.anyio, pytest.mark.whole_browser]

BINDS = "DeviceBoundSessions,EnableBoundSessionCredentialsSoftwareKeysForManualTesting"
"""Features by which Chromium binds without a chip for keys."""
LOGIN = {"Set-Cookie": "sid=0123456789abcdef; Secure; HttpOnly; Path=/; Max-Age=600"}


def bound(sent: Received) -> Answer:
    """Bind the login, once the browser has shown its key."""
    assert sent.headers["Secure-Session-Response"]
    scope = {"origin": "https://bank.example", "include_site": False, "scope_specification": []}
    cookie = {"type": "cookie", "name": "sid", "attributes": "Secure; HttpOnly; Path=/"}
    session = {"session_identifier": "s", "refresh_url": "/refresh", "scope": scope, "credentials": [cookie]}
    return Answer(json.dumps(session), content_type="application/json", headers=LOGIN)


@pytest.fixture
def bank(tmp_path: Path) -> Iterator[NamedSite]:
    """Serve a bank that binds its login, of whose requests no page hears."""
    if installed_browser() is None:
        pytest.skip("binding needs a whole Chromium")
    with named_site("bank.example", tmp_path) as site:
        site.page("/", "<script>new SharedWorker('/worker.js')</script>")
        site.page("/worker.js", Answer("fetch('/in')", content_type="text/javascript"))
        registers = {"Secure-Session-Registration": '(ES256);path="/start";challenge="c"', **LOGIN}
        site.page("/in", Answer("in", headers=registers))
        site.page("/start", bound)
        yield site


async def test_a_login_that_chromium_binds_is_known_though_no_page_asked_for_it(
    bank: NamedSite, tmp_path: Path
) -> None:
    changed = asyncio.Event()
    logins = BoundLogins({}, changed.set)
    known = f"--ignore-certificate-errors-spki-list={bank.key_hash}"
    found = f"--host-resolver-rules=MAP {bank.name}:443 127.0.0.1:{bank.port}"
    args = [f"--enable-features={BINDS}", known, found, "--no-sandbox"]
    async with async_playwright() as playwright:
        context = await playwright.chromium.launch_persistent_context(
            tmp_path / "profile", executable_path=installed_browser(), args=args
        )
        page = context.pages[0]
        await logins.hear(await context.new_cdp_session(page))
        await page.goto(bank.url("/"))
        async with asyncio.timeout(PATIENCE_S):
            await changed.wait()
        again = BoundLogins({}, changed.set)
        await again.hear(await context.new_cdp_session(await context.new_page()))
        await become(lambda: again.binds("bank.example"))
        await context.close()
    assert logins.state() == again.state() == {BOUND: ["bank.example"]}


async def test_a_chat_is_told_which_login_is_bound_in_the_services_own_browser(bank: NamedSite, tmp_path: Path) -> None:
    """Our switches leave Chromium what it needs for it."""
    browser = await browser_that_knows(bank, tmp_path, BINDS)
    async with (
        asyncio.timeout(PATIENCE_S),
        service_process(tmp_path / "data", BROWSE_EXECUTABLE_PATH=str(browser)) as service,
        chat(service, "clerk") as clerk,
    ):
        await clerk.call_tool("goto", {"pageId": "p", "url": bank.url("/")})
        told = ""
        while '"bound":true' not in told:  # no event tells a chat
            await asyncio.sleep(0.2)
            told = text_of(await clerk.call_tool("list_logins", {}))
    assert "bank.example" in told
