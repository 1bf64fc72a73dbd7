"""What the failures of an act mean: its time is over, its page ended, or Playwright says why."""

import asyncio
from typing import Final

from playwright.async_api import Error as PlaywrightError
from pydantic import JsonValue

from browse_together.contract.actions.base import Action
from browse_together.contract.actions.traits import Effect, Reports
from browse_together.contract.errors import BrowseError, BrowserCrashed, NavigationFailed, TimedOut, UnknownOutcome
from browse_together.contract.model import Json, object_at
from browse_together.contract.next_calls import next_call
from browser_service.host import errors
from browser_service.host.pages.handle import BrowserPage
from browser_service.host.sessions.memory import Memory
from browser_service.host.stages import explanation
from browser_service.host.stages.act import Act
from browser_service.host.tabs.observation import Observation
from browser_service.host.tabs.record import PageRecord

GRACE_S: Final = 1.0
_EXPLAIN_S: Final = 2.0


async def of_crash(act: Act, error: Exception) -> Exception | None:
    """Tell of the end of a page under an act, unless that is what the act was for."""
    current, record = act.page.current, act.page.record
    if not isinstance(error, PlaywrightError):
        return error
    if record.life.gone and not record.life.over and act.observed and errors.began(error):
        return None
    if record.life.gone:
        return record.closed_error(f" while {act.action.name()} ran")
    return _interrupted(act, error) if await current.died(error) else error


def _interrupted(act: Act, error: PlaywrightError) -> BrowseError:
    page, cause, name = act.page.record, act.page.current.cause() or "the page ended", act.action.name()
    details: Json = {"url": page.url, "context": {"lastUrl": page.url, "crashReason": str(error).splitlines()[0]}}
    if act.action.effect is Effect.READS or errors.not_begun(error):
        said = f"{cause[:1].upper()}{cause[1:]}; {name} did nothing."
        hint = f"{said} Repeat the call: the page is reopened at {page.url}."
        return BrowserCrashed("Browser instance crashed unexpectedly", hint=hint, details=details)
    return UnknownOutcome(
        f"{name} was under way when {cause}.",
        hint=f"It may or may not have happened: look first ({next_call('snapshot', page_id=page.page_id)} reopens "
        f"the page at {page.url}), then decide whether to repeat it.",
        details=details,
    )


def add_crash_context(error: BrowseError, page: PageRecord | None, memory: Memory) -> None:
    """Add to a crash's error which browser it was, where the page was, and how much memory was in use."""
    context = object_at(error.details, "context")
    if not isinstance(error, BrowserCrashed) and "crashReason" not in context:
        return
    known: Json = {}
    if page is not None and page.browser_id:
        known = {"browserId": page.browser_id, "lastUrl": page.url}
    if memory.used_mb:
        known["memoryUsage"] = _amount(memory.used_mb)
    error.details["context"] = {**known, **context}


def _amount(megabytes: int) -> str:
    return f"{megabytes / 1000:.1f}GB" if megabytes >= 1000 else f"{megabytes}MB"  # noqa: PLR2004 - of one unit to the other


async def of_time(act: Act, error: Exception) -> Exception | None:
    """Tell of the end of an act's time, and its reason: it was cancelled, the page goes elsewhere, or nothing
    answers."""
    page, action = act.page, act.action
    if isinstance(error, TimeoutError):
        return await _out_of_time(act)
    if not isinstance(error, PlaywrightError) or not errors.is_timeout(error):
        return error
    if page.effects.navigating_to and not action.navigates:
        return None if page.effects.outlasted_by_navigation(error) else _under_way(act, page.effects.navigating_to)
    page.current.doubt()
    return error


async def _out_of_time(act: Act) -> BrowseError | None:
    page, run, action, observation = act.page, act.run, act.action, act.observation
    pending_url = page.effects.navigating_to
    page.current.doubt(doubted=not pending_url)
    if run.cancel.requested:
        return run.cancelled_error()
    if observation is not None and observation.pending_url and action.reports >= Reports.READ_BACK:
        observation.timed_out = True
        left = f"{action.name()} was done; what it left on the page could not be read back"
        act.result = {"observed": left}
        return None
    if observation is not None and observation.pending_url and not action.navigates:
        return UnknownOutcome(
            f"{action.name()} was under way when the page began to go to {pending_url}, whose server has not "
            "answered yet.",
            hint=f"See where it arrives: {next_call('snapshot', timeout=30000)}. Then decide whether to repeat it.",
        )
    if pending_url and not action.navigates:
        return _under_way(act, pending_url)
    await page.current.interrupt()
    return TimedOut(
        f"{action.name()} did not end within {action.allowed_ms()} ms.",
        hint=f"Give it longer with `timeout` (ms), or look what the page shows: {next_call('snapshot')}.",
        details={"url": page.record.url, "context": {"timeout": action.allowed_ms()}},
    )


def _under_way(act: Act, pending_url: str) -> TimedOut:
    name, allowed, url = act.action.name(), act.action.allowed_ms(), act.page.record.url
    longer, elsewhere = next_call("snapshot", timeout=30000), next_call("goto", url="...")
    return TimedOut(
        f"{name} did not end within {allowed} ms: the page goes to {pending_url}, whose server has not answered "
        "yet. Until then it can neither be read nor acted on.",
        hint=f"Wait longer for it: {longer}. Or leave: {elsewhere}.",
        details={"url": url, "context": {"timeout": allowed, "navigatingTo": pending_url}},
    )


async def of_playwright(act: Act, error: Exception) -> Exception | None:
    """Translate an error that nothing nearer has explained."""
    page, observation = act.page, act.observation
    if not isinstance(error, PlaywrightError):
        return error
    if observation is not None and errors.shows_error_page(error):
        await observation.wait_for_error_page()
    explained = await explain(error, act.action, page)
    if observation is not None:
        if isinstance(explained, UnknownOutcome) and page.observer is not None:
            observation.notes += await page.observer.seen_elsewhere(observation)
        await _add_observed(act, explained, error, observation)
    return explained


async def _add_observed(act: Act, explained: BrowseError, error: PlaywrightError, observation: Observation) -> None:
    if isinstance(explained, UnknownOutcome) and observation.lines():
        explained.message += f" Observed: {'; '.join(observation.lines())}."
    if errors.is_download(error):
        await observation.wait_for_downloads(least=1)
        lines = [each.report() for each in observation.downloads]
        explained.advice = f"The page stays where it was; {'; '.join(lines)}." if lines else explained.advice
        files: list[JsonValue] = [each.state.shown() for each in observation.downloads]
        explained.details["context"] = {**object_at(explained.details, "context"), "downloads": files}
    if isinstance(explained, NavigationFailed):
        _add_delay(explained, observation)
    if act.action.navigates and errors.is_timeout(error) and observation.is_in_transit:
        await act.page.current.interrupt()  # or the page would move after this reply
        explained.advice = (
            "Loading was stopped; the page stays where it was. Give it longer with `timeout` (ms), or less to "
            'wait for: "waitUntil": "domcontentloaded".'
        )


def _add_delay(explained: NavigationFailed, observation: Observation) -> None:
    """Add what delayed a navigation that no network error ended."""
    context = explained.details.get("context")
    if isinstance(context, dict) and "networkError" not in context and (delay := observation.describe_delay()):
        context["networkError"] = delay


async def explain(error: PlaywrightError, action: Action, page: BrowserPage) -> BrowseError:
    """Translate an error, after a look at the page if that may tell more."""
    canonical = action.canonical()
    try:
        async with asyncio.timeout(_EXPLAIN_S):
            explained = await explanation.explain(error, page, canonical)
    except TimeoutError:
        explained = errors.translate(error, canonical, url=page.record.url)
    if canonical is not action:
        explained.details.pop("selector", None)  # the caller did not write this one
    return explained
