"""What an act did: the effects that were observed, what changed on the page, and the text of its reply."""

import time
from typing import Final

from playwright.async_api import Error as PlaywrightError

from browse_together.contract.actions.base import Action
from browse_together.contract.actions.traits import Input
from browse_together.contract.background import AtMost
from browse_together.contract.errors import UnknownOutcome, WithoutEffect
from browse_together.contract.model import Json
from browse_together.contract.next_calls import next_call
from browse_together.contract.wire import CHANGED
from browser_service.host.pages.handle import BrowserPage
from browser_service.host.reading import compact
from browser_service.host.stages import delta
from browser_service.host.stages.act import Act, Stage
from browser_service.host.tabs.observation import Observation

_LOOK_MS: Final = 5_000
_RESTYLED: Final = "done; the document changed, in what a snapshot does not show (a style, a class, an attribute)"
_NOT_AWAITED: Final = "done; what came of it was not waited for (noWaitAfter)"
_TOLD_AT_THE_END: Final = "done; the last step tells what came of it"
_NOT_COMPARED: Final = "whether the page changed is not known"
_TRIED: Final = "it could be done; nothing was done (trial)"


class Observed(Stage):
    """The record of an act's effects, once the page shows them. The act counts in the page's revision."""

    async def before(self) -> None:
        page, record = self.page, self.page.record
        self.act.observation = page.effects.observe(self.action, page.looks.name_of(self.action.aim.selector or ""))
        page.looks.state_after_act = None
        record.last_act = (self.run.call.client_id, record.navigations)
        record.requests_before_act = page.settings.network.traffic.count
        if page.current.tab is not None:
            page.current.tab.acted_on = True

    async def after(self) -> None:
        observation, current = self.act.observation, self.page.current
        if observation is None:
            return
        if self.action.asked_reply.awaits:
            await self._settle(observation)
        if not current.live and not current.gone:
            raise self._unfinished()

    async def failed(self, error: Exception) -> Exception:
        """Add the observed effects to the error of an act that was done, but without the effect it was meant for."""
        observation = self.act.observation
        if not isinstance(error, WithoutEffect) or observation is None:
            return error
        await self._settle(observation)
        effects = "; ".join(observation.lines())
        message = f"{error.message} Observed: {effects}." if effects else error.message
        return WithoutEffect(message, hint=error.advice, details=error.details)

    async def end(self) -> None:
        page, observation = self.page, self.act.observation
        if observation is not None and page.observer is not None:
            page.observer.end(observation)
            self.run.requests = observation.requests()
            self.run.popups += observation.popups
            self.run.dialogs += observation.dialogs
            if self.run.cancel.requested:
                await page.current.interrupt()
        if self.act.changed:
            page.record.revision += 1

    async def _settle(self, observation: Observation) -> None:
        try:
            async with self.run.cancel.within():
                if self.page.observer is not None:
                    await self.page.observer.settle(observation)
        except TimeoutError:
            raise self.run.cancelled_error() from None
        if self.page.current.gone:
            observation.notes.append(f"the page closed. {self.page.record.opener_hint}".rstrip(" ."))

    def _unfinished(self) -> UnknownOutcome:
        page, cause = self.page.record, self.page.current.cause() or "the page ended"
        return UnknownOutcome(
            f"{self.action.name()} was done, and then {cause}: its effect was not seen.",
            hint=f"Look first ({next_call('snapshot', page_id=page.page_id)} reopens the page at {page.url}), then "
            "decide whether to repeat it.",
            details={"url": page.url, "context": {"lastUrl": page.url}},
        )


class Changes(Stage):
    """The looks at the page before and after an act, and the reply, which tells what was observed and what changed."""

    def __init__(self, act: Act) -> None:
        super().__init__(act)
        self._before = delta.PageBefore()

    async def before(self) -> None:
        if self.action.text_key == "observed":
            self._before = await delta.page_before(self.page, self.action)
        elif (view := self.page.looks.view) is not None:
            view.acted_since = True

    async def after(self) -> None:
        if self.act.observation is not None:
            self.act.result = await _reply(self.page, self.action, self.act.result, self.act.observation, self._before)


async def _reply(
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
    facts, fields = observation.facts(reads=True), page_delta.fields if page_delta else {}
    return {**result, "observed": "; ".join(filter(None, [*own, *lines])), **facts, **fields}


def _nothing_else(action: Action, observation: Observation, page_delta: delta.PageDelta | None) -> str:
    """Name the kinds of effect that we looked for and did not see, for an act that did nothing by itself."""
    if action.asked_reply.trial:
        return _TRIED
    if not action.asked_reply.awaits:
        return _NOT_AWAITED
    if page_delta and (page_delta.changed or page_delta.restyled):
        return CHANGED if page_delta.changed else _RESTYLED
    kinds = ["navigation", *([] if observation.has_other_requests else ["request"]), "popup", "dialog"]
    kinds += [page_delta.unchanged] if page_delta and page_delta.unchanged else []
    seconds = max(0.1, time.monotonic() - observation.began_at)
    nothing = f"within {seconds:.1f} s: no {', '.join(kinds[:-1])} or {kinds[-1]}"
    is_compared = page_delta is not None and bool(page_delta.unchanged)
    nothing = f"nothing observable {nothing}" if is_compared else f"done; {nothing}; {_NOT_COMPARED}"
    return "; ".join(filter(None, [nothing, observation.pending]))
