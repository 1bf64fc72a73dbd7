"""A dialog that blocks an act."""

from playwright.async_api import Error as PlaywrightError

from browser_service.host import errors
from browser_service.host.stages.act import Stage
from browser_service.host.stages.errors import explain
from shared.errors import UnknownOutcome


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
