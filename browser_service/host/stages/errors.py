"""Playwright's errors in our words, with what was observed of the act that failed."""

import asyncio
from typing import Final

from playwright.async_api import Error as PlaywrightError
from pydantic import JsonValue

from browser_service.host import errors
from browser_service.host.pages.handle import BrowserPage
from browser_service.host.stages import explanation
from browser_service.host.stages.act import Stage
from browser_service.host.tabs.observation import Observation
from shared.actions.base import Action
from shared.errors import BrowseError, NavigationFailed, UnknownOutcome

_EXPLAIN_S: Final = 2.0


class Errors(Stage):
    """The translation of errors that no inner stage has explained."""

    async def failed(self, error: Exception) -> Exception | None:
        page, observation = self.page, self.act.observation
        if not isinstance(error, PlaywrightError):
            return error
        if observation is not None and errors.shows_error_page(error):
            await observation.wait_for_error_page()
        explained = await explain(error, self.action, page)
        if observation is not None:
            if isinstance(explained, UnknownOutcome) and page.observer is not None:
                observation.notes += await page.observer.seen_elsewhere(observation)
            await self._add_observed(explained, error, observation)
        return explained

    async def _add_observed(self, explained: BrowseError, error: PlaywrightError, observation: Observation) -> None:
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
        if self.action.navigates and errors.is_timeout(error) and observation.is_in_transit:
            await self.page.current.interrupt()  # or the page would move after this reply
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
