"""Explains why an action on an element failed, by a look at the page."""

from typing import Final

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Locator, Page

from browser_service.host import errors
from browser_service.host.elements import causes, frames
from browser_service.host.elements.locators import DESCRIBE, find, in_page, is_xpath
from browser_service.host.page.handle import BrowserPage
from browser_service.host.reading.places import place
from browser_service.host.reading.tree import index_of
from shared.actions.base import Action
from shared.actions.traits import Effect
from shared.errors import BrowseError, ElementNotInteractable
from shared.model import Json
from shared.next_calls import next_call

_CANDIDATES: Final = 8
_LOOK_MS: Final = 1_500

_HAS_SHADOW: Final = "() => [...document.querySelectorAll('*')].some(e => e.shadowRoot)"


async def explain(error: PlaywrightError, at: BrowserPage, action: Action) -> BrowseError:
    """Explain why an action on an element failed, by a look at the page if the error itself does not say."""
    url = at.live.url
    if errors.is_timeout(error) and errors.began(error):
        return errors.translate(error, action, url=url)  # what the page shows by now may have come of it
    try:
        return await _looked_up(error, at, action) or errors.translate(error, action, url=url)
    except PlaywrightError as second:
        return errors.translate(second, action, url=url)


async def _looked_up(error: PlaywrightError, at: BrowserPage, action: Action) -> BrowseError | None:
    page, frame = at.live, action.requested_frame
    named = [each for each in (action.requested_selector, action.requested_target) if each is not None]
    if frame is not None and (wrong := await _wrong_frame(error, at, action, frame)):
        return wrong
    for selector in named if errors.is_ambiguous(error) or errors.is_timeout(error) else ():
        count = await find(page, selector, frame).count()
        if errors.is_ambiguous(error) and (count > 1 or selector is named[-1]):
            return await _ambiguous(at, find(page, selector, frame), selector)
        if errors.is_timeout(error) and not count:
            return await _not_found(page, action, selector)
    if named and errors.is_timeout(error) and action.effect is Effect.ACTS:
        return await _with_cause(error, page, action, find(page, named[0], frame))
    return None


async def _with_cause(error: PlaywrightError, page: Page, action: Action, found: Locator) -> BrowseError:
    """Explain by what the element shows: Playwright's log may have ended before it came to the point."""
    states = await in_page(found, causes.STATE, action.supports_trial)
    explained = errors.translate(error, action, url=page.url, shown=states[0]["words"] if states else "")
    if states and isinstance(explained, ElementNotInteractable):
        return causes.with_cause(explained, action.name(), action.requested_frame, states[0])
    return explained


async def _wrong_frame(error: PlaywrightError, at: BrowserPage, action: Action, frame: str) -> BrowseError | None:
    """Say what is wrong with the selector of the frame, if it is that."""
    page = at.live
    found = find(page, frame, None)
    if "<iframe> was expected" in str(error):
        return errors.no_frame(frame, url=page.url)
    if errors.is_timeout(error) and await found.count() == 0:
        return await _not_found(page, action, frame)
    if errors.is_ambiguous(error) and await found.count() > 1:
        return await _ambiguous(at, found, frame)
    return None


async def _ambiguous(at: BrowserPage, found: Locator, selector: str) -> BrowseError:
    """Name each candidate by its ref and place, which tell those of one name apart."""
    described = await in_page(found, DESCRIBE, _CANDIDATES)
    refs = await at.refs(found, _CANDIDATES, _LOOK_MS)
    nodes = at.seen.tree if at.seen else []
    candidates: list[Json] = []
    for number, (what, ref) in enumerate(zip(described, (each.own for each in refs), strict=False)):
        index = index_of(nodes, ref) if ref else None
        where = place(nodes, index) if index is not None else ""
        candidates.append(
            {"selector": ref or f"{selector} >> nth={number}", **what, **({"in": where} if where else {})}
        )
    return errors.ambiguous(selector, candidates, await found.count(), url=at.live.url)


async def _not_found(page: Page, action: Action, selector: str) -> BrowseError:
    hint = None
    if is_xpath(selector) and await page.evaluate(_HAS_SHADOW):
        hint = "XPath does not look into shadow DOM, which this page has: use CSS, text=, role= or a ref."
    elif len(page.frames) > 1 and not action.requested_frame:
        hint = (
            f"The page has frames: name one with `frame`, or take a ref from {next_call('snapshot')}, which "
            "reaches into all."
        )
        if where := await frames.matching(page, selector):
            hint = f"It is in {frames.describe(where)}: repeat it with {frames.argument(where)}."
    waited = action.requested_timeout or action.allowed_ms()
    return errors.not_found(selector, waited, url=page.url, hint=hint)
