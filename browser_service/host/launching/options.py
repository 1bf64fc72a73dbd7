"""How the shared browser is started."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

_PLAYWRIGHTS_DISABLED: Final = (
    "AvoidUnnecessaryBeforeUnloadCheckSync,DestroyProfileOnBrowserClose,HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,"
    "LensOverlay,MediaRouter,PaintHolding,ThirdPartyStoragePartitioning,AvoidCorsURLLoaderRestartOnRedirect,"
    "TcpPortRandomizationWin,OptimizationHints,NetworkTimeServiceQuerying,AimEnabled,PreconnectToSearch,"
    "msForceBrowserSignIn,msEdgeUpdateLaunchServicesPreferredVersion"
)
CHROMIUM_ARGS: Final = (
    "--disable-blink-features=AutomationControlled",
    f"--disable-features={_PLAYWRIGHTS_DISABLED},WebUIOmniboxPopup,WebUIOmniboxAimPopup",
)
"""`navigator.webdriver` is false, as in the browser of the person whose logins these are; to leave out Playwright's
`--enable-automation` changes nothing of it, because the debugging pipe sets it as well, and no window gets a bar of
warnings by this (measured on Chromium 156, headed too).

Without a renderer of its own for the address bar of every window, which costs 0.45 s CPU and 20 MB each (measured on
Chromium 156, whose address bar is a page). Of several `--disable-features` Chromium takes the last alone, so that
Playwright's own are said again; a test compares them with what Playwright passes."""


@dataclass(frozen=True)
class LaunchOptions:
    """What the settings say of the shared browser."""

    profile_dir: Path
    engine: Literal["chromium", "firefox", "webkit"] = "chromium"
    executable: Path | None = None
    headless: bool = True
    sandbox: Literal["auto", "on", "off"] = "auto"
    proxy: str | None = None
    viewport: tuple[int, int] = (1280, 720)
    login_within_s: int = 900
    """How long a person may have the profile."""
    cdp_url: str | None = None
    """A browser that runs already, to be attached to instead."""
    max_instances: int = 10

    @property
    def sandboxed(self) -> bool:
        """Chromium refuses its sandbox to root."""
        if self.sandbox == "auto":
            return not (hasattr(os, "geteuid") and os.geteuid() == 0)
        return self.sandbox == "on"
