"""Runs one action on one page: races it against its deadline and its cancel, observes it, and translates its errors."""

import asyncio
import time
from collections.abc import Awaitable

from playwright.async_api import Error as PlaywrightError
from pydantic import JsonValue

from browser_service.host import delta, errors, guard_check
from browser_service.host.act_check import check_act
from browser_service.host.call_run import CallRun, Handler
from browser_service.host.confinement import confine
from browser_service.host.elements import explanation
from browser_service.host.elements.handles import let_go
from browser_service.host.observation import Observation
from browser_service.host.page.crash_errors import interrupted, under_way, unfinished
from browser_service.host.page.handle import BrowserPage
from browser_service.host.page.observer import Observer
from browser_service.host.recovery.login_ending import LoginEnding
from browser_service.host.reply import compose_reply
from browser_service.host.request_rules import watch_requests
from shared.actions.base import Action
from shared.actions.traits import Effect
from shared.errors import BrowseError, BrowserCrashed, NavigationFailed, TimedOut, UnknownOutcome, WithoutEffect
from shared.model import Json
from shared.next_calls import next_call

_GRACE_S = 1.0
_READY_WITHIN_S = 40
_EXPLAIN_S = 2.0


async def bring_up(page: BrowserPage, run: CallRun) -> None:
    """Make the page live, at the head of its queue."""
    action = next(iter(run.action.parts()), run.action)
    try:
        async with run.cancel.within(_READY_WITHIN_S):
            await page.recovery.bring_up(
                run.call.client_id,
                navigates=action.navigates and action.requested_url is not None,
                replaces=action.replaces_page,
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


async def perform_live(page: BrowserPage, run: CallRun, handler: Handler) -> Json:
    """Bring the page up, and perform. What only reads is read once more where the page died under it."""
    await bring_up(page, run)
    await confine(page, run.call)
    await watch_requests(page)
    try:
        return await perform(page, run, handler)
    except BrowserCrashed:
        if run.action.effect is not Effect.READS or run.action.parts():
            raise
    await bring_up(page, run)
    return await perform(page, run, handler)


async def perform(page: BrowserPage, run: CallRun, handler: Handler) -> Json:
    """Run the handler; for an act, add what was observed."""
    run.check_not_cancelled()
    page.record.has_leave = run.call.by_person or bool({*run.call.confirmed} - {guard_check.KEY})
    run.url_before = page.record.url
    changed, saving, began_at = True, None, time.monotonic()
    ending = LoginEnding(page, run)
    acts = run.action.effect is Effect.ACTS and run.action.needs_open_page and not run.action.parts()
    looking = await _begin_look_at_fields(page, run, acts=acts)
    before = await delta.page_before(page, run.action) if acts else delta.PageBefore()
    observation = page.observe(run.action) if acts else None
    if acts:
        page.begin_act()
    try:
        with let_go():
            result = await _translate_errors(page, run, _run_in_front(page, run.action, handler), observation)
        if observation is None:
            return result
        if not run.action.skips_wait:
            await _settle(page, run, observation)
            await ending.tell(observation)
        if not page.current.live and not page.current.gone:
            raise unfinished(page.record, page.current.cause(), run.action)
        changed = not run.action.is_trial
        beside = changed and not observation.writes  # of whose answers a script may make a login meanwhile
        saving = asyncio.ensure_future(_save_logins(page, observation, ending)) if beside else None
        return await compose_reply(page, run.action, result, observation, before)
    except WithoutEffect as error:
        raise await _with_observed_effects(page, error, run, observation) from None
    except BrowseError as error:
        changed = changed and not error.nothing_happened
        raise
    finally:
        run.read_at |= guard_check.places_read(page, run.action, run.url_before)
        page.record.has_leave, page.record.loading = False, None
        await asyncio.gather(*looking)
        if observation is not None and page.observer is not None:
            page.observer.end(observation)
            run.requests = observation.requests()
        if run.cancel.requested and observation is not None:
            await page.current.interrupt()
        if acts and changed:
            page.record.revision += 1
            await (saving or _save_logins(page, observation, ending))
            await _refresh(page, observation, began_at)


async def _begin_look_at_fields(page: BrowserPage, run: CallRun, *, acts: bool) -> list[asyncio.Task[None]]:
    """Look at fields that earlier acts left, or begin to, where an act that is sent behind the question comes after
    its answer."""
    if page.observer is None or page.record.dialog or page.tab.field_watch.is_empty:
        return []
    follows = run.action.acts_on_element and page.tab.field_watch.by_selectors
    looking = asyncio.create_task(_report_reverted_fields(page, page.observer, run, acts=acts))
    await (asyncio.sleep(0) if follows else looking)
    return [looking]


async def _report_reverted_fields(page: BrowserPage, observer: Observer, run: CallRun, *, acts: bool) -> None:
    """Tell the client what its earlier acts left in fields and the page has taken back since."""
    for report in await page.tab.field_watch.check(run.call.client_id, observer.moves, acts=acts):
        page.tell(run.call.client_id, report)


async def _run_in_front(page: BrowserPage, action: Action, handler: Handler) -> Json:
    """Run the handler, unless a rule of the owner's keeps the act from being done. A page that shares its window is in
    front: behind another it gets no animation frames, and acts on it would take seconds."""
    if page.record.shares_window and action.effect is Effect.ACTS and action.needs_open_page:
        await page.playwright.bring_to_front()
    await check_act(page, action)
    await guard_check.check_guard(page.call, action, page)
    return await handler(page, action)


async def _translate_errors(
    page: BrowserPage, run: CallRun, work: Awaitable[Json], observation: Observation | None
) -> Json:
    try:
        return await _run_in_time(page, run, work, observation)
    except PlaywrightError as error:
        if await _closed_its_page(page, run.action, error, acts=observation is not None):
            return {}
        if page.navigating_to and errors.is_timeout(error) and not run.action.navigates:
            if page.outlasted_by_navigation(error):
                return {}
            raise under_way(run.action, page.record.url, page.navigating_to) from error
        if errors.is_timeout(error):
            page.current.doubt()
        if run.was_suspended and errors.is_timeout(error):
            return await _outcome_after_dialog(run, error, page)
        if observation is not None and errors.shows_error_page(error):
            await observation.wait_for_error_page()
        explained = await _explain(error, run.action, page)
        if observation is not None:
            if isinstance(explained, UnknownOutcome) and page.observer is not None:
                observation.notes += await page.observer.seen_elsewhere(observation)
            await _add_observed(explained, error, page, run.action, observation)
        raise explained from error


async def _closed_its_page(page: BrowserPage, action: Action, error: PlaywrightError, *, acts: bool) -> bool:
    """Say whether an act was done by which its page closed itself. Raises for a page that ended otherwise."""
    if page.current.gone and not page.record.life.over and acts and errors.began(error):
        return True
    if page.current.gone:
        raise page.record.closed_error(f" while {action.name()} ran") from error
    if await page.current.died(error):
        raise interrupted(page.record, page.current.cause(), action, error) from error
    return False


async def _add_observed(
    explained: BrowseError, error: PlaywrightError, page: BrowserPage, action: Action, observation: Observation
) -> None:
    """Add to an error what was observed of the act that ended in it."""
    if isinstance(explained, UnknownOutcome) and observation.lines():
        explained.message += f" Observed: {'; '.join(observation.lines())}."
    if errors.is_download(error):
        await observation.wait_for_downloads(least=1)
        lines = [each.report() for each in observation.downloads]
        explained.advice = f"The page stays where it was; {'; '.join(lines)}." if lines else explained.advice
        context = explained.details.get("context")
        files: list[JsonValue] = [each.state.shown() for each in observation.downloads]
        explained.details["context"] = {**(context if isinstance(context, dict) else {}), "downloads": files}
    if isinstance(explained, NavigationFailed):
        _add_delay(explained, observation)
    if action.navigates and errors.is_timeout(error) and observation.is_in_transit:
        await page.current.interrupt()  # or the page would move after this reply
        explained.advice = (
            "Loading was stopped; the page stays where it was. Give it longer with `timeout` (ms), or less to wait "
            'for: "waitUntil": "domcontentloaded".'
        )


def _add_delay(explained: NavigationFailed, observation: Observation) -> None:
    """Add what kept a navigation from its end that no error of the network ended."""
    context = explained.details.get("context")
    if isinstance(context, dict) and "networkError" not in context and (delay := observation.describe_delay()):
        context["networkError"] = delay


async def _explain(error: PlaywrightError, action: Action, page: BrowserPage) -> BrowseError:
    canonical = action.canonical()
    try:
        async with asyncio.timeout(_EXPLAIN_S):
            explained = await explanation.explain(error, page, canonical)
    except TimeoutError:
        explained = errors.translate(error, canonical, url=page.record.url)
    if canonical is not action:
        explained.details.pop("selector", None)  # of this one, which is told without its being known here
    return explained


async def _outcome_after_dialog(run: CallRun, error: PlaywrightError, page: BrowserPage) -> Json:
    """Wait for a dialog's answer on behalf of a call that Playwright's own timeout, which knows no dialogs, ended."""
    name, allowed = run.action.name(), run.action.allowed_ms()
    try:
        await run.wait_for_dialog()
        while not await page.current.responds() and run.suspended:  # its script asked again
            await run.wait_for_dialog()
    except TimeoutError:
        raise run.cancelled_error() from None
    if errors.began(error):
        return {"observed": f"{name} was begun, and its end not seen: its {allowed} ms ended before the dialog"}
    explained = await _explain(error, run.action, page)
    if explained.nothing_happened or not run.action.acts_on_element:
        raise explained from error
    raise UnknownOutcome(f"{name} may be done in part: its {allowed} ms ended while a dialog was open.") from error


async def _run_in_time(page: BrowserPage, run: CallRun, work: Awaitable[Json], observation: Observation | None) -> Json:
    """Bound the work. Playwright's own timeout comes first; this one is for the calls that have none."""
    try:
        async with run.cancel.within(run.action.allowed_ms() / 1000 + _GRACE_S):
            return await work
    except TimeoutError:
        pending_url = page.observer.navigating_to if page.observer else ""
        page.current.doubt(doubted=not pending_url)
        if run.cancel.requested:
            raise run.cancelled_error() from None
        if observation is not None and observation.pending_url and run.action.reads_back:
            observation.timed_out = True
            return {"observed": f"{run.action.name()} was done; what it left on the page could not be read back"}
        if observation is not None and observation.pending_url and not run.action.navigates:
            raise UnknownOutcome(
                f"{run.action.name()} was under way when the page began to go to {pending_url}, whose server has not "
                "answered yet.",
                hint=f"See where it arrives: {next_call('snapshot', timeout=30000)}. Then decide whether to repeat it.",
            ) from None
        if pending_url and not run.action.navigates:
            raise under_way(run.action, page.record.url, pending_url) from None
        await page.current.interrupt()
        raise TimedOut(
            f"{run.action.name()} did not end within {run.action.allowed_ms()} ms.",
            hint=f"Give it longer with `timeout` (ms), or look what the page shows: {next_call('snapshot')}.",
            details={"url": page.record.url, "context": {"timeout": run.action.allowed_ms()}},
        ) from None


async def _settle(page: BrowserPage, run: CallRun, observation: Observation) -> None:
    try:
        async with run.cancel.within():
            if page.observer is not None:
                await page.observer.settle(observation)
    except TimeoutError:
        raise run.cancelled_error() from None
    if page.current.gone:
        observation.notes.append(f"the page closed. {page.record.opener_hint}".rstrip(" ."))


async def _with_observed_effects(
    page: BrowserPage, error: WithoutEffect, run: CallRun, observation: Observation | None
) -> WithoutEffect:
    """Add to the error what else the act was seen to do: it was done, though not to what it was meant for."""
    if observation is None:
        return error
    await _settle(page, run, observation)
    effects = "; ".join(observation.lines())
    message = f"{error.message} Observed: {effects}." if effects else error.message
    return WithoutEffect(message, hint=error.advice, details=error.details)


async def _save_logins(page: BrowserPage, observation: Observation | None, ending: LoginEnding) -> None:
    """Save the logins, where there may be others now."""
    if observation is not None and (observation.writes or observation.visited_urls):
        await page.session.logins.save_cookies()
        ending.note(observation)


async def _refresh(page: BrowserPage, observation: Observation | None, began_at: float) -> None:
    """Ask for the title: at once where the document changed and was not looked at since, else behind the reply."""
    if observation is not None and observation.visited_urls and not page.looked_since(began_at):
        await page.titles.read()
    elif page.current.live:
        page.titles.read_soon()
