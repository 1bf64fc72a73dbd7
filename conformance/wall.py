"""Checks every page of the wall with axe-core: light and dark, at a phone's and at a screen's width."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, cast

import httpx
from playwright.async_api import Browser, Page, ViewportSize, async_playwright, expect

from browse_together.client.credentials import mint
from browse_together.contract import wire
from browse_together.contract.model import Json
from browse_together.contract.secret import ensure_secret
from browser_service.host.sessions.executables import find_executable
from browser_service.host.sessions.options import LaunchOptions
from conformance.gateways import Tried
from conformance.packages import MODULES
from conformance.trials import Outcome, Trial

_WITHIN_S: Final = 60
_AXE: Final = MODULES / "axe-core" / "axe.min.js"
_FOUND: Final = "async () => (await axe.run()).violations.map(v => [v.id, v.impact, v.nodes[0].html])"
_SIZES: Final = (ViewportSize(width=390, height=844), ViewportSize(width=1440, height=900))
_QUESTIONS: Final[tuple[Json, ...]] = (
    {"kind": "login"},
    {"kind": "decision", "choices": ["red", "blue"]},
    {"kind": "decision"},
    {"kind": "code"},
)


class Wall:
    """The wall of a service, with an agent whose page it shows."""

    def __init__(self, tried: Tried, secret: str) -> None:
        self.url = tried.env["BROWSE_URL"]
        tokens = [mint(secret, "agent", "Agent"), mint(secret, "cli", "Ana", operator=True)]
        self.agent, self.owner = (
            httpx.AsyncClient(
                base_url=self.url, headers={"Authorization": f"Bearer {token}"}, timeout=_WITHIN_S, trust_env=False
            )
            for token in tokens
        )
        self.problems: list[str] = []

    async def act(self, action: str, **arguments: object) -> Json:
        reply = await self.agent.post(f"{wire.BROWSER}/looked-at", json={"action": action, **arguments})
        return cast("Json", reply.raise_for_status().json()["result"])  # the service's reply

    async def link(self, *, read_only: bool = False) -> str:
        reply = await self.owner.post(wire.WALL_LINK, json={"readOnly": read_only})
        return str(reply.raise_for_status().json()["result"]["url"])

    async def look(self, page: Page, at: str) -> None:
        """Record what axe-core finds wrong with a page."""
        await page.evaluate(_AXE.read_text("utf-8"))
        self.problems += [f"{at}: {found}" for found in await page.evaluate(_FOUND)]


async def looked_at(tried: Tried, data_dir: Path) -> Outcome:
    """Return what axe-core says about the wall of the running service."""
    began, wall = time.monotonic(), Wall(tried, ensure_secret(data_dir))
    async with wall.agent, wall.owner, _browser() as browser:
        await wall.act("goto", url=tried.url)
        for scheme in ("light", "dark"):
            for size in _SIZES:
                context = await browser.new_context(color_scheme=scheme, viewport=size)
                await _look_around(wall, await context.new_page(), f"{scheme}, {size['width']} px")
                await context.close()
    problem = f"{len(wall.problems)} findings" if wall.problems else ""
    return Outcome(Trial("axe-core at the wall", []), problem, time.monotonic() - began, "\n".join(wall.problems))


async def _look_around(wall: Wall, page: Page, how: str) -> None:
    await page.goto(wall.url)
    await expect(page.get_by_role("main")).to_be_visible()
    await wall.look(page, f"{how}, nobody signed in")
    for read_only in (True, False):
        await page.goto("about:blank")
        await page.goto(await wall.link(read_only=read_only))
        await expect(page.get_by_role("link", name="looked-at").first).to_be_visible()
        await wall.look(page, f"{how}, all pages")
        await page.goto(f"{wall.url}/#/page/looked-at")
        await expect(page.get_by_role("button", name="Take over")).to_be_visible()
        await wall.look(page, f"{how}, one page")
    await page.get_by_role("button", name="Take over").click()
    await expect(page.get_by_role("button", name="Give back")).to_be_enabled()
    await wall.look(page, f"{how}, in hand")
    await page.get_by_role("button", name="Give back").click()
    await expect(page.get_by_role("button", name="Take over")).to_be_visible()
    for question in _QUESTIONS:
        asked = await wall.act("request_human", message="Please.", timeout=1, **question)
        await expect(page.locator(".holds")).to_contain_text("Please.")
        await wall.look(page, f"{how}, asked for {question['kind']}")
        await wall.act("request_human", requestId=asked["requestId"], withdraw=True)
        await expect(page.locator(".holds")).to_be_hidden()


@asynccontextmanager
async def _browser() -> AsyncIterator[Browser]:
    """Run a person's browser, because the service's own opens no wall."""
    options = LaunchOptions(Path())
    async with async_playwright() as playwright:
        executable = find_executable(playwright, options)
        browser = await playwright.chromium.launch(executable_path=executable, chromium_sandbox=options.sandboxed)
        yield browser
        await browser.close()
