"""Tests what a client is told when the tab ends at one moment or another of an act."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from browser_service.actions.page import interaction
from browser_service.actions.support import typed_values
from browser_service.host.handle.page import BrowserPage
from tests.support.service import Agent
from tests.support.site import Site

pytestmark = pytest.mark.anyio


async def _is_stopped(page: BrowserPage) -> None:
    page.tab_life.stop(page.tab, "it took too much")
    await page.playwright.title()


async def _crashes(page: BrowserPage) -> None:
    waiting = asyncio.create_task(page.playwright.locator("#never").click(timeout=20_000))
    cdp = page.tab.cdp
    assert cdp is not None
    crash = asyncio.ensure_future(cdp.send("Page.crash"))
    crash.add_done_callback(lambda done: done.exception())
    await waiting


@pytest.mark.parametrize("then", [_is_stopped, _crashes])
async def test_an_act_whose_tab_ends_once_it_was_done_never_did_nothing(
    agent: Agent,
    site: Site,
    monkeypatch: pytest.MonkeyPatch,
    then: Callable[[BrowserPage], Awaitable[None]],
) -> None:
    field_after = typed_values.field_after

    async def ended_after(page: BrowserPage, *given: object, **named: object) -> object:
        found = await field_after(page, *given, **named)  # type: ignore[arg-type]  # what it was given
        await then(page)
        return found

    site.page("/filled", "")
    await agent.call("goto", pageId="p", url=site.page("/", "<input oninput='navigator.sendBeacon(\"/filled\")'>"))
    monkeypatch.setattr(interaction, "field_after", ended_after)
    error = await agent.error("fill", pageId="p", selector="input", value="x")
    assert (site.counts["/filled"], error["code"]) == (1, "UNKNOWN_OUTCOME")
