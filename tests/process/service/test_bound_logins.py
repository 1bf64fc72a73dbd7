"""Tests that a login which Chromium binds to a key of its own is known, though no answer that a page got says so."""

import asyncio
import json
from pathlib import Path

import pytest
from playwright.async_api import async_playwright

from browser_service.host.network.bound_logins import BoundLogins
from browser_service.host.sessions.executables import installed_browser
from browser_service.security.http_logins import BOUND
from tests.support.listening import PATIENCE_S, become
from tests.support.named_site import named_site
from tests.support.site import Answer, Received

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


async def test_a_login_that_chromium_binds_is_known_though_no_page_asked_for_it(tmp_path: Path) -> None:
    executable, changed = installed_browser(), asyncio.Event()
    if executable is None:
        pytest.skip("binding needs a whole Chromium")
    logins = BoundLogins({}, changed.set)
    with named_site("bank.example", tmp_path) as bank:
        bank.page("/", "<script>new SharedWorker('/worker.js')</script>")
        bank.page("/worker.js", Answer("fetch('/in')", content_type="text/javascript"))
        registers = {"Secure-Session-Registration": '(ES256);path="/start";challenge="c"', **LOGIN}
        bank.page("/in", Answer("in", headers=registers))
        bank.page("/start", bound)
        known = f"--ignore-certificate-errors-spki-list={bank.key_hash}"
        found = f"--host-resolver-rules=MAP {bank.name}:443 127.0.0.1:{bank.port}"
        args = [f"--enable-features={BINDS}", known, found, "--no-sandbox"]
        async with async_playwright() as playwright:
            context = await playwright.chromium.launch_persistent_context(
                tmp_path / "profile", executable_path=executable, args=args
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
