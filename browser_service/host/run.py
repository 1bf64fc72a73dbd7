"""Runs one action on one page: races it against its deadline and its cancel, observes it, and translates its errors."""

import asyncio
from collections.abc import Awaitable

from playwright.async_api import Error as PlaywrightError
from pydantic import JsonValue

from browser_service.host import delta, errors
from browser_service.host.call_run import Handler, Running
from browser_service.host.elements import explanation
from browser_service.host.observation import Observation
from browser_service.host.page.entry import PageEntry
from browser_service.host.page.handle import BrowserPage
from browser_service.host.page.interruption import interrupted, unfinished
from browser_service.host.reply import told
from shared.actions.base import Action
from shared.actions.traits import Effect
from shared.errors import (
    BrowseError,
    BrowserCrashed,
    NavigationFailed,
    TimedOut,
    UnknownOutcome,
    WithoutEffect,
)
from shared.model import Json
from shared.next_calls import next_call

_GRACE_S = 1.0
_READY_WITHIN_S = 40
_EXPLAIN_S = 2.0


async def bring_up(entry: PageEntry, running: Running) -> None:
    """Have the page live, at the head of its queue."""
    action = next(iter(running.action.parts()), running.action)
    try:
        async with running.cancel.within(_READY_WITHIN_S):
            await entry.bring_up(
                running.call.client_id,
                navigates=action.navigates and action.asked_url is not None,
                replaces=action.replaces_page,
            )
    except PlaywrightError as error:
        raise BrowserCrashed(
            f"Page {entry.page_id!r} ended while it was brought up; {action.name()} did not happen.",
            details={"url": entry.record.url, "context": {"crashReason": str(error).splitlines()[0]}},
        ) from error
    except TimeoutError:
        running.check_not_cancelled()
        raise TimedOut(
            f"Page {entry.page_id!r} could not be brought up within {_READY_WITHIN_S} s; {action.name()} did not "
            "happen.",
            hint="The browser may be busy or hang: repeat the call, or see `browse-together logs`.",
        ) from None


async def perform_live(entry: PageEntry, running: Running, handler: Handler, page: BrowserPage) -> Json:
    """Bring the page up, and perform. What only reads is read once more where the page died under it."""
    await bring_up(entry, running)
    try:
        return await perform(entry, running, handler, page)
    except BrowserCrashed:
        if running.action.effect is not Effect.READS or running.action.parts():
            raise
    await bring_up(entry, running)
    return await perform(entry, running, handler, page)


async def perform(entry: PageEntry, running: Running, handler: Handler, page: BrowserPage) -> Json:
    """Run the handler; for an act, add what was observed."""
    running.check_not_cancelled()
    running.url_before = entry.record.url
    changed = True
    acts = running.action.effect is Effect.ACTS and running.action.opens and not running.action.parts()
    await _tell_what_was_taken_back(entry, running, acts=acts)
    before = await delta.before(page, running.action) if acts else delta.Before()
    observation = _begun(entry, running.action) if acts else None
    if acts:
        entry.acted(running.call.client_id)
    try:
        result = await _translated(entry, running, _in_front(page, running.action, handler), page, observation)
        if observation is None:
            return result
        if not running.action.unawaited:
            await _settled(entry, running, observation)
        if not entry.live and not entry.gone:
            raise unfinished(entry.record, entry.recovery.cause(), running.action)
        changed = not running.action.only_tried
        return await told(page, running.action, result, observation, before)
    except WithoutEffect as error:
        raise await _besides(entry, error, running, observation) from None
    except BrowseError as error:
        changed = changed and not error.nothing_happened
        raise
    finally:
        if observation is not None and entry.observer is not None:
            entry.observer.end(observation)
            running.requests = observation.requests()
        if running.cancel.requested and observation is not None:
            await entry.interrupt()
        if acts and changed:
            entry.record.revision += 1
            await _refresh(entry, observation)


def _begun(entry: PageEntry, action: Action) -> Observation | None:
    if entry.observer is None:
        return None
    return entry.observer.begin(navigates=action.navigates)


async def _tell_what_was_taken_back(entry: PageEntry, running: Running, *, acts: bool) -> None:
    """Tell the client what its earlier acts left in fields and the page has taken back since."""
    if entry.observer is None or entry.record.dialog:
        return
    for lost in await entry.fields_left.check(running.call.client_id, entry.observer.moves, acts=acts):
        entry.tell(running.call.client_id, lost)


async def _in_front(page: BrowserPage, action: Action, handler: Handler) -> Json:
    """Run the handler, with the page in front if it shares its window: behind another it gets no animation frames, and
    acts on it would take seconds."""
    if page.entry.shares_window and action.effect is Effect.ACTS and action.opens:
        await page.live.bring_to_front()
    return await handler(page, action)


async def _translated(
    entry: PageEntry, running: Running, work: Awaitable[Json], page: BrowserPage, observation: Observation | None
) -> Json:
    try:
        return await _race(entry, running, work, observation)
    except PlaywrightError as error:
        if await _closed_by(entry, running.action, error, acts=observation is not None):
            return {}
        if page.under_way and errors.is_timeout(error) and not running.action.navigates:
            if page.led_on(error):
                return {}
            raise _goes_elsewhere(running.action, entry.record.url, page.under_way) from error
        if errors.is_timeout(error):
            entry.doubt()
        if running.was_suspended and errors.is_timeout(error):
            return await _outlasted(running, error, page)
        if observation is not None and errors.shows_error_page(error):
            await observation.error_page()
        explained = await _explained(error, running.action, page)
        if observation is not None:
            await _add_observed(explained, error, entry, running.action, observation)
        raise explained from error


async def _closed_by(entry: PageEntry, action: Action, error: PlaywrightError, *, acts: bool) -> bool:
    """Say whether an act was done by which its page closed itself. Raises for a page that ended otherwise."""
    if entry.gone and not entry.record.life.over and acts and errors.began(error):
        return True
    if entry.gone:
        raise entry.record.closed_error(f" while {action.name()} ran") from error
    if await entry.recovery.died(error):
        raise interrupted(entry.record, entry.recovery.cause(), action, error) from error
    return False


async def _add_observed(
    explained: BrowseError, error: PlaywrightError, entry: PageEntry, action: Action, observation: Observation
) -> None:
    """Add to an error what was observed of the act that ended in it."""
    if isinstance(explained, UnknownOutcome) and observation.lines():
        explained.message += f" Observed: {'; '.join(observation.lines())}."
    if errors.is_download(error):
        await observation.downloaded(least=1)
        lines = [each.report() for each in observation.downloads]
        explained.advice = f"The page stays where it was; {'; '.join(lines)}." if lines else explained.advice
        context = explained.details.get("context")
        files: list[JsonValue] = [each.state.shown() for each in observation.downloads]
        explained.details["context"] = {**(context if isinstance(context, dict) else {}), "downloads": files}
    if isinstance(explained, NavigationFailed):
        _add_delay(explained, observation)
    if action.navigates and errors.is_timeout(error) and observation.goes_on:
        await entry.interrupt()  # or the page would move after this reply
        explained.advice = (
            "Loading was stopped; the page stays where it was. Give it longer with `timeout` (ms), or less to wait "
            'for: "waitUntil": "domcontentloaded".'
        )


def _add_delay(explained: NavigationFailed, observation: Observation) -> None:
    """Add what kept a navigation from its end that no error of the network ended."""
    context = explained.details.get("context")
    if isinstance(context, dict) and "networkError" not in context and (delay := observation.delay()):
        context["networkError"] = delay


def _goes_elsewhere(action: Action, url: str, going: str) -> TimedOut:
    return TimedOut(
        f"{action.name()} did not end within {action.allowed_ms()} ms: the page goes to {going}, whose server has not "
        "answered yet. Until then it can neither be read nor acted on.",
        hint=f"Wait longer for it: {next_call('snapshot', timeout=30000)}. Or leave: {next_call('goto', url='...')}.",
        details={"url": url, "context": {"timeout": action.allowed_ms(), "navigatingTo": going}},
    )


async def _explained(error: PlaywrightError, action: Action, page: BrowserPage) -> BrowseError:
    meant = action.meant()
    try:
        async with asyncio.timeout(_EXPLAIN_S):
            explained = await explanation.explain(error, page, meant)
    except TimeoutError:
        explained = errors.translate(error, meant, url=page.entry.record.url)
    if meant is not action:
        explained.details.pop("selector", None)  # of this one, which is told without its being known here
    return explained


async def _outlasted(running: Running, error: PlaywrightError, page: BrowserPage) -> Json:
    """Wait for a dialog's answer on behalf of a call that Playwright's own timeout, which knows no dialogs, ended."""
    name, allowed = running.action.name(), running.action.allowed_ms()
    try:
        await running.answered()
        while not await page.entry.responds() and running.suspended:  # its script asked again
            await running.answered()
    except TimeoutError:
        raise running.cancelled_error() from None
    if errors.began(error):
        return {"observed": f"{name} was begun, and its end not seen: its {allowed} ms ended before the dialog"}
    explained = await _explained(error, running.action, page)
    if explained.nothing_happened or not running.action.acts_on_element:
        raise explained from error
    raise UnknownOutcome(f"{name} may be done in part: its {allowed} ms ended while a dialog was open.") from error


async def _race(entry: PageEntry, running: Running, work: Awaitable[Json], observation: Observation | None) -> Json:
    """Bound the work. Playwright's own timeout comes first; this one is for the calls that have none."""
    try:
        async with running.cancel.within(running.action.allowed_ms() / 1000 + _GRACE_S):
            return await work
    except TimeoutError:
        going = entry.observer.under_way if entry.observer else ""
        entry.doubt(doubted=not going)
        if running.cancel.requested:
            raise running.cancelled_error() from None
        if observation is not None and observation.under_way and running.action.reads_back:
            observation.outlasted = True
            return {"observed": f"{running.action.name()} was done; what it left on the page could not be read back"}
        if observation is not None and observation.under_way and not running.action.navigates:
            raise UnknownOutcome(
                f"{running.action.name()} was under way when the page began to go to {going}, whose server has not "
                "answered yet.",
                hint=f"See where it arrives: {next_call('snapshot', timeout=30000)}. Then decide whether to repeat it.",
            ) from None
        if going and not running.action.navigates:
            raise _goes_elsewhere(running.action, entry.record.url, going) from None
        await entry.interrupt()
        raise TimedOut(
            f"{running.action.name()} did not end within {running.action.allowed_ms()} ms.",
            hint=f"Give it longer with `timeout` (ms), or look what the page shows: {next_call('snapshot')}.",
            details={"url": entry.record.url, "context": {"timeout": running.action.allowed_ms()}},
        ) from None


async def _settled(entry: PageEntry, running: Running, observation: Observation) -> None:
    try:
        async with running.cancel.within():
            if entry.observer is not None:
                await entry.observer.settle(observation)
    except TimeoutError:
        raise running.cancelled_error() from None
    if entry.gone:
        observation.noted.append(f"the page closed. {entry.record.opener_hint}".rstrip(" ."))


async def _besides(
    entry: PageEntry, error: WithoutEffect, running: Running, observation: Observation | None
) -> WithoutEffect:
    """Add to the error what else the act was seen to do: it was done, though not to what it was meant for."""
    if observation is None:
        return error
    await _settled(entry, running, observation)
    seen = "; ".join(observation.lines())
    message = f"{error.message} Observed: {seen}." if seen else error.message
    return WithoutEffect(message, hint=error.advice, details=error.details)


async def _refresh(entry: PageEntry, observation: Observation | None) -> None:
    """Save the logins, where there may be others now, and ask for the title: at once where the document changed, else
    behind the reply."""
    if observation is not None and (observation.sent or observation.navigated):
        await entry.session.logins.save_cookies()
    if observation is not None and observation.navigated:
        await entry.titles.read()
    elif entry.live:
        entry.titles.read_soon()
