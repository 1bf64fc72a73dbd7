"""The live tab that an act needs."""

from typing import Final

from playwright.async_api import Error as PlaywrightError

from browser_service.host.calls import CallRun
from browser_service.host.pages.handle import BrowserPage
from browser_service.host.stages.act import Stage
from browser_service.host.stages.confinement import confine
from browser_service.host.stages.request_rules import watch_requests
from shared.actions.traits import Navigation
from shared.errors import BrowserCrashed, TimedOut

_READY_WITHIN_S: Final = 40


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
