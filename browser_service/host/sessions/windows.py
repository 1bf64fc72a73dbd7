"""Opens each page in a window of its own, because a tab behind another gets no animation frames. In a person's browser
it opens tabs behind theirs: a window would come to the front, and take what they type."""

import asyncio
import secrets
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from playwright.async_api import Browser, BrowserContext, CDPSession, Page
from playwright.async_api import Error as PlaywrightError

from browse_together.contract.background import AtMost, Background
from browser_service.host.background import bounded
from browser_service.host.network.guard import BrowserGuard
from browser_service.host.sessions.spare_window import SpareWindow
from browser_service.host.tabs.tab import target_of
from browser_service.rules.bounded import Bounded

_BLANK: Final = "about:blank"
_ANSWERS_WITHIN_S: Final = 2.0
_RETRY_AFTER_S: Final = (3.0, 5.0)
"""After these many seconds, we ask for another window."""
_MOST_ABANDONED: Final = 200


class Target(NamedTuple):
    """A page as Chromium lists it."""

    target_id: str
    title: str
    url: str
    opener_id: str | None
    """The page that opened it, if the scripts of the two can reach each other."""


def _target(info: dict[str, Any]) -> Target:  # Any: what Chromium answers
    opener_id = info.get("openerId") if info["canAccessOpener"] else None
    return Target(info["targetId"], info["title"], info["url"], opener_id)


def _is_tool(url: str) -> bool:
    return url.startswith("devtools:")


OnForeign = Callable[[Page], None]
OnPopup = Callable[[str, int], None]
"""The function that receives the id of the target that opens a popup, and 1 if the popup can send it messages, else
0."""


class Windows:
    """The windows of one context: it opens pages, and reports those that it did not open: popups and people's tabs."""

    def __init__(
        self,
        context: BrowserContext,
        guard: BrowserGuard,
        on_foreign: OnForeign,
        on_popup: OnPopup,
        *,
        ours: bool,
        lasting: bool,
    ) -> None:
        self._context = context
        self._guard = guard
        self._on_foreign = on_foreign
        self._on_popup = on_popup
        self._ours = ours
        self._lasting = lasting
        """True for the browser's own context, which is never closed before the browser."""
        self._abandoned = Bounded[str, None](_MOST_ABANDONED)
        self.dead: set[Page] = set()
        self._expected: dict[str, asyncio.Future[Page]] = {}
        self._opening: dict[str, asyncio.Future[Page]] = {}
        """The arrivals of pages to come, by Chromium's ids of the pages."""
        self._crashed_targets = Bounded[str, None](_MOST_ABANDONED)
        """The ids of pages that crashed: a page may die before we read the response that names it."""
        self.cdp: CDPSession | None = None
        self._browser_context_id: str | None = None
        self._of_context: dict[str, object] = {}
        """The context's id for commands to the browser; empty for the profile's context, which Chromium 150 does not
        find by its id."""
        self._connecting = asyncio.Lock()
        self._background = Background()
        self.spare = SpareWindow(self._open)
        for page in context.pages:
            self._watch(page)
        context.on("page", self._on_page)

    async def open(self) -> Page:
        """Return a blank page in a new window."""
        return await self.spare.take() or await self._open()

    async def _open(self, timeout_s: float = 15) -> Page:
        """Open a blank page in a new window. A nonce in its URL identifies it, never its order of arrival. Raises
        TimeoutError."""
        browser = self._context.browser
        if browser is None or browser.browser_type.name != "chromium":
            async with self._connecting:  # other engines open tabs, which come without a nonce
                return await self._first_page()
        arrival: asyncio.Future[Page] = asyncio.get_running_loop().create_future()
        targets: dict[str, str] = {}
        try:
            async with asyncio.timeout(timeout_s):
                cdp = await self._connect(browser)
                for retry_after_s in (*_RETRY_AFTER_S, timeout_s):
                    async with AtMost(retry_after_s):
                        await self._request_window(cdp, arrival, targets)
                        return await asyncio.shield(arrival)
            raise TimeoutError
        finally:
            self._stop_waiting(arrival, targets)

    async def _request_window(self, cdp: CDPSession, arrival: "asyncio.Future[Page]", targets: dict[str, str]) -> None:
        """Ask for a window. Under load one in a hundred never comes, so any of those asked for will do."""
        url = f"{_BLANK}#{secrets.token_hex(8)}"
        targets[url] = ""
        self._expected[url] = arrival
        target: dict[str, object] = {"url": url, **({"newWindow": True} if self._ours else {"background": True})}
        if self._browser_context_id:
            target["browserContextId"] = self._browser_context_id
        targets[url] = target_id = str((await cdp.send("Target.createTarget", target))["targetId"])
        self._opening[target_id] = arrival
        if target_id in self._crashed_targets:
            self.crashed({"targetId": target_id})

    def _stop_waiting(self, arrival: "asyncio.Future[Page]", targets: dict[str, str]) -> None:
        """Stop waiting for a window, and close it if it comes after all."""
        arrived_url = (
            arrival.result().url if arrival.done() and not arrival.cancelled() and not arrival.exception() else ""
        )
        arrival.cancel()
        for url, target_id in targets.items():
            self._expected.pop(url, None)
            self._opening.pop(target_id, None)
            if url != arrived_url:
                self._abandoned[url] = None
                if target_id and self.cdp is not None:
                    self._background.spawn(bounded(self.cdp.send("Target.closeTarget", {"targetId": target_id})))

    async def command(self, method: str, parameters: dict[str, object]) -> None:
        """Send Chromium a command about the whole context."""
        browser = self._context.browser
        if browser is not None:
            cdp = await self._connect(browser)
            await cdp.send(method, {**parameters, **self._of_context})

    async def is_of_profile(self) -> bool:
        """Say if what is about the whole browser concerns this context: a browser with several profiles takes it for
        the one that its person used last."""
        browser = self._context.browser
        if browser is None:
            return True
        cdp = await self._connect(browser)
        now = (await cdp.send("Target.getBrowserContexts")).get("defaultBrowserContextId")
        return now in {None, self._browser_context_id}

    async def targets(self) -> "list[Target]":
        """Return the pages of the context as Chromium lists them now, without those that we are opening."""
        browser = self._context.browser
        if browser is None:
            return []
        cdp = await self._connect(browser)
        infos = (await cdp.send("Target.getTargets"))["targetInfos"]
        found = [each for each in infos if each["type"] == "page" and self._is_ours(each)]
        return [_target(each) for each in found if not self.is_opening(each["url"]) and not _is_tool(each["url"])]

    async def find(self, target_id: str) -> Page | None:
        """Return the page with Chromium's id; None if there is none. Pages at its address are asked first, and so no
        more of them than needed."""
        url = next((each.url for each in await self.targets() if each.target_id == target_id), None)
        if url is None:
            return None
        for page in sorted(self._context.pages, key=lambda page: page.url != url):
            async with AtMost(_ANSWERS_WITHIN_S):  # a tab that sleeps does not answer
                if await target_of(page) == target_id:
                    return page
        return None

    def is_opening(self, url: str) -> bool:
        """Say if a page with this address is one that we asked for."""
        return url in self._expected or url in self._abandoned

    async def _connect(self, browser: Browser) -> CDPSession:
        """Connect once, before any page opens, so that the context of each window is known."""
        async with self._connecting:
            if self.cdp is None:
                cdp = await browser.new_browser_cdp_session()
                await cdp.send("Target.setDiscoverTargets", {"discover": True})
                await self._guard.guard(browser, ours=self._ours)
                self._browser_context_id = own = await self._own_context_id(cdp)
                made = (await cdp.send("Target.getBrowserContexts"))["browserContextIds"]
                self._of_context = {"browserContextId": own} if own in made else {}
                cdp.on("Target.targetCreated", self._on_target_created)
                cdp.on("Target.targetCrashed", self.crashed)
                self._context.on("close", lambda _: self._background.spawn(bounded(cdp.detach())))
                self.cdp = cdp
            return self.cdp

    async def _own_context_id(self, cdp: CDPSession) -> str | None:
        """Return CDP's id of the context. Chromium names that of its profile, and a page of it that of another."""
        pages = self._context.pages
        if self._lasting and (own := (await cdp.send("Target.getBrowserContexts")).get("defaultBrowserContextId")):
            return str(own)
        page = pages[0] if pages else await self._first_page()
        session = await self._context.new_cdp_session(page)
        try:
            info = await session.send("Target.getTargetInfo")
        finally:
            await session.detach()
        if not pages:
            await page.close()
        context_id = info["targetInfo"].get("browserContextId")
        return str(context_id) if context_id else None

    async def _first_page(self) -> Page:
        """Open a page of ours that comes without a nonce."""
        self._expected["about:blank"] = asyncio.get_running_loop().create_future()
        try:
            return await self._context.new_page()
        finally:
            self._expected.pop("about:blank")

    def _on_target_created(self, event: dict[str, dict[str, str]]) -> None:
        """Report a popup, or another new page, without an opener. Chromium reports it before the click that opens it
        returns, and before Playwright has it."""
        target = event["targetInfo"]
        if self._is_ours(target) and target["type"] == "page":
            self._on_popup(target.get("openerId", ""), int(bool(target.get("canAccessOpener"))))

    def _is_ours(self, target: dict[str, str]) -> bool:
        """Say if a target belongs to this context: Chromium reports every target to each of us, and each should count
        once."""
        return target.get("browserContextId") == self._browser_context_id

    def crashed(self, event: dict[str, str]) -> None:
        """Fail the opening of a page that dies before Playwright has it, because it would never arrive."""
        self._crashed_targets[event["targetId"]] = None
        arrival = self._opening.get(event["targetId"])
        if arrival is not None and not arrival.done():
            arrival.set_exception(PlaywrightError("Target crashed"))

    def _watch(self, page: Page) -> None:
        if self._ours:
            page.on("crash", self._on_crash)

    def _on_crash(self, page: Page) -> None:
        self.dead.add(page)
        self._background.spawn(self._remove(page))

    async def _remove(self, dead: Page) -> None:
        """Close a page without a renderer, because commands to a whole context fail as long as it has one."""
        async with self._connecting:  # one first page at a time
            if self._lasting and self.dead.issuperset(self._context.pages):  # with its last window the browser may end
                await bounded(self._first_page())
        await bounded(dead.close())
        if not dead.is_closed():  # a busy browser may have taken no notice
            await bounded(dead.close())
        self.dead.discard(dead)

    def _on_page(self, page: Page) -> None:
        self._watch(page)
        arrival = self._expected.get(page.url)
        if page.url in self._abandoned:  # its caller has given up
            del self._abandoned[page.url]
            self._background.spawn(bounded(page.close()))
        elif arrival is None:
            self._on_foreign(page)
        elif not arrival.done():
            arrival.set_result(page)
