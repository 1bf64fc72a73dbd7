"""What an act's reply says: what was observed, what the page shows otherwise now, or an outline of a new one."""

import asyncio
import contextlib
from typing import Final

from playwright.async_api import Error as PlaywrightError

from browser_service.browser.elements.locating import scope_of
from browser_service.browser.observing import Observation
from browser_service.browser.page import BrowserPage
from browser_service.browser.reading import changes, compact
from browser_service.browser.reading.outline import outline
from browser_service.browser.reading.snapshot import Seen
from shared.actions.base import Action, NavigationAction
from shared.actions.interaction import Check, Fill, Hover, SelectOption, Type, Uncheck
from shared.calls import Json

_LOOK_MS: Final = 5_000
_GLANCE_MS: Final = 2_000
_DRAWN_WITHIN_S: Final = 0.1
_OUTLINE: Final = 1_900
_DELTA: Final = 440
"""Characters; with their heading line some 500 and 120 tokens."""
_MANY: Final = 1_500
"""Elements from which on a look takes longer than most acts: what changed is then for the caller to ask."""
_READ_BACK: Final = (Check, Uncheck, SelectOption, Type)
_NOTHING: Final = "nothing observable: no navigation, request, popup or dialog"
_NO_CHANGE: Final = "nothing observable: no navigation, request, popup, dialog or change of the page"
_CHANGED: Final = "done; the page changed"
_ASK: Final = 'too large a page to compare it unasked: snapshot {"since": true}'
_NOT_AWAITED: Final = "done; what came of it was not waited for (noWaitAfter)"
_TRIED: Final = "it could be done; nothing was done (trial)"


async def told(page: BrowserPage, action: Action, result: Json, observation: Observation) -> Json:
    """As much of an act as its `reply` asks for."""
    amount = getattr(action, "reply", "delta")
    if action.shown != "observed":
        more = await _whole(page) if amount == "full" else {}
        return {**result, **observation.facts(), **more}
    if amount == "none":
        return {}
    if amount == "full":
        return _with_observation(action, result, observation, None) | await _whole(page)
    return _with_observation(action, result, observation, await _changed(page, action, observation))


async def _whole(page: BrowserPage) -> Json:
    try:
        async with asyncio.timeout(_LOOK_MS / 1000):
            seen = await page.look(_LOOK_MS)
            seen.give_all()
            return await page.shown("snapshot", compact.write(seen.tree), None)
    except (TimeoutError, PlaywrightError):
        return {"snapshot": "", "snapshotFailed": "The page could not be read after the act."}


async def _changed(page: BrowserPage, action: Action, observation: Observation) -> Json | None:
    """An outline of another document; of the same, what is otherwise than when this client last looked; None where
    nobody looked."""
    if page.quiet and "reply" not in action.model_fields_set:
        return None
    if isinstance(action, Fill) or getattr(action, "trial", False) or page.entry.dialog or observation.error_pages:
        return None  # a fill tells by itself what its field shows, in half the time of a look
    try:
        async with asyncio.timeout(_GLANCE_MS / 1000):
            if observation.navigated and isinstance(action, NavigationAction):
                return _outlined(await page.look(_GLANCE_MS), _OUTLINE)
            if observation.navigated or page.seen is not None:
                return await _otherwise(page, page.seen, action, observation)
    except (TimeoutError, PlaywrightError):
        pass
    return None


async def _otherwise(page: BrowserPage, before: Seen | None, action: Action, observation: Observation) -> Json | None:
    if observation.sent:
        await _drawn(page)
    moves = page.moves
    state = await page.state()
    marked = before is not None and before.mark is not None and not isinstance(action, Hover)  # which styles may answer
    if marked and before and (state.document, state.mark) == (before.document, before.mark):
        return {}
    if before and len(before.tree) > _MANY and not observation.navigated:
        return {"changes": _ASK} if marked else None
    old, given = (before.tree, before.given) if before else ([], None)
    seen = await page.look(_GLANCE_MS, known=state if page.moves == moves else None)
    if seen is not before:
        return _outlined(seen, _DELTA)
    found = changes.changes(old, seen.tree)
    if isinstance(action, _READ_BACK) and len(found) == 1 and found[0].of_field:
        return {}  # the reply has it already
    told = changes.tell(found, seen.tree, _DELTA, scope_of(getattr(action, "selector", None) or ""))
    seen.give(told.shown)
    if given is old and not told.left:
        seen.given = seen.tree
    more = [f'{told.left} more changes: snapshot {{"since": true}}'] if told.left else []
    return {"changes": "\n".join(filter(None, [told.text, *more]))} if found else {}


def _outlined(seen: Seen, budget: int) -> Json:
    text, shown = outline(seen.tree, budget)
    seen.give(shown)
    return {"outline": text} if text else {}


async def _drawn(page: BrowserPage) -> None:
    """What a page makes of an answer is there with its next frame."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_DRAWN_WITHIN_S):
            await page.live.evaluate("() => new Promise(requestAnimationFrame)")


def _with_observation(action: Action, result: Json, observation: Observation, shown: Json | None) -> Json:
    said = [str(result["observed"])] if result.get("observed") else []
    lines = observation.lines(with_status="status" not in result)
    if not lines and not said:
        lines = [_nothing_else(action, shown), "" if shown else observation.silence]
    return {**result, "observed": "; ".join(filter(None, [*said, *lines])), **observation.facts(), **(shown or {})}


def _nothing_else(action: Action, shown: Json | None) -> str:
    if getattr(action, "trial", False):
        return _TRIED
    if getattr(action, "no_wait_after", False):
        return _NOT_AWAITED
    if shown is None:
        return _NOTHING
    return _CHANGED if shown else _NO_CHANGE
