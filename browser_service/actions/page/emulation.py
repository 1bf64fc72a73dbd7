"""Emulates other devices, places and languages for one page."""

from browser_service.host.network.emulation import allow_position
from browser_service.host.page.handle import BrowserPage
from browser_service.security.urls import origin_of
from shared.actions import emulation
from shared.model import Json


async def emulate(page: BrowserPage, action: emulation.Emulate) -> Json:
    settings, changes = page.settings, action.changes()
    if action.device is not None:
        changes["device"] = page.session.device(action.device)
    if action.reset:
        changes = {**dict.fromkeys(settings.emulation.settings), **changes}
    was = {**settings.emulation.settings}
    await settings.emulation.change(page.playwright, page.tab.cdp, changes)
    await settings.network.set_offline(page.playwright, offline=settings.emulation.offline)
    if was != settings.emulation.settings:
        state: Json = {"was": was, "made": {**settings.emulation.settings}}
        lost = any(settings.emulation.settings.get(name) != value for name, value in was.items())
        page.undoable(f"emulation of page {page.page_id} changed", state, lost=lost)
    shown = settings.emulation.describe()
    said = ", ".join(f"{name} {value}" for name, value in shown.items()) or "nothing"
    site = await _allowed(page) if action.geolocation is not None else ""
    return {"emulated": shown, "observed": f"emulated on this page alone: {said}{site}"}


async def _allowed(page: BrowserPage) -> str:
    origin = origin_of(page.url)
    if origin is None or page.tab.cdp is None:
        return "; no site may ask for the position yet: repeat this when the page is at one"
    await allow_position(page.tab.cdp, origin)
    return f"; {origin} may ask for the position"
