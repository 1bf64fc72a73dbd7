"""Handles the seven tools of a simple browser server: each wraps another action and words its reply anew."""

from browse_together.contract.actions import seven
from browse_together.contract.actions.interaction import Fill
from browse_together.contract.actions.media import Screenshot
from browse_together.contract.actions.navigation import Goto
from browse_together.contract.calls import Artifact
from browse_together.contract.model import Json
from browse_together.contract.quoting import one_line
from browser_service.actions.page import interaction, media, navigation
from browser_service.host.handle.page import BrowserPage
from browser_service.security.urls import abridged

_ERRORS_FROM = 400


async def browser_navigate(page: BrowserPage, action: seven.BrowserNavigate) -> Json:
    given = {"url": action.url, "auth": action.auth, "waitUntil": action.wait_until, "timeout": action.timeout}
    goto = Goto.model_validate(given)
    arrived = await navigation.goto(page, goto)
    status, title = arrived.get("status"), await page.tab.read_title()
    refused = f"\nHTTP status: {status}" if isinstance(status, int) and status >= _ERRORS_FROM else ""
    return {**arrived, "text": f"Successfully navigated to {abridged(action.url)}\nTitle: {one_line(title)}{refused}"}


async def browser_find(page: BrowserPage, action: seven.BrowserFind) -> Json:
    found = await page.elements.find(action.located(), strict=True, frames=False)
    count = await found.count()
    first = f"Found {count} element(s) matching: {action.selector_text()}"
    if not count:
        return {"count": 0, "text": f"{first}\nVisible: false, Enabled: false"}
    visible = await found.first.is_visible()
    enabled = await found.first.is_enabled(timeout=action.timeout)
    seen, usable = ("" if visible else "not ") + "visible", "enabled" if enabled else "disabled"
    return {"count": count, "visible": visible, "enabled": enabled, "text": f"{first}\nElement is {seen} and {usable}"}


async def browser_click(page: BrowserPage, action: seven.BrowserClick) -> Json:
    done = await interaction.click(page, action.canonical())
    return {**done, "text": f"Successfully clicked element: {action.selector}"}


async def browser_type(page: BrowserPage, action: seven.BrowserType) -> Json:
    canonical = action.canonical()
    typed = await (
        interaction.fill(page, canonical) if isinstance(canonical, Fill) else interaction.type_(page, canonical)
    )
    shows = typed.get("value")
    differs = (
        f"\nThe page shows: {one_line(shows)}" if isinstance(shows, str) and not shows.endswith(action.text) else ""
    )
    return {**typed, "text": f"Successfully typed into element: {action.selector}\nText: {action.text}{differs}"}


async def browser_screenshot(page: BrowserPage, action: seven.BrowserScreenshot) -> Json:
    kind = "jpeg" if action.path and action.path.lower().endswith((".jpg", ".jpeg")) else "png"
    whole = action.full_page and action.selector is None
    options = {"selector": action.selector, "fullPage": whole, "type": kind, "timeout": action.timeout}
    taken = await media.screenshot(page, Screenshot.model_validate(options), action.path)
    text = f"Screenshot captured ({taken['width']}x{taken['height']})"
    if action.path is None:
        return {**taken, "text": text}
    kept = Artifact.model_validate(taken["artifact"])
    return {**taken, "savedAs": kept.path, "text": f"{text} and saved to {kept.name}"}
