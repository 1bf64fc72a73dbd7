"""The time of an act: its deadline, and its cancellation."""

from typing import Final

from playwright.async_api import Error as PlaywrightError

from browser_service.host import errors
from browser_service.host.stages.act import Stage
from shared.actions.traits import Reports
from shared.errors import BrowseError, TimedOut, UnknownOutcome
from shared.next_calls import next_call

GRACE_S: Final = 1.0


class Clock(Stage):
    """The end of an act's time, and the reason: the call was cancelled, the page goes elsewhere, or nothing answers."""

    async def failed(self, error: Exception) -> Exception | None:
        if isinstance(error, TimeoutError):
            return await self._out_of_time()
        if not isinstance(error, PlaywrightError) or not errors.is_timeout(error):
            return error
        if self.page.effects.navigating_to and not self.action.navigates:
            return (
                None
                if self.page.effects.outlasted_by_navigation(error)
                else self._under_way(self.page.effects.navigating_to)
            )
        self.page.current.doubt()
        return error

    async def _out_of_time(self) -> BrowseError | None:
        page, run, action, observation = self.page, self.run, self.action, self.act.observation
        pending_url = page.effects.navigating_to
        page.current.doubt(doubted=not pending_url)
        if run.cancel.requested:
            return run.cancelled_error()
        if observation is not None and observation.pending_url and action.reports >= Reports.READ_BACK:
            observation.timed_out = True
            left = f"{action.name()} was done; what it left on the page could not be read back"
            self.act.result = {"observed": left}
            return None
        if observation is not None and observation.pending_url and not action.navigates:
            return UnknownOutcome(
                f"{action.name()} was under way when the page began to go to {pending_url}, whose server has not "
                "answered yet.",
                hint=f"See where it arrives: {next_call('snapshot', timeout=30000)}. Then decide whether to repeat it.",
            )
        if pending_url and not action.navigates:
            return self._under_way(pending_url)
        await page.current.interrupt()
        return TimedOut(
            f"{action.name()} did not end within {action.allowed_ms()} ms.",
            hint=f"Give it longer with `timeout` (ms), or look what the page shows: {next_call('snapshot')}.",
            details={"url": page.record.url, "context": {"timeout": action.allowed_ms()}},
        )

    def _under_way(self, pending_url: str) -> TimedOut:
        name, allowed, url = self.action.name(), self.action.allowed_ms(), self.page.record.url
        longer, elsewhere = next_call("snapshot", timeout=30000), next_call("goto", url="...")
        return TimedOut(
            f"{name} did not end within {allowed} ms: the page goes to {pending_url}, whose server has not answered "
            "yet. Until then it can neither be read nor acted on.",
            hint=f"Wait longer for it: {longer}. Or leave: {elsewhere}.",
            details={"url": url, "context": {"timeout": allowed, "navigatingTo": pending_url}},
        )
