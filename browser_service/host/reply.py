"""Composes an act's reply: what was observed, and what it shows of the page."""

import asyncio
from typing import Final

from playwright.async_api import Error as PlaywrightError

from browser_service.host import delta
from browser_service.host.observation import Observation
from browser_service.host.page.handle import BrowserPage
from browser_service.host.reading import compact
from shared.actions.base import Action
from shared.model import Json

_LOOK_MS: Final = 5_000
_CHANGED: Final = "done; the page changed"
_RESTYLED: Final = "done; the document changed, in what a snapshot does not show (a style, a class, an attribute)"
_NOT_AWAITED: Final = "done; what came of it was not waited for (noWaitAfter)"
_TRIED: Final = "it could be done; nothing was done (trial)"


async def told(page: BrowserPage, action: Action, result: Json, observation: Observation, before: delta.Before) -> Json:
    """Compose as much of an act's reply as its `reply` argument asks for."""
    amount = action.reply_amount
    if action.text_key != "observed":
        more = await _whole(page) if amount == "full" else {}
        return {**result, **observation.facts(), **more}
    if amount == "none":
        return {}
    if amount == "full":
        return _with_observation(action, result, observation, None) | await _whole(page)
    return _with_observation(action, result, observation, await delta.after(page, action, observation, before))


async def _whole(page: BrowserPage) -> Json:
    try:
        async with asyncio.timeout(_LOOK_MS / 1000):
            seen = await page.look(_LOOK_MS)
            seen.give_all()
            return await page.shown("snapshot", compact.write(seen.tree), None)
    except (TimeoutError, PlaywrightError):
        return {"snapshot": "", "snapshotFailed": "The page could not be read after the act."}


def _with_observation(action: Action, result: Json, observation: Observation, shown: delta.Shown | None) -> Json:
    said = [str(result["observed"])] if result.get("observed") else []
    lines = observation.lines(with_status="status" not in result)
    if not lines and not said:
        lines = [_nothing_else(action, observation, shown), "" if shown and shown.changed else observation.silence]
    facts = observation.facts(reads=True)
    return {**result, "observed": "; ".join(filter(None, [*said, *lines])), **facts, **(shown.more if shown else {})}


def _nothing_else(action: Action, observation: Observation, shown: delta.Shown | None) -> str:
    """Name the kinds of effect that were looked for and not seen, for an act that did nothing by itself."""
    if action.is_trial:
        return _TRIED
    if action.skips_wait:
        return _NOT_AWAITED
    if shown and (shown.changed or shown.restyled):
        return _CHANGED if shown.changed else _RESTYLED
    kinds = ["navigation", *([] if observation.others else ["request"]), "popup", "dialog"]
    kinds += [shown.same] if shown and shown.same else []
    return f"nothing observable: no {', '.join(kinds[:-1])} or {kinds[-1]}"
