"""Emulates other devices, places and languages for one page."""

from browse_together.contract.actions import emulation
from browse_together.contract.model import Json
from browser_service.host.handle.page import BrowserPage
from browser_service.host.record.emulation import allow_position
from browser_service.security.urls import origin_of


async def emulate(page: BrowserPage, action: emulation.Emulate) -> Json:
    settings, changes = page.settings, action.changes()
    if action.device is not None:
        changes["device"] = page.session.launcher.device(action.device)
    if action.reset:
        changes = {**dict.fromkeys(settings.emulation.settings), **changes}
    await settings.emulation.change(page.tab, changes)
    await settings.network.set_offline(page.playwright, offline=settings.emulation.offline)
    described = settings.emulation.describe()
    listed = ", ".join(f"{name} {value}" for name, value in described.items()) or "nothing"
    site = await _allowed(page) if action.geolocation is not None else ""
    return {"emulated": described, "observed": f"emulated on this page alone: {listed}{site}"}


async def _allowed(page: BrowserPage) -> str:
    origin = origin_of(page.url)
    if origin is None or page.tab.cdp is None:
        return "; no site may ask for the position yet: repeat this when the page is at one"
    await allow_position(page.tab.cdp, origin)
    return f"; {origin} may ask for the position"
