"""What the failures of an act mean: its time is over, or Playwright says why."""

import asyncio
from typing import Final

from playwright.async_api import Error as PlaywrightError
from pydantic import JsonValue

from browse_together.contract.actions.base import Action
from browse_together.contract.actions.traits import Reports
from browse_together.contract.errors import BrowseError, NavigationFailed, TimedOut, UnknownOutcome
from browse_together.contract.model import object_at
from browse_together.contract.next_calls import next_call
from browser_service.host import errors
from browser_service.host.handle.page import BrowserPage
from browser_service.host.stages import explanation
from browser_service.host.stages.act import Act
from browser_service.host.tabs.observation import Observation

GRACE_S: Final = 1.0
_EXPLAIN_S: Final = 2.0


async def of_time(act: Act, error: Exception) -> Exception | None:
    """Tell of the end of an act's time, and its reason: it was cancelled, the page goes elsewhere, or nothing
    answers."""
    page, action = act.page, act.action
    if isinstance(error, TimeoutError):
        return await _out_of_time(act)
    if not isinstance(error, PlaywrightError) or not errors.is_timeout(error):
        return error
    if page.observer.navigating_to and not action.navigates:
        return None if page.observer.outlasted_by_navigation(error) else _under_way(act, page.observer.navigating_to)
    page.tab_life.doubt()
    return error


async def _out_of_time(act: Act) -> BrowseError | None:
    page, run, action, observation = act.page, act.run, act.action, act.observation
    pending_url = page.observer.navigating_to
    page.tab_life.doubt(doubted=not pending_url)
    if run.cancel.requested:
        return run.cancelled_error()
    if observation.pending_url and action.reports >= Reports.READ_BACK:
        observation.outlasted = True
        left = f"{action.name()} was done; what it left on the page could not be read back"
        act.result = {"observed": left}
        return None
    if observation.pending_url and not action.navigates:
        return UnknownOutcome(
            f"{action.name()} was under way when the page began to go to {pending_url}, whose server has not "
            "answered yet.",
            hint=f"See where it arrives: {next_call('snapshot', timeout=30000)}. Then decide whether to repeat it.",
        )
    if pending_url and not action.navigates:
        return _under_way(act, pending_url)
    await page.tab_life.interrupt()
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
    if act.observed and errors.shows_error_page(error):
        await observation.wait_for_error_page()
    explained = await explain(error, act.action, page)
    if act.sends.any:
        object_at(explained.details, "context").pop("notBegun", None)
    if act.observed:
        if isinstance(explained, UnknownOutcome):
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
        await act.page.tab_life.interrupt()  # or the page would move after this reply
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
