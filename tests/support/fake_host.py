"""The product's own host on a fake browser, for tests that need no browser."""

import io
from collections.abc import Mapping
from typing import cast

from PIL import Image
from playwright.async_api import Browser

from browse_together.contract.actions.interaction import Click, Fill, Press
from browse_together.contract.actions.media import Screenshot
from browse_together.contract.actions.reading import Content, Snapshot
from browse_together.contract.actions.waiting import WaitForSelector
from browse_together.contract.errors import ElementNotFound
from browse_together.contract.model import Json
from browse_together.contract.pages import SessionOptions, SessionSpec
from browser_service.host.calls import Handler
from browser_service.host.handle.page import BrowserPage
from browser_service.host.host import LocalHost
from browser_service.host.seam import ArtifactPort, HostLimits
from browser_service.host.sessions.launcher import Launcher
from browser_service.host.sessions.options import LaunchOptions
from browser_service.host.sessions.pool import BrowserKind
from browser_service.host.sessions.running import RunningBrowser
from browser_service.security.urls import UrlPolicy
from tests.support.fakes.document import Element
from tests.support.fakes.page import FakeBrowser, FakePage


class FakeLauncher(Launcher):
    """A launcher that has a fake browser as soon as one is asked for."""

    def __init__(self, options: LaunchOptions) -> None:
        super().__init__(options)
        self._browser: FakeBrowser | None = None
        self._running: RunningBrowser | None = None

    @property
    def running(self) -> int:
        return int(self._browser is not None)

    @property
    def shared_runs(self) -> bool:
        return self._browser is not None

    async def browser(self, spec: SessionSpec) -> RunningBrowser:  # noqa: ARG002 - all sessions share one
        self.profile.check_free()
        if self._browser is None or self._running is None:
            self._browser = FakeBrowser(self.options.proxy)
            self._running = RunningBrowser(cast("Browser", self._browser), None, [])
        return self._running

    async def check_installed(self, options: SessionOptions) -> None:
        """Do nothing, because nothing needs to be installed."""

    async def clear(self) -> None:
        """Do nothing, because there are no processes."""

    async def close_unused(self, kind: BrowserKind | None) -> None:
        if kind is None:
            await self.stop()

    async def stop(self) -> None:
        browser, self._browser = self._browser, None
        if browser is not None:
            await browser.close()


class FakeHost(LocalHost):
    """The product's host: sessions, pages, leases and turns are real, only what is done to a page is done by hand."""

    def __init__(
        self,
        options: LaunchOptions,
        handlers: Mapping[str, Handler],
        artifacts: ArtifactPort,
        policy: UrlPolicy,
        limits: HostLimits,
    ) -> None:
        super().__init__(FakeLauncher(options), {**handlers, **_HANDLERS}, artifacts, policy, limits)


def _window(page: BrowserPage) -> FakePage:
    assert isinstance(page.playwright, FakePage)
    return page.playwright


async def _element(page: BrowserPage, selector: str, timeout_ms: float) -> Element:
    try:
        return await _window(page).find(selector, timeout_ms)
    except TimeoutError:
        details: Json = {"selector": selector, "url": page.url}
        raise ElementNotFound(f"Element matching selector {selector!r} is not there.", details=details) from None


async def _click(page: BrowserPage, action: Click) -> Json:
    await _window(page).click(await _element(page, action.selector, action.timeout))
    return {}


async def _fill(page: BrowserPage, action: Fill) -> Json:
    element = await _element(page, action.selector, action.timeout)
    text = action.value if isinstance(action.value, str) else page.secret(action.value.secret).value
    element.attributes["value"] = text
    return {"value": text}


async def _press(page: BrowserPage, action: Press) -> Json:
    if action.selector is not None:
        await _element(page, action.selector, action.timeout)
    return {}


async def _content(page: BrowserPage, action: Content) -> Json:
    document = _window(page).document
    text = document.source if action.format == "html" else document.text
    return await page.files.shown("content", text, action.budget)


async def _snapshot(page: BrowserPage, action: Snapshot) -> Json:
    named = [f'- {each.tag} "{each.text}"' for each in _window(page).document.elements if each.text.strip()]
    return await page.files.shown("snapshot", "\n".join(named), action.budget)


async def _screenshot(page: BrowserPage, _: Screenshot) -> Json:
    picture = io.BytesIO()
    Image.new("RGB", (1, 1)).save(picture, "PNG")
    return {"artifact": await page.files.keep(picture.getvalue(), "image/png", "screenshot")}


async def _wait_for_selector(page: BrowserPage, action: WaitForSelector) -> Json:
    await _element(page, action.selector, action.timeout)
    return {}


_HANDLERS: Mapping[str, Handler] = {
    "click": _click,
    "fill": _fill,
    "press": _press,
    "content": _content,
    "snapshot": _snapshot,
    "screenshot": _screenshot,
    "wait_for_selector": _wait_for_selector,
}
