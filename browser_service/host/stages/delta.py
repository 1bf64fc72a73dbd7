"""Composes what an act's reply shows of the page: an outline of a document new to its client, else the changes."""

import time
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import urlsplit

from playwright.async_api import Error as PlaywrightError

from browse_together.contract.actions.base import Action
from browse_together.contract.actions.traits import Input, Reports
from browse_together.contract.background import AtMost
from browse_together.contract.model import Json
from browse_together.contract.next_calls import next_call, plain
from browse_together.contract.wire import DELTA_TEXT, OUTLINE_TEXT
from browser_service.host.elements.locators import leading_ref
from browser_service.host.handle.page import BrowserPage
from browser_service.host.reading import announcements, loading
from browser_service.host.reading.outline import outline
from browser_service.host.reading.snapshot import ClientView, State
from browser_service.host.reading.tree_text import joined
from browser_service.host.stages.comparison import LOOK_MS, Comparison, compare
from browser_service.host.tabs.observation import Observation

_LOOK_BEFORE_S: Final = 2.0
_SOON_S: Final = 0.25
"""A client that acts again sooner, as only programs can, leaves a page no time to change by itself."""
TURNS: Final = 2
_SHORT_OUTLINE: Final = 440
"""The most bytes of the outline of a document to which an act led."""
_LARGE_TREE: Final = 1_500
"""From this many elements on, a look takes longer than most acts, so the caller has to ask for the changes."""
_DOCUMENT: Final = "change of the document"
_TREE: Final = "change of what a snapshot shows"
_BY_ITSELF: Final = "since the last act, the page changed by itself:"
_EARLIER: Final = "since you last looked, and before this act:"
_BY_THIS: Final = "by this act:"


@dataclass(frozen=True)
class PageBefore:
    """A page when an act on it began; empty if the reply to the act shows no changes."""

    state: State | None = None
    changes: str = ""
    """Lines about what had changed since the client last looked; none of it is the act's effect."""

    @property
    def fields(self) -> Json:
        return {"changes": self.changes} if self.changes else {}

    @property
    def is_nobodys(self) -> bool:
        """True if no act of the client caused these changes."""
        return self.changes.startswith((_BY_ITSELF, _EARLIER))

    def shortened(self, page_id: str) -> "PageBefore":
        """Return it with a way to the changes instead of them."""
        heading = self.changes.partition("\n")[0]
        rest = plain(next_call("snapshot", page_id=page_id, since=True))
        return replace(self, changes=f"{heading} {rest}") if "\n" in self.changes else self


@dataclass(frozen=True)
class PageDelta:
    """What a reply shows of the page, and what is known if it shows nothing."""

    fields: Json
    changed: bool = False
    restyled: bool = False
    """True if the document changed in what no snapshot shows."""
    unchanged: str = ""
    """What was compared and has not changed."""

    @property
    def nothing(self) -> bool:
        """True if the look found no effect of the act."""
        return not (self.changed or self.restyled)


def shows_changes(page: BrowserPage, action: Action) -> bool:
    """Say if the reply to an act shows what changed."""
    delta = action.text_key == "observed" and action.asked_reply.amount == "delta" and not action.asked_reply.trial
    is_own = not leaves_to_later(page, action) and (outlines(page, action) or not action.navigates)
    return delta and is_own and not page.record.dialog and not page.observer.navigating_to


def leaves_to_later(page: BrowserPage, action: Action) -> bool:
    """Say if an act is a part of a call whose changes a later part shows."""
    return page.quiet and "reply" not in action.model_fields_set


def outlines(page: BrowserPage, action: Action) -> bool:
    """Say if the reply to an act outlines a document that is new to its client."""
    return (page.is_last and not page.call.continues) or "reply" in action.model_fields_set


async def page_before(page: BrowserPage, action: Action) -> PageBefore:
    """Look at the page before an act, so that a change by itself does not pass for the act's effect."""
    before, view = PageBefore(), page.looks.view
    late = bool(page.observer.late.earlier)
    compares = (late or action.reports < Reports.EVERYTHING) and not action.navigates and shows_changes(page, action)
    compares = compares and (late or view is None or time.monotonic() - view.looked_at > _SOON_S)
    if compares and page.record.live:
        async with AtMost(_LOOK_BEFORE_S, PlaywrightError):
            if late:
                await page.observer.late.wait_for_earlier()
            before = PageBefore(state := await page.looks.state())
            before = PageBefore(state, await _changes_by_itself(page, state))
            if late:
                page.observer.late.earlier.forget()
    if page.looks.view is not None:
        page.looks.view.acted_since = True
    return before


async def _changes_by_itself(page: BrowserPage, state: State) -> str:
    """Describe what changed by itself since the client last acted or looked; "" if its own acts may have done it."""
    view = page.looks.view
    if view is None or view.state is None or state.document != view.document:
        return ""
    cause = page.observer.cause_since(view.looked_at, page.call.client_id)
    if view.acted_since and not cause:
        return ""
    if state.is_like(view.state):
        return ""
    itself = _BY_ITSELF if page.record.last_act[0] == page.call.client_id else _EARLIER
    heading = f"from {cause}:" if cause else itself
    if len(view.tree) > _LARGE_TREE:
        return f"{heading} {_too_large(page)}"
    comparison = await compare(page, state)
    if comparison and not cause:
        comparison.leave_out_restless()
        comparison.note_restless()
    lines = comparison.lines(DELTA_TEXT // 2) if comparison else ""
    return f"{heading}\n{lines}" if lines else ""


async def page_delta(
    page: BrowserPage, action: Action, observation: Observation, before: PageBefore
) -> PageDelta | None:
    """Return what the reply to an act shows of the page; None if nobody looked."""
    if page.looks.view is not None:
        page.looks.view.acted_since = True  # the check of a ref may have looked when the act had not begun
        page.looks.view.note_given(action.given_texts if action.reports is Reports.EVERYTHING else ())
    if not shows_changes(page, action) or observation.error_pages or observation.pending_url:
        return None
    if action.reports is Reports.EVERYTHING and page.looks.view is not None and not observation.came_later:
        # the act's reply says what its field shows, in half the time of a look
        return PageDelta(before.fields) if before.changes else None
    async with AtMost(LOOK_MS / 1000, PlaywrightError):
        if observation.visited_urls and action.navigates:
            return PageDelta(await _outline(page, await page.looks.refresh_view(LOOK_MS), OUTLINE_TEXT))
        moves, last = page.observer.moves, page.looks.view
        state = _known_state(page, observation) or await page.looks.state(TURNS)
        if outlines(page, action) or (last is not None and last.document == state.document):
            return await _delta_of_act(page, action, observation, before, (state, moves))
    return None


async def _delta_of_act(
    page: BrowserPage, action: Action, observation: Observation, before: PageBefore, looked: tuple[State, int]
) -> PageDelta | None:
    """`looked` is the state after the act, and how often the page had moved before it was read."""
    last, (state, moves) = page.looks.view, looked
    previous = before.state or (last.state if last else None)
    same = previous is not None and state.is_like(previous)
    whole = last is not None and not last.frames and action.input is not Input.HOVER  # to which styles alone may react
    unchanged = _DOCUMENT if same and whole else ""
    if unchanged and last and last.state and state.is_like(last.state) and state.focus == last.state.focus:
        last.note_state(state)
        return PageDelta(before.fields, unchanged=unchanged)
    if last and len(last.tree) > _LARGE_TREE and not observation.visited_urls:
        if unchanged:
            return PageDelta(before.fields, unchanged=unchanged)
        return _announcements(page, state, previous) if whole else None
    earlier = bool(unchanged and previous and state.focus == previous.focus)
    comparison = await compare(page, state if page.observer.moves == moves else None)
    if comparison is not None and not same and comparison.is_wordless and await page.observer.late.motion():
        comparison = await compare(page, None)
    _note_came(page, observation, last, comparison)
    if comparison is not None:
        late = page.observer.cause_since(observation.began_at, page.call.client_id)
        return _delta_of_comparison(action, comparison, before, unchanged, same=same, earlier=earlier, late=late)
    if page.looks.view is None:
        return None
    fields = await _outline(page, page.looks.view, _SHORT_OUTLINE if last else OUTLINE_TEXT)
    return PageDelta(fields, changed=previous is not None and not same, unchanged=_DOCUMENT if same else "")


def _note_came(
    page: BrowserPage, observation: Observation, last: ClientView | None, comparison: Comparison | None
) -> None:
    """Note the words by which it is seen again that the act did what it should."""
    words = [*announcements.announced(comparison.news.told)] if comparison else []
    view, origin = page.looks.view, urlsplit(page.url).netloc
    if not words and last and view and any(urlsplit(each.url).netloc == origin for each in observation.writes):
        words = announcements.outcome(comparison.previous.tree if comparison else last.tree, view.tree)
    page.came.extend(map(page.filled_fields.given.left_out_of, words))


def _known_state(page: BrowserPage, observation: Observation) -> State | None:
    """Return the state that the act's own script read, if nothing that came since may have changed the page."""
    if page.looks.state_after_act is None or observation.came_later or observation.visited_urls or observation.dialogs:
        return None
    state, moves = page.looks.state_after_act
    return state if moves == page.observer.moves else None


def _delta_of_comparison(
    action: Action, comparison: Comparison, before: PageBefore, unchanged: str, *, same: bool, earlier: bool, late: str
) -> PageDelta:
    if action.reports and comparison.is_field_value():
        return PageDelta(before.fields, changed=True)  # the reply has it already
    refs = frozenset(action.aim.selectors if action.given_texts else ())
    left_out = comparison.leave_out_restless()
    left_out = comparison.leave_out([*comparison.view.given, *action.given_texts], refs) or left_out
    comparison.view.given.clear()
    room = DELTA_TEXT - len(before.changes.encode())
    if comparison.opens_window or (before.is_nobodys and not comparison.fits(room)):
        before = before.shortened(comparison.page_id)
        room = DELTA_TEXT - len(before.changes.encode())
    lines = comparison.lines(room, leading_ref(action.aim.selector or ""))
    if not lines and comparison.news.differs and not left_out:
        return PageDelta(before.fields, changed=True)
    if not lines:
        return PageDelta(before.fields, restyled=not same and not left_out, unchanged=unchanged or _TREE)
    if earlier:
        return PageDelta({"changes": f"{_EARLIER}\n{lines}"}, unchanged=unchanged)
    heading = f"by this act, or from {late}:" if late else _BY_THIS if before.changes else ""
    all_changes = "\n".join(filter(None, [heading, lines, before.changes]))
    return PageDelta({"changes": all_changes}, changed=True)


def _announcements(page: BrowserPage, state: State, previous: State | None) -> PageDelta:
    """Return what a page announces that is too large to compare."""
    said, room = list[str](), DELTA_TEXT
    for line in state.news(previous) if previous else ():
        room -= len(line.encode()) + 1
        said += [line] if room >= 0 else []
    changes: Json = {"changes": "\n".join(said)} if said else {}
    return PageDelta({**changes, "advice": _too_large(page)}, changed=True)


def _too_large(page: BrowserPage) -> str:
    return f"too large a page to compare it unasked: {next_call('snapshot', page_id=page.page_id, since=True)}"


async def _outline(page: BrowserPage, view: ClientView, budget: int) -> Json:
    note = loading.describe(view, page.pending())
    text, nodes = outline(view.tree, budget - len(note))
    view.add_refs(nodes)
    beyond = joined(view.state.beyond.advice(page.url) if view.state else {}, await page.looks.closed())
    lines, again = "\n".join(filter(None, [text, note])), loading.again(page.page_id)
    is_bare = not (lines or beyond or page.url == "about:blank")
    advice = again if note else f"{loading.EMPTY}{again}" if is_bare else ""
    return {**({"outline": lines} if lines else {}), **joined({"advice": advice} if advice else {}, beyond)}
