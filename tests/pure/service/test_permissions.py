"""Tests that a grant of permissions is one: where the browser refuses one of them, none is granted."""

from types import SimpleNamespace
from typing import cast

import pytest
from playwright.async_api import BrowserContext
from playwright.async_api import Error as PlaywrightError

from browser_service.host.sessions.permissions import Permissions
from browser_service.host.sessions.windows import Windows

pytestmark = pytest.mark.anyio

BROWSER = SimpleNamespace(browser_type=SimpleNamespace(name="chromium"))
CONTEXT = cast("BrowserContext", SimpleNamespace(browser=BROWSER))


class FakeWindows:
    """A browser that knows no camera."""

    def __init__(self) -> None:
        self.settings: dict[str, str] = {}

    async def command(self, _: str, given: dict[str, dict[str, str] | str]) -> None:
        name = given["permission"]["name"]  # type: ignore[index] # as the command has it
        if name == "camera":
            raise PlaywrightError("Unknown permission")
        self.settings[name] = str(given["setting"])


async def test_a_partly_refused_grant_changes_nothing() -> None:
    windows, permissions = FakeWindows(), Permissions()
    browser = cast("Windows", windows)
    await permissions.grant(CONTEXT, browser, "https://a.example", ["geolocation", "midi"])
    with pytest.raises(PlaywrightError):
        await permissions.grant(CONTEXT, browser, "https://a.example", ["midi", "notifications", "camera"])
    assert windows.settings == {"geolocation": "granted", "midi": "granted", "notifications": "prompt"}
    assert permissions.by_origin == {"https://a.example": ["geolocation", "midi"]}
    assert await permissions.grant(CONTEXT, browser, "https://a.example", ["midi"]) == ["geolocation", "midi"]
    assert windows.settings["geolocation"] == "prompt"
