"""Composes what an act's reply shows of the page: an outline of a document new to its client, else the changes."""

import asyncio
import json
import time
from dataclasses import dataclass
from typing import Final

from playwright.async_api import Error as PlaywrightError

from browser_service.host.elements.locators import scope_of
from browser_service.host.observation import Observation
from browser_service.host.page.handle import BrowserPage
from browser_service.host.reading import changes, loading
from browser_service.host.reading.outline import outline
from browser_service.host.reading.snapshot import ClientView, State
from shared.actions.base import Action
from shared.model import Json
from shared.next_calls import next_call

_GLANCE_MS: Final = 2_000
_BEFORE_S: Final = 2.0
_OUTLINE: Final = 1_900
_DELTA: Final = 440
"""Characters; with their heading line some 500 and 120 tokens."""
_SOON_S: Final = 0.25
"""Who acts again sooner, as programs do and models cannot, leaves a page no time to change by itself."""
_TURNS: Final = 2
_BETWEEN: Final = 220
_TITLE_CHARACTERS: Final = 100
_MANY: Final = 1_500
"""Elements from which on a look takes longer than most acts: what changed is then for the caller to ask."""
_DOCUMENT: Final = "change of the document"
_TREE: Final = "change of what a snapshot shows"
_ASK: Final = f"too large a page to compare it unasked: {next_call('snapshot', since=True)}"
_BY_ITSELF: Final = "since the last act, the page changed by itself:"
_EARLIER: Final = "since you last looked, and before this act:"
_BY_THIS: Final = "by this act:"


@dataclass(frozen=True)
class Before:
    """A page when an act on it began. Empty where the reply to the act shows no changes."""

    state: State | None = None
    changes: str = ""
    """What had changed since the client last looked, in lines: nothing of it is the act's."""


@dataclass(frozen=True)
class Shown:
    """Holds what a reply shows of the page, and what is known where it shows nothing."""

    more: Json
    changed: bool = False
    restyled: bool = False
    """The document is otherwise, in what no snapshot shows."""
    same: str = ""
    """What was compared, and is as it was."""


@dataclass(frozen=True)
class _Comparison:
    """Compares a document with what its client was shown of it."""

    seen: ClientView
    before: ClientView
    """A copy of how it was."""
    found: list[changes.Change]

    @property
    def title(self) -> str:
        old, new = self.before.state, self.seen.state
        if old is None or new is None or old.title == new.title:
            return ""
        return f"~ title {json.dumps(new.title[:_TITLE_CHARACTERS], ensure_ascii=False)}"

    def only_field(self) -> bool:
        return not self.title and len(self.found) == 1 and self.found[0].field_details

    def lines(self, limit: int, acted_on: str | None = None) -> str:
        """Word the changes, and remember that the client was shown them."""
        said = changes.report(self.found, self.seen.tree, limit, acted_on)
        self.seen.give(said.shown)
        if self.before.given is self.before.tree and not said.left:
            self.seen.given = self.seen.tree
        more = f"{said.left} more changes: {next_call('snapshot', since=True)}" if said.left else ""
        return "\n".join(filter(None, [self.title, said.text, more]))


def wanted(page: BrowserPage, action: Action) -> bool:
    """Tell whether the reply to an act shows what changed."""
    delta = action.text_key == "observed" and action.reply_amount == "delta"
    unasked = page.quiet and "reply" not in action.model_fields_set
    speaks = not page.record.dialog and not page.under_way
    return delta and not unasked and not action.is_trial and speaks


async def before(page: BrowserPage, action: Action) -> Before:
    """Look at the page before an act, so that what changed by itself is not taken for the act's effect."""
    began = Before()
    told = not (action.reports_everything or action.navigates) and wanted(page, action)
    if page.current.live and told and (page.seen is None or time.monotonic() - page.seen.at > _SOON_S):
        try:
            async with asyncio.timeout(_BEFORE_S):
                began = Before(state := await page.state())
                began = Before(state, await _meanwhile(page, state))
        except (TimeoutError, PlaywrightError):
            pass
    if page.seen is not None:
        page.seen.acted = True
    return began


async def _meanwhile(page: BrowserPage, state: State) -> str:
    """Describe what changed by itself since the client last acted or looked; "" where its own acts may have done it."""
    seen = page.seen
    if seen is None or seen.acted or seen.state is None or state.document != seen.document:
        return ""
    if state.is_like(seen.state):
        return ""
    heading = _BY_ITSELF if page.record.last_act[0] == page.call.client_id else _EARLIER
    if len(seen.tree) > _MANY:
        return f"{heading} {_ASK}"
    compared = await _compared(page, state)
    said = compared.lines(_BETWEEN) if compared else ""
    return f"{heading}\n{said}" if said else ""


async def after(page: BrowserPage, action: Action, observation: Observation, began: Before) -> Shown | None:
    """None where nobody looked."""
    if not wanted(page, action) or observation.error_pages or observation.under_way:
        return None
    if action.reports_everything and page.seen is not None and not observation.caused:
        return None  # it tells by itself what its field shows, in half the time of a look
    try:
        async with asyncio.timeout(_GLANCE_MS / 1000):
            if observation.navigated and action.navigates:
                return Shown(_outlined(page, await page.look(_GLANCE_MS), _OUTLINE))
            return await _otherwise(page, action, observation, began)
    except (TimeoutError, PlaywrightError):
        return None


async def _otherwise(page: BrowserPage, action: Action, observation: Observation, began: Before) -> Shown | None:
    last, moves = page.seen, page.moves
    state = await page.state(_TURNS)
    was = began.state or (last.state if last else None)
    same = was is not None and state.is_like(was)
    whole = last is not None and not last.frames and not action.shows_styles  # which styles may answer
    known = _DOCUMENT if same and whole else ""
    earlier: Json = {"changes": began.changes} if began.changes else {}
    if known and last and last.state and state.is_like(last.state) and state.focus == last.state.focus:
        last.is_now(state)
        return Shown(earlier, same=known)
    if last and len(last.tree) > _MANY and not observation.navigated:
        asks = Shown({"changes": _ASK}, changed=True) if whole else None
        return Shown(earlier, same=known) if known else asks
    compared = await _compared(page, state if page.moves == moves else None)
    if compared is None and page.seen is not None:
        more = _outlined(page, page.seen, _DELTA if last else _OUTLINE)
        return Shown(more, changed=was is not None and not same, same=_DOCUMENT if same else "")
    return _changed(action, compared, began, known, same=same) if compared else None


def _changed(action: Action, compared: _Comparison, began: Before, known: str, *, same: bool) -> Shown:
    earlier: Json = {"changes": began.changes} if began.changes else {}
    if action.reports_value and compared.only_field():
        return Shown(earlier, changed=True)  # the reply has it already
    said = compared.lines(_DELTA, scope_of(action.requested_selector or ""))
    if not said:
        return Shown(earlier, restyled=not same, same=known or _TREE)
    if known:
        return Shown({"changes": f"{_EARLIER}\n{said}"}, same=known)
    return Shown({"changes": f"{began.changes}\n{_BY_THIS}\n{said}" if earlier else said}, changed=True)


async def _compared(page: BrowserPage, known: State | None) -> _Comparison | None:
    """Look at the page; None where this client has not seen the document before."""
    last = page.seen
    was = ClientView(last.document, tree=last.tree, given=last.given, state=last.state) if last else None
    seen = await page.look(_GLANCE_MS, known=known)
    return _Comparison(seen, was, changes.changes(was.tree, seen.tree)) if was and seen is last else None


def _outlined(page: BrowserPage, seen: ClientView, budget: int) -> Json:
    note = loading.note(seen, page.pending())
    text, shown = outline(seen.tree, budget - len(note))
    seen.give(shown)
    said = "\n".join(filter(None, [text, note]))
    return {"outline": said} if said else {}
