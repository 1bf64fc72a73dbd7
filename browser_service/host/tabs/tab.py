"""The Playwright page that is live behind a pageId, and what observes it."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, NamedTuple, Protocol

from playwright.async_api import Browser, BrowserContext, CDPSession, Page
from playwright.async_api import Error as PlaywrightError

from browse_together.contract.actions.traits import CalledTool
from browse_together.contract.background import AtMost, Background
from browse_together.contract.cuts import cut
from browse_together.contract.model import Json, weight
from browser_service.host import world
from browser_service.host.background import bounded
from browser_service.host.elements.closed_fields import ClosedFields
from browser_service.host.elements.field_watch import FieldWatch
from browser_service.host.elements.file_choosers import FileChoosers
from browser_service.host.events import well_formed
from browser_service.host.network.bound_logins import BoundLogins
from browser_service.host.network.guard import Documents, guard
from browser_service.host.network.sign_in import SignIns
from browser_service.host.network.tab_events import TabEvents
from browser_service.host.reading.snapshot import ClientView
from browser_service.host.scripts import results, script
from browser_service.host.tabs.behind import SEEM_IN_FRONT, Behind
from browser_service.host.tabs.observer import TabObserver
from browser_service.host.tabs.passkeys import Passkeys
from browser_service.host.tabs.presses import Presses
from browser_service.host.world.ties import is_chromium, listen, open_session
from browser_service.rules.bounded import Bounded
from browser_service.security.urls import BLANK, abridged

_SET: Final = "Emulation.setDeviceMetricsOverride"
_CLEAR: Final = "Emulation.clearDeviceMetricsOverride"


class Metrics:
    """The size and pixel ratio of a page. They have a CDP session of their own: after a picture, Chromium restores what
    the picture's session had before it, and so would undo what was set meanwhile over the same session."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._cdp: CDPSession | None = None
        self.possible = is_chromium(page.context)
        """True if the browser can do it."""

    async def set(self, width: int, height: int, ratio: float, *, mobile: bool = False) -> None:
        """Set the size in CSS pixels, and in `ratio` the device pixels per CSS pixel."""
        if self._cdp is None:
            self._cdp = await open_session(self._page)
        metrics: Json = {"width": width, "height": height, "deviceScaleFactor": ratio, "mobile": mobile}
        await self._cdp.send(_SET, metrics)

    async def clear(self) -> None:
        """Give the page back the size that Playwright set."""
        if self._cdp is not None:
            await self._cdp.send(_CLEAR)


_PROBE_S: Final = 1.0
_TITLE_WITHIN_S: Final = 0.2
_ANSWERS_WITHIN_S: Final = 0.2
_MOST_VIEWS: Final = 50
_MOST_LISTED: Final = 1_000
_MOST_READS: Final = 1_000
MOST_READ_WEIGHT: Final = 2_000_000
_TITLE_CHARACTERS: Final = 2_000
_ONE: Final = {"expression": "1"}
_TITLE: Final = results.bounded(script("document_title"))


class Read(NamedTuple):
    """What a client read of a page, with the page's revision and the time before (monotonic clock)."""

    revision: int
    at: float
    found: Json


class TabSession(Protocol):
    """The session in whose windows tabs are."""

    sign_ins: SignIns
    bound_logins: BoundLogins

    @property
    def headless(self) -> bool:
        """Return whether nobody sees the windows."""

    def owns(self, context: BrowserContext) -> bool:
        """Return whether a context belongs to the browser that runs now."""


class Tab:
    """One Playwright page from its opening to its end. The page's record outlasts it."""

    def __init__(self, page: Page, session: TabSession) -> None:
        self.page = page
        self.sign_in = session.sign_ins.on_page(page)
        self.events = TabEvents(page)
        self.events.listeners.append(session.bound_logins)
        self.observer = TabObserver(page, self.events)
        self.cdp: CDPSession | None = None
        """Chromium's session for the page, which lasts as long as the page; None with other engines."""
        self.target_id = ""
        self.acted_on = False
        """True if somebody has acted on the document that it shows."""
        self.crashed = False
        """True once its renderer is gone."""
        self.views = Bounded[str, ClientView](_MOST_VIEWS)
        """What each of the latest clients was shown of the page. The others have to take a snapshot again."""
        self.listed_tools = Bounded[tuple[str, CalledTool], str](_MOST_LISTED)
        """The marks of the page's tools as clients were shown them, by the client and the tool."""
        self.metrics = Metrics(page)
        self.field_watch = FieldWatch()
        self.file_choosers = FileChoosers(page)
        self.presses = Presses()
        self.passkeys = Passkeys(page, self.observer)
        self.reads = Bounded[tuple[str, str], Read](
            _MOST_READS, weigh=lambda read: weight(read.found), most_weight=MOST_READ_WEIGHT
        )
        """What clients read of the page lately, by the client and the name of the read."""
        self.closed_fields = ClosedFields()
        self.confined = False
        """True once its frames load only from where its holder's token allows."""
        self.watched = False
        """True once the owner's rules check its requests."""
        self._session, self._context = session, page.context
        self.behind = Behind(page)
        self._leave_answer: asyncio.Future[bool] | None = None
        self._background = Background()
        listen(page, "domcontentloaded", self._on_document)

    @property
    def url(self) -> str:
        """Return the URL to show: shortened, and without the nonce that identifies a new window."""
        return BLANK if self.page.url.startswith(f"{BLANK}#") else abridged(self.page.url)

    async def guard(self, documents: Documents | None, *, in_front: bool) -> None:
        """Make the page ask about each document, and learn Chromium's id of the page. With `in_front`, it seems to be
        before all others."""
        cdp, self.target_id = await guard(self.page, documents, self.sign_in)
        if cdp is not None:
            self.cdp = cdp
            if in_front:  # an alert of the page holds the answer back, and nobody waits for it
                self._background.spawn(bounded(cdp.send(SEEM_IN_FRONT, {"enabled": True})))
            self._background.spawn(bounded(world.open_early(self.page)))
            self.observer.late.note_by(cdp, keeps_apps=self._session.headless)
            self._background.spawn(bounded(self._session.bound_logins.hear(cdp)))
            self.passkeys.note_by(cdp, refuses=self._session.headless)

    @property
    def owned(self) -> bool:
        """True while the page belongs to the browser that runs now."""
        return self._session.owns(self._context)

    @property
    def usable(self) -> bool:
        """True while the page is there and works."""
        return self.there and not self.crashed

    @property
    def there(self) -> bool:
        """True while the page is there, be it with a dead renderer. Playwright calls pages of a dead driver open."""
        return self.owned and not self.page.is_closed()

    async def responds(self) -> bool:
        """Say whether the page answers a script within a second."""
        try:
            error = await self.probe()
        except TimeoutError:
            return False
        return error is None or "Execution context was destroyed" in str(error)

    async def probe(self) -> PlaywrightError | None:
        """Evaluate a script and return the error with which it fails, if it does. Raises TimeoutError after a
        second."""
        async with asyncio.timeout(_PROBE_S):
            try:
                await self.page.evaluate("1")
            except PlaywrightError as error:
                return error
        return None

    async def interrupt(self) -> bool:
        """Act as a browser's stop button, for scripts too: while a page loads or spins, all calls on it wait.

        This uses the session that was opened with the page, because no new session works while the page spins.
        """
        if self.cdp is None:
            return False
        try:
            async with asyncio.timeout(_PROBE_S):
                await asyncio.gather(self.cdp.send("Page.stopLoading"), self._end_what_spins(self.cdp))
        except (TimeoutError, PlaywrightError):
            return False
        return True

    async def _end_what_spins(self, cdp: CDPSession) -> None:
        """End the script that keeps the page from answering, if there is one. In a page that answers, this would end
        Playwright's own scripts while they load, and no script would work until the next document."""
        behind_what_was_sent = self.page.evaluate("1")
        if not await _answered(behind_what_was_sent) and not await _answered(cdp.send("Runtime.evaluate", _ONE)):
            await cdp.send("Runtime.terminateExecution")

    async def title(self) -> str | None:
        """Ask for the title, for 200 ms at most; None if the page does not answer."""
        async with AtMost(_TITLE_WITHIN_S, PlaywrightError):
            return await self.read_title()
        return None

    async def read_title(self) -> str:
        """Read the title, or the beginning of a long one: the page decides its length, and acts read it again and
        again. Nothing of it is awaited, so that it is answered even while a print window is open; nor is a world of
        ours, where none is known yet."""
        if self.cdp is None:
            return well_formed(cut(await self.page.title(), _TITLE_CHARACTERS))
        if world.is_at_hand(self.page):
            answer = await world.evaluate(self.page, _TITLE, awaits=False)
        else:
            found = await self.cdp.send("Runtime.evaluate", {"expression": f"({_TITLE})()"})
            answer = found["result"].get("value")
        return well_formed(str(results.value_of(answer)))

    async def try_close(self, asks: Callable[[], bool]) -> bool:
        """Close the tab unless its document refuses. The document may ask somebody first, by a dialog; `asks` says
        whether it does. Close one that spins without asking. Returns whether the tab is closed."""
        answer: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._leave_answer = answer
        self.page.once("close", lambda _: self.note_leave_answer(left=True))
        await bounded(self.page.close(run_before_unload=True))
        await asyncio.wait({answer}, timeout=_PROBE_S)
        if not answer.done() and not asks():
            await self.close()
            self.note_leave_answer(left=True)
        return await answer

    def note_leave_answer(self, *, left: bool) -> None:
        """Note how somebody answered the document's question whether it may be left."""
        if self._leave_answer is not None and not self._leave_answer.done():
            self._leave_answer.set_result(left)

    async def kill(self) -> None:
        """End the renderer at once, which may be too busy to close in good order, and close the tab."""
        if self.cdp is not None:
            async with AtMost(_TITLE_WITHIN_S, PlaywrightError):  # it has no time for an answer
                await self.cdp.send("Page.crash")
        await self.close()

    async def close(self) -> None:
        """Close the tab, if it is there, without waiting for long. Chromium may forget what it was asked while the tab
        goes somewhere, and Playwright does not ask twice."""
        if self.there:
            await bounded(self.page.close())
        if self.there and self.cdp is not None and self._context.browser is not None:
            await bounded(self._close_again(self._context.browser))

    async def _close_again(self, browser: Browser) -> None:
        cdp = await browser.new_browser_cdp_session()
        try:
            await cdp.send("Target.closeTarget", {"targetId": self.target_id})
        finally:
            await cdp.detach()

    def _on_document(self, _: Page) -> None:
        self.acted_on = False


async def _answered(question: Awaitable[object]) -> bool:
    """Say whether the page answers a question soon; an error is an answer too."""
    try:
        async with asyncio.timeout(_ANSWERS_WITHIN_S):
            await question
    except TimeoutError:
        return False
    except PlaywrightError:
        pass  # of a document that is just gone, say
    return True


async def target_of(page: Page) -> str:
    """Return Chromium's id of a page, which lasts as long as the page does; "" for a page that has just gone."""
    try:
        cdp = await open_session(page)
        try:
            info = await cdp.send("Target.getTargetInfo")
        finally:
            await bounded(cdp.detach())
    except PlaywrightError:
        return ""
    return str(info["targetInfo"]["targetId"])
