"""The acts and reads of the record that a flow repeats, without looks, dead ends and what was taken back."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Final, cast

from browse_together.contract.actions.traits import Effect
from browse_together.contract.calls import ActivityRecord
from browse_together.contract.catalogue import ACTIONS
from browse_together.contract.errors import ValidationFailed, field_details
from browse_together.contract.flows import SELECTORS
from browse_together.contract.model import Json

_ALWAYS_READ: Final = frozenset({"content", "get_element"})
OPENING: Final = frozenset({"goto", "open_page"})
_MOST_CALLS: Final = 5_000
"""A thousand remembered batches may have fifty parts each."""


def repeated(records: Iterable[ActivityRecord]) -> "list[Done]":
    """Return what a flow repeats of records, oldest first. Raises ValidationFailed for too many."""
    done = [call for record in records for call in _calls_of(record)]
    if len(done) > _MOST_CALLS:
        raise ValidationFailed(
            f"That stretch has {len(done):,} calls, and a flow is made of at most {_MOST_CALLS:,}.",
            hint="Save a shorter one, by since or calls.",
            details=field_details("since"),
        )
    return _without_dead_ends(_without_looks(done))


@dataclass(eq=False)
class Done:
    """One act or read of the record."""

    action: str
    arguments: Json
    record: ActivityRecord
    last: bool = True
    """False for a step of a batch that others follow: what was observed is the last one's."""
    of_several: bool = False
    takes: Json | None = None
    """What the page's own tool that it called has to take."""

    @property
    def effect(self) -> Effect:
        return ACTIONS[self.action].effect

    @property
    def requests(self) -> list[Json]:
        return self.record.requests if self.last else []

    @property
    def moved(self) -> bool:
        return self.action in OPENING or bool(self.last and self.record.url_after)


def _calls_of(record: ActivityRecord) -> list[Done]:
    """Return the calls that were done of a record: of one that carries others, its parts up to the one that failed."""
    action, is_done = ACTIONS.get(record.action), record.outcome == "ok"
    tools = chain(record.page_tools or [], repeat({}))
    if action is None or not action.part_fields:
        takes = next(tools) if action and action.calls_page_tool else None
        return [Done(record.action, record.arguments, record, takes=takes)] if action and is_done else []
    parts = cast("list[Json]", record.arguments.get(action.part_fields[0]) or [])  # as the record has them
    known = [part for part in (parts if is_done else parts[: record.done or 0]) if part.get("action") in ACTIONS]
    return [
        Done(
            str(part["action"]),
            {name: value for name, value in part.items() if name != "action"},
            record,
            last=number == len(known),
            of_several=len(parts) > 1,
            takes=next(tools) if ACTIONS[str(part["action"])].calls_page_tool else None,
        )
        for number, part in enumerate(known, 1)
    ]


def _is_read(call: Done) -> bool:
    """Return whether a read was for its result, and not to find out where to act."""
    if call.action == "content":
        return bool(call.arguments.keys() & {"section", "query", "selector"})
    return call.action.startswith("extract_") or call.action in _ALWAYS_READ


def _without_looks(done: list[Done]) -> list[Done]:
    """Drop the reads that only looked around. What was searched for after the last act is a result."""
    acts = [number for number, call in enumerate(done) if call.effect is not Effect.READS]
    last = acts[-1] if acts else -1
    return [
        call
        for number, call in enumerate(done)
        if call.effect is not Effect.READS or _is_read(call) or (call.action == "find" and number > last)
    ]


def _without_dead_ends(done: list[Done]) -> list[Done]:
    """Drop what was taken back: a way that ended in going back, a page that was left at once for another, and what was
    put into a field before something else was."""
    kept: list[Done] = []
    for call in done:
        if call.action == "go_back":
            way = _way_back([each for each in kept if each.record.page_id == call.record.page_id])
            if way is not None:
                kept = [each for each in kept if each not in way]
                continue
        last = next((each for each in reversed(kept) if each.record.page_id == call.record.page_id), None)
        if last is not None and _replaces(call, last):
            kept.remove(last)
        kept.append(call)
    return kept


def _way_back(before: list[Done]) -> list[Done] | None:
    """Return what going back takes back: the last move, and all that came after it; None if it sent something."""
    moves = [number for number, call in enumerate(before) if call.moved]
    if len(moves) < 2:  # noqa: PLR2004 - the first one began the flow
        return None
    way = before[moves[-1] :]
    return None if any(call.requests or _is_read(call) for call in way) else way


def _replaces(call: Done, last: Done) -> bool:
    if call.action in OPENING and last.action in OPENING:
        return not last.requests
    if call.action != last.action or call.action not in {"fill", "select_option"}:
        return False
    return _elements(call) == _elements(last)


def _elements(call: Done) -> list[list[str]]:
    targets = call.record.targets or {}
    return [
        targets.get(text, [text]) for key, text in call.arguments.items() if key in SELECTORS and isinstance(text, str)
    ]
