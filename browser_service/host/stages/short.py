"""The short stages around an act; `order.py` has all of them in their order."""

from contextlib import ExitStack
from operator import attrgetter

from playwright.async_api import Error as PlaywrightError

from browser_service.host import errors
from browser_service.host.elements.handles import let_go
from browser_service.host.pages.screencast import ShownCall
from browser_service.host.pages.thumbnails import Pictured
from browser_service.host.stages.act import Act, Stage
from browser_service.host.stages.errors import explain
from shared.actions.traits import Effect
from shared.errors import UnknownOutcome


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
            await page.titles.read()
        elif page.current.live:
            page.titles.read_soon()


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
