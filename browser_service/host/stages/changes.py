"""What an act did: the effects that were observed, what changed on the page, and the text of its reply."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from playwright.async_api import Error as PlaywrightError

from browse_together.contract.actions.base import Action
from browse_together.contract.actions.traits import Input
from browse_together.contract.background import AtMost
from browse_together.contract.cuts import cut
from browse_together.contract.errors import WithoutEffect
from browse_together.contract.model import Json
from browse_together.contract.wire import CHANGED
from browser_service.host.handle.page import BrowserPage
from browser_service.host.reading import compact
from browser_service.host.stages import delta, explanation
from browser_service.host.stages.act import Act
from browser_service.host.stages.ends import check_seen
from browser_service.host.tabs.observation import AT_ONCE_S, Observation
from browser_service.security.urls import origin_of

_LOOK_MS: Final = 5_000
_RESTYLED: Final = "done; the document changed, in what a snapshot does not show (a style, a class, an attribute)"
_NOT_AWAITED: Final = "done; what came of it was not waited for (noWaitAfter)"
_TOLD_AT_THE_END: Final = "done; the last step tells what came of it"
_NOT_COMPARED: Final = "whether the page changed is not known"
_NAMED: Final = 60
_TRIED: Final = "it could be done; nothing was done (trial)"


@asynccontextmanager
async def observed(act: Act) -> AsyncIterator[None]:
    """Record an act's effects within the block. The act counts in the page's revision."""
    page, record, run, observer = act.page, act.page.record, act.run, act.page.observer
    observation = act.observation = observer.begin(
        navigates=bool(act.action.navigates),
        idle=act.action.text_key != "observed",  # its reply reports something else, so late effects need no wait
        by=_named(act),
        client_id=run.call.client_id,
    )
    observation.asks_window = act.action.opens_links
    page.looks.state_after_act = None
    record.last_act = (run.call.client_id, record.navigations)
    record.requests_before_act = page.settings.network.traffic.count
    if record.tab is not None:
        record.tab.acted_on = True
    try:
        yield
    finally:
        observer.end(observation)
        run.requests = observation.requests()
        run.popups += observation.popups
        run.files += observation.files
        run.dialogs += observation.dialogs
        if observation.copied:
            await page.session.clipboards.keep(page.files, observation.copied, origin_of(record.url) or "")
        if run.cancel.requested:
            await page.tab_life.interrupt()
        if act.changed:
            record.revision += 1


def _named(act: Act) -> str:
    """Name an act by its action and its element, as its client saw it."""
    name, selector = act.action.name(), act.action.aim.selector or ""
    shown = act.page.looks.name_of(selector) or selector
    return f"{name} on {cut(shown, _NAMED)}" if selector else name


async def settled(act: Act) -> None:
    """Wait until the page shows the act's effects. Raises UnknownOutcome if it ended before."""
    if act.action.asked_reply.awaits:
        await _settle(act)
    check_seen(act)


async def _settle(act: Act) -> None:
    try:
        async with act.run.cancel.within():
            await act.page.observer.settle(act.observation)
    except TimeoutError:
        raise act.run.cancelled_error() from None


async def in_vain(act: Act, error: Exception) -> Exception | None:
    """Add the observed effects to the error of an act that was done, but without the effect it was meant for."""
    if not isinstance(error, WithoutEffect) or not act.observed:
        return error
    if (inert := await explanation.of_inert(act.page, act.action, error)) is not None:
        return inert
    await _settle(act)
    effects = "; ".join(act.observation.lines())
    message = f"{error.message} Observed: {effects}." if effects else error.message
    return WithoutEffect(message, hint=error.advice, details=error.details)


async def look_before(act: Act) -> delta.PageBefore:
    """Look at the page before an act whose reply tells what changed."""
    if act.action.text_key == "observed":
        return await delta.page_before(act.page, act.action)
    if (view := act.page.looks.view) is not None:
        view.acted_since = True
    return delta.PageBefore()


async def reply(
    page: BrowserPage, action: Action, result: Json, observation: Observation, before: delta.PageBefore
) -> Json:
    """Compose as much of an act's reply as its `reply` argument asks for."""
    amount = action.asked_reply.amount
    if action.text_key != "observed":
        snapshot = await _snapshot(page) if amount == "full" else {}
        return {**result, **observation.facts(), **snapshot}
    if amount == "none":
        return {}
    if amount == "full":
        return _with_observation(action, result, observation, None) | await _snapshot(page)
    page_delta = await delta.page_delta(page, action, observation, before)
    if delta.leaves_to_later(page, action) and not (result.get("observed") or observation.lines()):
        return {**result, "observed": _TOLD_AT_THE_END}
    looks = page_delta is not None and page_delta.nothing and action.input is not Input.HOVER
    if looks and not result.get("observed") and not observation.lines():
        observation.notes += await page.looks.seen_elsewhere(observation)
    return _with_observation(action, result, observation, page_delta)


async def _snapshot(page: BrowserPage) -> Json:
    async with AtMost(_LOOK_MS / 1000, PlaywrightError):
        view = await page.looks.refresh_view(_LOOK_MS)
        view.add_snapshot()
        return await page.files.shown("snapshot", compact.write(view.tree), None)
    return {"snapshot": "", "snapshotFailed": "The page could not be read after the act."}


def _with_observation(
    action: Action, result: Json, observation: Observation, page_delta: delta.PageDelta | None
) -> Json:
    own = [str(result["observed"])] if result.get("observed") else []
    lines = observation.lines(with_status="status" not in result)
    if not lines and not own:
        silence = "" if page_delta and page_delta.changed else observation.silence
        lines = [_nothing_else(action, observation, page_delta), silence]
    elif action.asked_reply.awaits:
        lines.append(observation.pending(AT_ONCE_S))
    facts, fields = observation.facts(reads=True), page_delta.fields if page_delta else {}
    return {**result, "observed": "; ".join(filter(None, [*own, *lines])), **facts, **fields}


def _nothing_else(action: Action, observation: Observation, page_delta: delta.PageDelta | None) -> str:
    """Name the kinds of effect that we looked for and did not see, for an act that did nothing by itself."""
    if action.asked_reply.trial:
        return _TRIED
    if not action.asked_reply.awaits:
        return _NOT_AWAITED
    if page_delta and (page_delta.changed or page_delta.restyled):
        pending = observation.pending(AT_ONCE_S)
        return pending or CHANGED if page_delta.changed else "; ".join(filter(None, [_RESTYLED, pending]))
    kinds = ["navigation", *([] if observation.has_other_requests else ["request"]), "popup", "dialog"]
    kinds += [page_delta.unchanged] if page_delta and page_delta.unchanged else []
    seconds = max(0.1, time.monotonic() - observation.began_at)
    nothing = f"within {seconds:.1f} s: no {', '.join(kinds[:-1])} or {kinds[-1]}"
    is_compared = page_delta is not None and bool(page_delta.unchanged)
    nothing = f"nothing observable {nothing}" if is_compared else f"done; {nothing}; {_NOT_COMPARED}"
    return "; ".join(filter(None, [nothing, observation.pending()]))
