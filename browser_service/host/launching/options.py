"""Holds the settings of the shared browser's start."""

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
"""The first keeps `navigator.webdriver` false, as it is in the person's own browser. To leave out `--enable-automation`
would not help, because the debugging pipe sets it too; and no window shows a bar of warnings (measured on Chromium 156,
headed too).

The second spares each window a renderer for its address bar: 0.45 s of CPU and 20 MB (measured on Chromium 156).
Chromium heeds the last `--disable-features` alone, so Playwright's own are repeated; a test compares them.
"""


@dataclass(frozen=True)
class LaunchOptions:
    """Holds what the settings say of the shared browser."""

    profile_dir: Path
    engine: Literal["chromium", "firefox", "webkit"] = "chromium"
    executable: Path | None = None
    headless: bool = True
    sandbox: Literal["auto", "on", "off"] = "auto"
    proxy: str | None = None
    viewport: tuple[int, int] = (1280, 720)
    login_within_s: int = 900
    """A person may have the profile for this long."""
    cdp_url: str | None = None
    """Names a browser that runs already, to attach to."""
    max_instances: int = 10

    @property
    def sandboxed(self) -> bool:
        """Say if the sandbox is on. Chromium refuses it to root."""
        if self.sandbox == "auto":
            return not (hasattr(os, "geteuid") and os.geteuid() == 0)
        return self.sandbox == "on"
