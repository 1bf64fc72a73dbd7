"""Emulates a device, a position, a language and a network state for a page. The settings belong to the pageId, and
apply to each window behind it.

They go through the page's own CDP session, so they affect no other page. Frames of other sites have sessions of their
own and keep the real device, language and time zone. A popup starts with its opener's settings, and all end when the
page passes to another client.
"""

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from playwright.async_api import CDPSession, Page, ViewportSize
from playwright.async_api import Error as PlaywrightError
from pydantic.alias_generators import to_camel
from typing_extensions import TypedDict

from browse_together.contract.errors import ValidationFailed, field_details
from browse_together.contract.model import Json
from browser_service.host.record.record import PageRecord
from browser_service.host.tabs.tab import Tab

Settings = Mapping[str, Any]  # Any: the arguments of Playwright's calls
_FEATURES: Final = {
    "color_scheme": "prefers-color-scheme",
    "reduced_motion": "prefers-reduced-motion",
    "forced_colors": "forced-colors",
    "contrast": "prefers-contrast",
}
_BY_CHROMIUM: Final = ("device", "locale", "timezone", "geolocation")
_OWN_RATIO: Final = 0
"""Leaves the pixel ratio as the screen has it."""
_ONLINE: Final = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}


class Area(TypedDict):
    width: int
    height: int


class Device(TypedDict):
    """A device as Playwright describes it."""

    name: str
    viewport: Area
    user_agent: str
    device_scale_factor: float
    is_mobile: bool
    has_touch: bool


class Emulated(TypedDict, total=False):
    """What may be emulated, for what is read from JSON."""

    device: Device
    viewport: Area
    locale: str
    timezone: str
    geolocation: dict[str, float]
    offline: bool
    media: str
    color_scheme: str
    reduced_motion: str
    forced_colors: str
    contrast: str


@dataclass(eq=False)
class Emulation:
    page: PageRecord
    owner: str = ""
    """The client that held the page when these were set."""
    settings: dict[str, Any] = field(default_factory=dict)  # Any: as above
    size: ViewportSize | None = None

    @property
    def foreign(self) -> bool:
        """True if a client other than the present holder set these."""
        return bool(self.settings) and self.owner != self.page.holder_id

    @property
    def offline(self) -> bool:
        return bool(self.settings.get("offline"))

    def describe(self) -> Json:
        """Describe what is emulated now."""
        return {to_camel(name): value["name"] if name == "device" else value for name, value in self.settings.items()}

    def inherit(self, opener: "Emulation") -> None:
        """Copy the opener's settings to a popup."""
        self.owner, self.settings, self.size = opener.owner, {**opener.settings}, opener.size

    async def attach(self, tab: Tab) -> None:
        """Apply the settings to a new Playwright page behind the pageId; drop them if another client set them."""
        if self.foreign:
            self.settings = {}
        self.size = self.size or tab.page.viewport_size
        earlier, self.settings = self.settings, {}
        for name, value in earlier.items():
            try:  # a popup shares its opener's renderer, which has it already
                await self.change(tab, {name: value})
            except ValidationFailed:
                self.settings[name] = value

    async def change(self, tab: Tab, changes: Settings) -> None:
        """Apply `changes` and keep the other settings; None as a value ends one. Raises ValidationFailed if that is
        impossible, and then changes nothing."""
        if tab.cdp is None and (missing := [name for name in _BY_CHROMIUM if changes.get(name)]):
            raise _impossible(missing[0], "it needs Chromium")
        before = self.settings
        settings = {name: value for name, value in {**before, **changes}.items() if value is not None}
        try:
            await self._set(tab, changes, settings)
        except PlaywrightError as error:
            for name in changes:
                with contextlib.suppress(PlaywrightError):  # what could not be set cannot be undone either
                    await self._set(tab, {name: before.get(name)}, before)
            raise _impossible(*_reason(str(error), changes)) from error
        self.settings, self.owner = settings, self.page.holder_id

    async def clear(self, tab: Tab) -> None:
        await self.change(tab, dict.fromkeys(self.settings))

    async def _set(self, tab: Tab, changes: Settings, settings: Settings) -> None:
        page, cdp = tab.page, tab.cdp
        if cdp is not None:
            await _set_place(cdp, changes)
        if changes.keys() & {"device", "locale"} and cdp is not None:
            await _set_agent(cdp, settings)
        if changes.keys() & {"device", "viewport"}:
            await self._set_size(tab, settings)
        if changes.keys() & {"media", *_FEATURES}:
            await _set_media(page, cdp, changes, settings)
        if "offline" in changes and cdp is not None:
            await cdp.send("Network.emulateNetworkConditions", {**_ONLINE, "offline": bool(changes["offline"])})

    async def _set_size(self, tab: Tab, settings: Settings) -> None:
        """Set the size through Playwright first, which has to know it; CDP sets a device's pixel ratio and touch. In a
        person's browser, which gave Playwright no size, CDP does it all: Playwright would set it anew at each document,
        also once the tab is given back."""
        device = settings.get("device")
        size = settings.get("viewport") or (device and device["viewport"]) or self.size
        if tab.cdp is not None:
            await tab.cdp.send("Emulation.setTouchEmulationEnabled", {"enabled": bool(device and device["has_touch"])})
        await tab.metrics.clear()
        if size is None:
            return
        if self.size is not None:
            await tab.page.set_viewport_size(size)
        if tab.metrics.possible and (device or self.size is None):
            ratio, mobile = (device["device_scale_factor"], device["is_mobile"]) if device else (_OWN_RATIO, False)
            await tab.metrics.set(size["width"], size["height"], ratio, mobile=mobile)


async def allow_position(cdp: CDPSession, origin: str) -> None:
    """Let a site read the position, in the whole session: Chromium has no permissions per page."""
    settings: Json = {"permission": {"name": "geolocation"}, "setting": "granted", "origin": origin}
    await cdp.send("Browser.setPermission", settings)


async def _set_place(cdp: CDPSession, changes: Settings) -> None:
    if "timezone" in changes:
        await cdp.send("Emulation.setTimezoneOverride", {"timezoneId": changes["timezone"] or ""})
    if "locale" in changes:
        locale = changes["locale"]
        await cdp.send("Emulation.setLocaleOverride", {"locale": locale.replace("_", "-")} if locale else {})
    if "geolocation" in changes:
        if place := changes["geolocation"]:
            await cdp.send("Emulation.setGeolocationOverride", place)
        else:
            await cdp.send("Emulation.clearGeolocationOverride")


async def _set_media(page: Page, cdp: CDPSession | None, changes: Settings, settings: Settings) -> None:
    """Set the media type and features in our own session, the later of two for the page: its type wins on the next
    document."""
    if cdp is None:
        await page.emulate_media(**{name: changes[name] or "null" for name in ("media", *_FEATURES) if name in changes})
        return
    features = [{"name": feature, "value": settings[name]} for name, feature in _FEATURES.items() if name in settings]
    await cdp.send("Emulation.setEmulatedMedia", {"media": settings.get("media", ""), "features": features})


async def _set_agent(cdp: CDPSession, settings: Settings) -> None:
    """Set the user agent and the language, which CDP takes together; an empty one leaves the session's own."""
    device, locale = settings.get("device"), (settings.get("locale") or "").replace("_", "-")
    override: Json = {"userAgent": device["user_agent"] if device else "", "acceptLanguage": locale}
    if device:
        empty = dict.fromkeys(("platformVersion", "architecture", "model"), "")
        platform = "Android" if "Android" in device["user_agent"] else "iOS" if device["is_mobile"] else "Linux"
        override["userAgentMetadata"] = {**empty, "platform": platform, "mobile": device["is_mobile"]}
    await cdp.send("Emulation.setUserAgentOverride", override)


def _reason(message: str, changes: Settings) -> tuple[str, str]:
    """Name the argument that failed, and why."""
    name = next((name for name in ("timezone", "locale") if name in message.lower()), next(iter(changes), "emulate"))
    if "already in effect" in message:
        return name, f"its session was made with one: create_session with another {name}"
    return name, message.splitlines()[0].rpartition(": ")[2]


def _impossible(name: str, reason: str) -> ValidationFailed:
    return ValidationFailed(
        f"{name} cannot be emulated: {reason}.",
        hint="Nothing was changed. create_session takes viewport, userAgent, locale and timezone for all of its pages.",
        details=field_details(name),
    )
