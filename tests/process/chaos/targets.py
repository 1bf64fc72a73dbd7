"""Asks a browser what it has open."""

from collections import Counter
from pathlib import Path

from playwright.async_api import async_playwright


async def leaks(data_dir: Path, pages: list[str], sessions: list[str]) -> list[str]:
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
