"""The short stages around an act; `order.py` has all of them in their order."""

import asyncio
from contextlib import ExitStack
from operator import attrgetter
from typing import Final

from playwright.async_api import Error as PlaywrightError

from browse_together.contract.actions.traits import Effect, Navigation
from browse_together.contract.errors import BrowserCrashed, HumanInControl, TimedOut, UnknownOutcome
from browse_together.contract.next_calls import next_call
from browser_service.host import errors
from browser_service.host.calls import CallRun
from browser_service.host.elements.handles import let_go
from browser_service.host.pages.handle import BrowserPage
from browser_service.host.pages.screencast import ShownCall
from browser_service.host.pages.thumbnails import Pictured
from browser_service.host.stages.act import Act, Stage
from browser_service.host.stages.confinement import confine
from browser_service.host.stages.errors import explain
from browser_service.host.stages.rules import watch_requests
from browser_service.host.tabs.observer import Observer
from browser_service.host.tabs.presses import STILL_S, ActPresses

_WAITS_S: Final = 15.0
"""How long an act waits for a person to be still."""
_READY_WITHIN_S: Final = 40


class PersonAtWindow(Stage):
    """The respect for a person in an attached browser: an act waits until they have been still for a moment, and tells
    of what they did while it ran."""

    needs = attrgetter("page.session.attached")

    def __init__(self, act: Act) -> None:
        super().__init__(act)
        self._presses = self.page.current.tab.presses if self.page.current.tab is not None else None
        self._during: ActPresses | None = None

    async def before(self) -> None:
        if self._presses is None:
            return
        try:
            async with self.run.cancel.within(_WAITS_S):
                await self._presses.until_still()
        except TimeoutError:
            self.run.check_not_cancelled()
            name = self.action.name()
            raise HumanInControl(
                f"A person is typing or clicking in {self.page.page_id}. {name} waited {_WAITS_S:.0f} s for them to be "
                "still, and did not happen.",
                hint=f"Repeat it later, or work elsewhere meanwhile: {next_call('open_page', url='...')}.",
            ) from None
        self._during = self._presses.begin_act()

    async def end(self) -> None:
        """Tell of it however the act ended: it may have failed for that reason."""
        if self._presses is None or self._during is None:
            return
        if done := self._presses.end_act(self._during):
            page_id, name = self.page.page_id, self.action.name()
            self.page.tell(
                self.run.call.client_id,
                f"A person {' and '.join(done)} in {page_id} while {name} ran: look at it before you go on. Your next "
                f"act there waits until they have been still for {STILL_S:.0f} s.",
            )


class Lease(Stage):
    """The lease of a host elsewhere: when it has ended, no act begins, even one that was on its way."""

    async def check(self) -> None:
        self.page.session.launcher.options.check_may_act()


class Live(Stage):
    """The live tab of a call that has its turn, confined to its token's origins, and watched for the owner's rules."""

    async def before(self) -> None:
        page, run = self.page, self.run
        if run.has_turn:
            await bring_up(page, run)
            if run.call.origins:
                await confine(page.current)
            if page.act_rules:
                await watch_requests(page)
        run.check_not_cancelled()
        run.url_before = page.record.url


async def bring_up(page: BrowserPage, run: CallRun) -> None:
    """Make the page live, at the head of its queue."""
    action = next(iter(run.action.parts()), run.action)
    try:
        async with run.cancel.within():
            await page.session.reach(run.call)
        async with run.cancel.within(_READY_WITHIN_S):
            if page.record.awaits_tab:  # it has no window before a person shares a tab, which they find there
                await page.session.context()
                return
            await page.recovery.bring_up(
                run.call.client_id,
                navigates=bool(action.navigates) and action.requested_url is not None,
                replaces=action.navigates is Navigation.REPLACES,
            )
    except PlaywrightError as error:
        raise BrowserCrashed(
            f"Page {page.page_id!r} ended while it was opened; {action.name()} did not happen.",
            details={"url": page.record.url, "context": {"crashReason": str(error).splitlines()[0]}},
        ) from error
    except TimeoutError:
        run.check_not_cancelled()
        raise TimedOut(
            f"Page {page.page_id!r} could not be opened within {_READY_WITHIN_S} s; {action.name()} did not happen.",
            hint="The browser may be busy or hang: repeat the call, or see `browse-together logs`.",
        ) from None


class LeftFields(Stage):
    """The report of values that earlier acts of the client left in fields and the page has since taken back."""

    def __init__(self, act: Act) -> None:
        super().__init__(act)
        self._looking: asyncio.Task[None] | None = None

    async def before(self) -> None:
        """Look at the fields. If the act's own message is sent behind this question, only begin: its answer comes
        first."""
        page = self.page
        if page.observer is None or page.record.dialog or page.tab.field_watch.is_empty:
            return
        follows = self.action.input and page.tab.field_watch.by_selectors
        self._looking = asyncio.create_task(self._report(page.observer))
        await (asyncio.sleep(0) if follows else self._looking)

    async def after(self) -> None:
        """Look at the last field once more if the act may only have taken the focus from it."""
        page, observation = self.page, self.act.observation
        if page.observer is None or observation is None or observation.had_effect or page.record.dialog:
            return
        selector, client_id = self.action.aim.selector, self.run.call.client_id
        for report in await page.tab.field_watch.check_last(client_id, page.observer.moves, selector):
            page.tell(client_id, report)

    async def end(self) -> None:
        if self._looking is not None:
            await self._looking

    async def _report(self, observer: Observer) -> None:
        client_id = self.run.call.client_id
        for report in await self.page.tab.field_watch.check(client_id, observer.moves, acts=self.act.observed):
            self.page.tell(client_id, report)


class SecretFields(Stage):
    """The guard of such fields, before an act meets them and before its reply tells what it made of them."""

    async def before(self) -> None:
        await self._guard()

    async def after(self) -> None:
        if self.act.observed:
            await self._guard()

    async def _guard(self) -> None:
        page, given = self.page, self.page.session.given_secrets
        if given and page.current.live and not page.record.dialog:
            await given.guard(page.playwright)


class Pictures(Stage):
    """The act that viewers see, and the picture of what a whole call did to the page."""

    def __init__(self, act: Act) -> None:
        super().__init__(act)
        self._shown: ShownCall | None = None
        self._pictured: Pictured | None = None

    async def before(self) -> None:
        if self.action.needs_open_page and not self.run.is_part:
            self._shown = self.page.screencast.show(self.run)
            self._pictured = self.page.thumbnails.begin(self._shown)

    async def end(self) -> None:
        if self._shown is None:
            return
        self.page.screencast.finish(self._shown, failed=not self.act.done)
        if self._pictured is not None:
            self.page.thumbnails.finish(self._pictured)


class Title(Stage):
    """The update of the page's title: at once if the document changed and nobody has looked at it since, else after the
    reply."""

    async def end(self) -> None:
        page, observation = self.page, self.act.observation
        if not self.act.changed:
            return
        if observation is not None and observation.visited_urls and not page.looks.looked_since(self.act.began_at):
            await page.current.read_title()
        elif page.current.live:
            page.current.read_title_soon()


class Targets(Stage):
    """The note of how the elements that a call names are found again, for whoever repeats it later. A handler whose
    script meets the element adds to it."""

    needs = attrgetter("action.aim.selectors")

    async def check(self) -> None:
        for selector in self.action.aim.selectors:
            self.page.note_target(selector, self.action.aim.frame)


class Handles(Stage):
    """The handles that an act took from Playwright, released once it is done: otherwise Playwright keeps each, and its
    element, as long as the page."""

    def __init__(self, act: Act) -> None:
        super().__init__(act)
        self._taken = ExitStack()

    async def before(self) -> None:
        self._taken.enter_context(let_go())

    async def after(self) -> None:
        self._taken.close()

    async def end(self) -> None:
        self._taken.close()


class WaitingDialog(Stage):
    """The wait for a dialog's answer after Playwright's own timeout, which ignores dialogs, has ended the act."""

    async def failed(self, error: Exception) -> Exception | None:
        run = self.run
        if not (run.was_suspended and isinstance(error, PlaywrightError) and errors.is_timeout(error)):
            return error
        name, allowed = self.action.name(), self.action.allowed_ms()
        try:
            await run.wait_for_dialog()
            while not await self.page.current.responds() and run.suspended:  # its script asked again
                await run.wait_for_dialog()
        except TimeoutError:
            return run.cancelled_error()
        if errors.began(error):
            begun = f"{name} was begun, and its end not seen: its {allowed} ms ended before the dialog"
            self.act.result = {"observed": begun}
            return None
        explained = await explain(error, self.action, self.page)
        if explained.nothing_happened or not self.action.input:
            return explained
        return UnknownOutcome(f"{name} may be done in part: its {allowed} ms ended while a dialog was open.")


class Front(Stage):
    """The step to the front of a shared window before an act: a page behind another gets no animation frames."""

    async def check(self) -> None:
        acts = self.action.effect is Effect.ACTS and self.action.needs_open_page
        if acts and self.page.record.shares_window:
            await self.page.playwright.bring_to_front()
