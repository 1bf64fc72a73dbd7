"""Measures what a page costs a model that reads it, and what a reply's account of the page costs in time.

Compares a snapshot of a shop page of 300 elements with that of @playwright/mcp for the same page; what `since` tells of
one change with the whole; what a model is given of an article of 5,000 elements with the budget of a gateway; and a
click that changes such a shop page, its reply's account included, with plain Playwright's. Units: characters, and
milliseconds at the median.
"""

import os
import tempfile
from contextlib import AsyncExitStack
from typing import Final

from benchmarks import peer, sites
from benchmarks.calls import Pair
from benchmarks.figures import Figure, Report, Skipped, Target
from benchmarks.plain import check_same_browser, plain_playwright
from benchmarks.processes import Failed, Gateway, browser_of, environment, gateway, mcp_server, service
from shared.wire import INLINE_TEXT
from tests.support.json import AnyJson
from tests.support.site import Site

_TOGGLE: Final = "e => e.onclick = () => { e.textContent = e.textContent == 'Add to cart' ? 'Added' : 'Add to cart' }"
_BUTTON: Final = "li:nth-child(7) button"
_PAGE: Final = "reading"
_AROUND: Final = 400
"""Allows so many characters for the lines around a cut text: whose words it has, how to read on, where the page is."""


async def run(*, quick: bool) -> Report:
    async with AsyncExitStack() as stack:
        site = stack.enter_context(Site())
        sites.open_all(site)
        served = await stack.enter_async_context(service())
        gate = await stack.enter_async_context(gateway(served, "bench-reading"))
        figures = await _sizes(gate, site)
        try:
            figures.insert(0, await _beside_peer(gate, site, browser_of(served.pid)))
        except Skipped as skipped:
            notes = [str(skipped)]
        else:
            notes = []
        browser = await stack.enter_async_context(plain_playwright())
        page = await browser.page(site.url("/shop"))
        await gate.call("goto", pageId=_PAGE, url=site.url("/shop"))
        check_same_browser(served.pid, os.getpid())
        await page.locator(_BUTTON).evaluate(_TOGGLE)
        await gate.call("evaluate_script", pageId=_PAGE, selector=_BUTTON, expression=_TOGGLE)
        click = Pair(
            "click that changes the page",
            lambda _: gate.call("click", pageId=_PAGE, selector=_BUTTON),
            lambda _: page.click(_BUTTON),
            waits_for_frames=True,
            target=Target(20.0),
        )
        await click.run(*((4, 4) if quick else (20, 25)))
        if "changed" not in _text(await gate.call("click", pageId=_PAGE, selector=_BUTTON)):
            raise Failed("the click's reply did not tell what it changed")
    beside = f"{peer.NAME}, the whole, plain Playwright"
    return Report("reading", beside, [*figures, click.figure()], [*notes, click.note()])


async def _sizes(gate: Gateway, site: Site) -> list[Figure]:
    await gate.call("goto", pageId=_PAGE, url=site.url("/shop"))
    whole = len(_text(await gate.call("snapshot", pageId=_PAGE)))
    await gate.value(_PAGE, "document.querySelector('li p').textContent = 'Sold out'")
    since = len(_text(await gate.call("snapshot", pageId=_PAGE, since=True)))
    await gate.call("goto", pageId=_PAGE, url=site.url("/article"))
    long = len(_text(await gate.call("snapshot", pageId=_PAGE)))
    return [
        Figure("since, after one change", since, whole, "characters", "percent", Target(10)),
        Figure("5,000 elements, beside the budget", long, INLINE_TEXT + _AROUND, "characters", "ratio", Target(1.0)),
    ]


async def _beside_peer(gate: Gateway, site: Site, browser: str) -> Figure:
    await gate.call("goto", pageId=_PAGE, url=site.url("/shop"))
    ours = len(_text(await gate.call("snapshot", pageId=_PAGE)))
    with tempfile.TemporaryDirectory(prefix="browse-together-bench-") as left:
        async with mcp_server(*peer.isolated(browser, left), env=environment()) as theirs:
            await theirs.call("browser_navigate", url=site.url("/shop"))
            size = len(_text(await theirs.call("browser_snapshot")))
    return Figure("snapshot of 300 elements", ours, size, "characters", "ratio", Target(1.0))


def _text(result: dict[str, AnyJson]) -> str:
    return "\n".join(block["text"] for block in result["content"] if block["type"] == "text")
