"""What is short of what surrounds an act; `order.py` has all of it in its order."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Final

from playwright.async_api import Error as PlaywrightError

from browse_together.contract.actions.base import Action
from browse_together.contract.actions.traits import Effect, Input, Navigation
from browse_together.contract.background import AtMost
from browse_together.contract.errors import HumanInControl, TimedOut, UnknownOutcome
from browse_together.contract.next_calls import next_call
from browser_service.host import errors
from browser_service.host.calls import CallRun
from browser_service.host.handle.page import BrowserPage
from browser_service.host.stages.act import Act
from browser_service.host.stages.confinement import confine
from browser_service.host.stages.ends import of_opening
from browser_service.host.stages.failures import explain
from browser_service.host.stages.rules import watch_requests
from browser_service.host.tabs.presses import STILL_S, Presses
from browser_service.host.tabs.tab import Tab

_WAITS_S: Final = 15.0
"""How long an act waits for a person to be still."""
_SEEMS_WITHIN_S: Final = 2.0
_READY_WITHIN_S: Final = 40


@asynccontextmanager
async def person_respected(act: Act, presses: Presses) -> AsyncIterator[None]:
    """Wait until the person in an attached browser has been still for a moment, and tell of what they do within the
    block, however it ends: it may fail for that reason."""
    page, run, name = act.page, act.run, act.action.name()
    try:
        async with run.cancel.within(_WAITS_S):
            waited = await presses.until_still()
    except TimeoutError:
        run.check_not_cancelled()
        raise HumanInControl(
            f"A person is typing or clicking in {page.page_id}. {name} waited {_WAITS_S:.0f} s for them to be "
            "still, and did not happen.",
            hint=f"Repeat it later, or work elsewhere meanwhile: {next_call('open_page', url='...')}.",
        ) from None
    if waited:
        page.tell(
            run.call.client_id,
            f"A person typed or clicked in {page.page_id} before {name}, which waited until they had been still for "
            f"{STILL_S:.0f} s: what they changed there is not yours.",
        )
    await act_behind(page, gives_input=act.action.input is not Input.POINTER)
    during = presses.begin_act()
    try:
        yield
    finally:
        if done := presses.end_act(during):
            page.tell(
                run.call.client_id,
                f"A person {' and '.join(done)} in {page.page_id} while {name} ran: look at it before you go on. Your "
                f"next act there waits until they have been still for {STILL_S:.0f} s.",
            )


async def act_behind(page: BrowserPage, *, gives_input: bool) -> None:
    """Let an act run in a tab that is behind another."""
    if (tab := page.record.tab) is not None and not page.record.dialog:
        async with AtMost(_SEEMS_WITHIN_S, PlaywrightError):
            await tab.behind.seem_in_front(gives_input=gives_input)


async def live(act: Act) -> None:
    """Make live the tab of a call that has its turn, confined to its token's origins, and watched for the owner's
    rules."""
    page, run = act.page, act.run
    if run.has_turn:
        await bring_up(page, run)
        if run.call.origins:
            await confine(page.record)
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
        raise of_opening(page, action.name(), error) from error
    except TimeoutError:
        run.check_not_cancelled()
        raise TimedOut(
            f"Page {page.page_id!r} could not be opened within {_READY_WITHIN_S} s; {action.name()} did not happen.",
            hint="The browser may be busy or hang: repeat the call, or see `browse-together logs`.",
        ) from None


def needs_front(page: BrowserPage, action: Action) -> bool:
    """Say if an act needs its page before the others of its window: one behind another gets no animation frames. A
    person's window stays as it is, and its pages draw behind others."""
    shares = page.record.shares_window and not page.session.in_persons_browser
    return shares and action.effect is Effect.ACTS and action.needs_open_page


@asynccontextmanager
async def left_fields(act: Act) -> AsyncIterator[None]:
    """Report values that earlier acts of the client left in fields and the page has since taken back. If the act's own
    message is sent behind this question, only begin to look: its answer comes first."""
    page = act.page
    tab = page.record.tab
    if tab is None or page.record.dialog or tab.field_watch.is_empty:
        yield
        return
    follows = act.action.input and tab.field_watch.by_selectors
    looking = asyncio.create_task(_report_left(act, tab))
    try:
        await (asyncio.sleep(0) if follows else looking)
        yield
    finally:
        await looking


async def _report_left(act: Act, tab: Tab) -> None:
    client_id = act.run.call.client_id
    for report in await tab.field_watch.check(client_id, tab.observer.moves, acts=act.observed):
        act.page.tell(client_id, report)


async def check_last_field(act: Act) -> None:
    """Look at the last field once more if the act may only have taken the focus from it."""
    page, tab = act.page, act.page.record.tab
    if tab is None or act.observation.had_effect or page.record.dialog:
        return
    client_id = act.run.call.client_id
    for report in await tab.field_watch.check_last(client_id, tab.observer.moves, act.action.aim.selector):
        page.tell(client_id, report)


async def guard_secret_fields(page: BrowserPage) -> None:
    """Guard such fields, before an act meets them and before its reply tells what it made of them."""
    given = page.session.given_secrets
    if given and page.record.live and not page.record.dialog:
        await given.guard(page.playwright)


@contextmanager
def pictured(act: Act) -> Iterator[None]:
    """Show viewers the act, and picture what a whole call does to the page."""
    page = act.page
    if not act.action.needs_open_page or act.run.is_part:
        yield
        return
    shown = page.screencast.show(act.run)
    picture = page.thumbnails.begin(shown)
    try:
        yield
    finally:
        page.screencast.finish(shown, failed=not act.done)
        if picture is not None:
            page.thumbnails.finish(picture)


async def read_title(act: Act) -> None:
    """Update the page's title: at once if the document changed and nobody has looked at it since, else after the
    reply."""
    page, observation = act.page, act.observation
    if not act.changed:
        return
    if observation.visited_urls and not page.looks.looked_since(act.began_at):
        await page.tab_life.read_title()
    elif page.record.live:
        page.tab_life.read_title_soon()


async def of_dialog(act: Act, error: Exception) -> Exception | None:
    """Wait for a dialog's answer after Playwright's own timeout, which ignores dialogs, has ended the act."""
    run, action = act.run, act.action
    if not (run.was_suspended and isinstance(error, PlaywrightError) and errors.is_timeout(error)):
        return error
    name, allowed = action.name(), action.allowed_ms()
    try:
        await run.wait_for_dialog()
        while not await act.page.tab_life.responds() and run.suspended:  # its script asked again
            await run.wait_for_dialog()
    except TimeoutError:
        return run.cancelled_error()
    if errors.began(error):
        act.end_seen = False
        act.result = {"observed": f"{name} was begun, and its end not seen: its {allowed} ms ended before the dialog"}
        return None
    explained = await explain(error, action, act.page)
    if explained.nothing_happened or not action.input:
        return explained
    return UnknownOutcome(f"{name} may be done in part: its {allowed} ms ended while a dialog was open.")
