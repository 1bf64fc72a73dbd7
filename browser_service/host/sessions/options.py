"""The settings for the start of the shared browser, and a session's settings translated for Playwright."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from browse_together.contract.errors import HostGone
from browse_together.contract.pages import SessionOptions
from browser_service.security.urls import UrlPolicy

if TYPE_CHECKING:
    from playwright.async_api import ProxySettings

_PLAYWRIGHTS_DISABLED: Final = (
    "AvoidUnnecessaryBeforeUnloadCheckSync,DestroyProfileOnBrowserClose,HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,"
    "LensOverlay,MediaRouter,PaintHolding,ThirdPartyStoragePartitioning,AvoidCorsURLLoaderRestartOnRedirect,"
    "TcpPortRandomizationWin,OptimizationHints,NetworkTimeServiceQuerying,AimEnabled,PreconnectToSearch,"
    "msForceBrowserSignIn,msEdgeUpdateLaunchServicesPreferredVersion"
)
_PLAYWRIGHTS_ENABLED: Final = "CDPScreenshotNewSurface,SkipListAccountsWithoutGaiaCookies"
_PAGE_TOOLS: Final = "WebMCP"
"""Lets pages declare tools. Chromium 156 has that only with this switch."""
_TO_ITS_MAKER: Final = "AutofillServerCommunication,DnsOverHttps,DnsOverHttpsUpgrade,Translate"
_SLOW: Final = "WebUIOmniboxPopup,WebUIOmniboxAimPopup,DeferRendererTasksAfterInput,RenderDocument"
"""The first two run a renderer for each window's address bar: 0.45 s of CPU and 20 MB. The third delays work that
scripts leave at a click until the next frame, and so the reply: 11 ms. The last makes a new frame for each document of
a site: 12 of the 75 ms of CPU of a goto (measured on Chromium 156)."""
_IDLE: Final = "SpareRendererForSitePerProcess"
"""A renderer that waits for the next page: 20 MB, and pages open no sooner with it (measured on Chromium 156)."""
_NOWHERE: Final = "http://127.0.0.1:9"
QUIET_ARGS: Final = (
    "--disable-extensions",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--allow-browser-signin=false",
    f"--component-updater=url-source={_NOWHERE}/",
    f"--gaia-url={_NOWHERE}",
)
"""Switches with which Chromium runs no extension, and calls no server of its maker. Without the last two it still asks
for updates and for its user's accounts (measured on Chromium 156)."""
QUIET_FEATURES: Final = f"--disable-features={_TO_ITS_MAKER},OptimizationHints,NetworkTimeServiceQuerying,MediaRouter"
"""The same for a window that is not Playwright's: it describes no form fields to a server."""
_NO_SELECTION_PASTED: Final = "selectionClipboardBufferAvailable=false"
_A_MOUSE: Final = "primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4"
CHROMIUM_ARGS: Final = (
    "--disable-blink-features=AutomationControlled",
    f"--blink-settings={_NO_SELECTION_PASTED}",
    *QUIET_ARGS,
    f"--disable-features={_PLAYWRIGHTS_DISABLED},{_SLOW},{_IDLE},{_TO_ITS_MAKER}",
    f"--enable-features={_PLAYWRIGHTS_ENABLED},{_PAGE_TOOLS}",
)
"""The first keeps `navigator.webdriver` false, as it is in a person's own browser. Leaving out `--enable-automation`
would not help, because the debugging pipe sets it too; and no window shows a warning bar (measured on Chromium 156,
headed too). The second keeps the middle button on Linux from pasting the last selection of any page.

Chromium heeds only the last `--disable-features`, `--enable-features` and `--blink-settings`, so ours repeat
Playwright's own; a test compares them.
"""
HEADLESS_ARGS: Final = (*CHROMIUM_ARGS, f"--blink-settings={_NO_SELECTION_PASTED},{_A_MOUSE}")
"""Without windows Chromium finds no mouse by itself, and sites would serve their pages for phones."""

UNWANTED_ARGS: Final = ("--disable-ipc-flooding-protection", "--disable-popup-blocking")
"""Switches of Playwright's that turn off two protections of every person's browser: a page may change its address at
most 200 times in 10 s, and opens one window for each click of a person."""

TRACES: Final = "traces"
"""Name of the folder of traces beside the browser's own."""


def always() -> bool:
    return True


@dataclass(frozen=True)
class LaunchOptions:
    """The settings of the shared browser."""

    profile_dir: Path
    engine: Literal["chromium", "firefox", "webkit"] = "chromium"
    executable: Path | None = None
    headless: bool = True
    sandbox: Literal["auto", "on", "off"] = "auto"
    proxy: str | None = None
    viewport: tuple[int, int] = (1280, 720)
    login_within_s: int = 900
    """The longest time for which a person may have the profile."""
    cdp_url: str | None = None
    """The browser to attach to, in place of starting the shared one."""
    cdp_headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    private_tabs: bool = True
    """True if agents see only those tabs of an attached browser that its person shares."""
    max_instances: int = 10
    file_damage: Callable[[Path], str] = lambda _: ""
    """The function that says what is wrong with an SQLite file of the profile, "" if it is sound; a host has no
    database."""

    policy: UrlPolicy = field(default_factory=UrlPolicy)
    may_act: Callable[[], bool] = always
    """Whether acts may begin now, and browsers start."""

    def check_may_act(self) -> None:
        """Raise HostGone once a host elsewhere has lost its lease, so that nothing reaches a browser any more."""
        if not self.may_act():
            raise HostGone(sent=False)

    @property
    def traces_dir(self) -> Path:
        """Return where the browsers write what is traced; Playwright leaves it there until they end."""
        return self.profile_dir / TRACES

    @property
    def sandboxed(self) -> bool:
        """True if the sandbox is on. Chromium refuses it to root."""
        if self.sandbox == "auto":
            return not (hasattr(os, "geteuid") and os.geteuid() == 0)
        return self.sandbox == "on"


def context_options(
    options: SessionOptions, user_agent: str | None, proxy: "ProxySettings | None"
) -> dict[str, Any]:  # Any: what new_context takes
    """Translate a session's options for Playwright; `user_agent` is used if the session names none."""
    named: dict[str, Any] = {  # Any: as there
        "viewport": options.viewport.model_dump(),
        "user_agent": options.user_agent or user_agent,
        "locale": options.locale,
        "timezone_id": options.timezone,
        "permissions": options.permissions or None,
        "proxy": proxy,
    }
    return {name: value for name, value in named.items() if value is not None}
