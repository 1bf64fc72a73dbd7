"""Gives handlers the session that their call acts on, and runs them within the call's deadline and cancellation."""

from collections.abc import Callable
from pathlib import Path

from playwright.async_api import BrowserContext
from playwright.async_api import Error as PlaywrightError

from browse_together.contract.actions.traits import Effect, Lane
from browse_together.contract.calls import Call
from browse_together.contract.errors import TimedOut, UnknownOutcome
from browse_together.contract.model import Json
from browse_together.contract.next_calls import next_call
from browser_service.host import errors
from browser_service.host.calls import CallRun, Handler
from browser_service.host.files import Files
from browser_service.host.seam import ArtifactPort
from browser_service.host.sessions.logins import TakesLogins
from browser_service.host.sessions.session import SessionEntry

_READY_WITHIN_S = 40


class BrowserSession:
    """A session as one call sees it: what a handler gets."""

    def __init__(self, entry: SessionEntry, call: Call, artifacts: ArtifactPort, take_logins: TakesLogins) -> None:
        self.entry = entry
        self.call = call
        self.take_logins = take_logins
        self.files = Files(artifacts, call, entry.session_id)

    @property
    def session_id(self) -> str:
        return self.entry.session_id

    @property
    def attached(self) -> bool:
        """True if the session's browser is somebody else's."""
        return self.entry.attached

    @property
    def traces_dir(self) -> Path:
        """Return where its browser writes what is traced."""
        return self.entry.launcher.options.traces_dir

    async def context(self) -> BrowserContext:
        return await self.entry.context()


async def perform_on_session(
    session: BrowserSession, run: CallRun, handler: Handler, find_blockers: Callable[[], list[str]]
) -> Json:
    """Run the handler within a tight time limit: a page that spins or shows a dialog makes some of Playwright's calls
    on its context hang. The start of a browser, if none runs, does not count. `find_blockers` names the pages that may
    hang."""
    if run.action.lane is Lane.QUEUE and not session.entry.live:
        await _bring_up_session(session, run)
    try:
        async with run.cancel.within(run.action.allowed_ms() / 1000):
            if run.action.lane is Lane.QUEUE:
                await session.entry.check_profile()
            return await handler(session, run.action)
    except TimeoutError:
        if run.cancel.requested:
            raise run.cancelled_error() from None
        blockers = ", ".join(find_blockers()) or "none of them busy"
        raise TimedOut(
            f"{run.action.name()} did not end within {run.action.allowed_ms()} ms. Pages that may block it: "
            f"{blockers}.",
            hint=f"See what each shows: {next_call('list_pages', all=True)}; close or reload the one that "
            "hangs, then repeat this.",
        ) from None
    except PlaywrightError as error:
        if errors.has_ended(error) and run.action.effect is not Effect.READS:
            name, ended = run.action.name(), session.entry.end_reason() or "the browser ended"
            raise UnknownOutcome(f"{name} was under way when {ended}.") from error
        raise errors.translate(error, run.action, url="") from error


async def _bring_up_session(session: BrowserSession, run: CallRun) -> None:
    try:
        async with run.cancel.within():
            await session.entry.reach(run.call)
        async with run.cancel.within(_READY_WITHIN_S):
            await session.entry.context()
    except TimeoutError:
        run.check_not_cancelled()
        raise TimedOut(
            f"The browser could not be started within {_READY_WITHIN_S} s; {run.action.name()} did not happen.",
            hint="The machine may be busy: repeat the call, or see `browse-together logs`.",
        ) from None
