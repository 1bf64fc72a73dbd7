"""Asks a browser what it has open."""

import asyncio
from collections import Counter
from pathlib import Path
from typing import Final

from playwright.async_api import async_playwright

_LOOKS: Final = 10
_BETWEEN_S: Final = 1.0


async def leaks(data_dir: Path, pages: list[str], sessions: list[str]) -> list[str]:
    """Return what stays open besides these pages and sessions: what is being closed has a while for it."""
    for _ in range(_LOOKS):
        if not (found := await _open_besides(data_dir, pages, sessions)):
            break
        await asyncio.sleep(_BETWEEN_S)
    return found


async def _open_besides(data_dir: Path, pages: list[str], sessions: list[str]) -> list[str]:
    """Return what is open besides these pages and sessions. The blank page with which the browser begins does not
    count, nor one that is ready for the next page."""
    port = (data_dir / "profile" / "DevToolsActivePort").read_text(encoding="utf-8").split()[0]
    async with async_playwright() as playwright:
        browser = await playwright.chromium.connect_over_cdp(f"http://127.0.0.1:{port}")
        cdp = await browser.new_browser_cdp_session()
        targets = (await cdp.send("Target.getTargets"))["targetInfos"]
        contexts = (await cdp.send("Target.getBrowserContexts"))["browserContextIds"]
        await browser.close()
    opened = Counter(target["url"] for target in targets if target["type"] == "page")
    spare = [url for url in opened if url.startswith("about:blank#")][:1]
    wrongs = [f"open besides: {url}" for url in (opened - Counter([*pages, "about:blank", *spare])).elements()]
    if len(contexts) > len(sessions):
        wrongs.append(f"{len(contexts)} contexts of {sessions}")
    return wrongs
