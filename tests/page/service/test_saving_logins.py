"""Tests that a reply to a login is not sent before the login is kept: the service may be killed the next moment."""

import pytest

from browse_together.contract.model import Json
from browser_service.host.handle.page import BrowserPage
from browser_service.host.sessions.logins import cookies_of
from browser_service.host.stages import changes
from tests.support.service import Agent, RunningService
from tests.support.site import Answer, Site

pytestmark = pytest.mark.anyio


async def test_a_cookie_that_a_script_makes_of_an_answer_while_the_page_is_looked_at_is_kept_when_the_reply_comes(
    agent: Agent, service: RunningService, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.page("/login", Answer("yes"))
    script = "fetch('/login', {method: 'POST'})"
    await agent.call("goto", pageId="p", url=site.page("/", f'<button onclick="{script}">Sign in</button>'))

    async def look(page: BrowserPage, *_: object) -> Json:
        await page.playwright.evaluate("document.cookie = 'sid=made-by-script; max-age=900'")
        return {}

    monkeypatch.setattr(changes, "reply", look)
    await agent.call("click", pageId="p", selector="button")
    saved = cookies_of(service.entry("p").session.logins.saved)
    assert "made-by-script" in {cookie["value"] for cookie in saved}
