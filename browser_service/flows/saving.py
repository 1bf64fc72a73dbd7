"""Makes the steps of a flow from the record: what was typed becomes a parameter, what was observed a check.

It is a little longer than 300 lines because all that is left out of a flow, and why, stands in one place.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain, count
from typing import Final, cast
from urllib.parse import urlsplit

from pydantic import JsonValue

from shared import flows
from shared.actions.traits import Effect, Scope
from shared.calls import ActivityRecord
from shared.catalogue import ACTIONS
from shared.errors import ValidationFailed, field_details
from shared.flows import MAIN, SELECTORS, Expected, Parameter, Request, Step
from shared.model import Json
from shared.next_calls import next_call
from shared.toolsets import category
from shared.wire import REF_PATTERN

_KEPT: Final = frozenset(
    {"navigation", "interaction", "pointer", "editing", "files", "combining", "waiting", "extraction", "reading"}
    | {"dialogs", "emulation", "pages", "states"}
)
"""Categories whose actions a flow can repeat from the record."""
_ALWAYS_READ: Final = frozenset({"content", "get_element"})
_REDACTED: Final = re.compile(r"\((?:[\d,]+ characters?|a value|\d+ entr(?:y|ies))\)|and \d+ more")
_HIDDEN: Final = "…"
_OPENING: Final = frozenset({"goto", "open_page"})
_VARYING: Final = re.compile(r"(?<=/)(?:\d+|[0-9a-fA-F-]{16,})(?=/|$)|…")
_DIGITS: Final = re.compile(r"\d[\d.,:/]*|…")
_NAME_IN: Final = re.compile(r'\[name="((?:[^"\\]|\\.)*)"\]$')
_CSS_NAME: Final = re.compile(r"[#\[](?:[\w-]+=\"?)?([\w-]+)\"?\]?$")
_LEAST_WORDS: Final = 3
REF_START: Final = REF_PATTERN.removesuffix("$") + r"(?![\w-])"
_MOST_REQUESTS: Final = 5
_FAILED: Final = 400


@dataclass
class Draft:
    """The steps made of a stretch of the record, their parameters, and what could not be kept."""

    parameters: dict[str, Parameter] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


def draft(records: Iterable[ActivityRecord]) -> Draft:
    """Make the steps of records, oldest first. Raises ValidationFailed if nothing of them can be repeated."""
    done = [call for record in records for call in _calls_of(record) if record.outcome == "ok"]
    done = _without_dead_ends(_without_looks(done))
    made = _Drafting()
    for call in done:
        made.add(call)
    if not made.draft.steps:
        raise ValidationFailed(
            "Nothing that was done in that stretch can be repeated by a flow.",
            hint=f"See what is recorded: {next_call('get_activity', client='me')}.",
        )
    if len(made.draft.steps) > flows.MOST_STEPS:
        raise ValidationFailed(
            f"That stretch has {len(made.draft.steps)} steps, and a flow has at most {flows.MOST_STEPS}.",
            hint="Save a shorter one, by since or calls.",
            details=field_details("since"),
        )
    return made.draft


@dataclass(eq=False)
class _Done:
    """One act or read of the record."""

    action: str
    arguments: Json
    record: ActivityRecord
    last: bool = True
    """False for a step of a batch that others follow: what was observed is the last one's."""

    @property
    def effect(self) -> Effect:
        return ACTIONS[self.action].effect

    @property
    def requests(self) -> list[Json]:
        return self.record.requests if self.last else []

    @property
    def moved(self) -> bool:
        return self.action in _OPENING or bool(self.last and self.record.url_after)


def _calls_of(record: ActivityRecord) -> list[_Done]:
    """Return the calls of a record: the parts of one that carries others."""
    action = ACTIONS.get(record.action)
    if action is None or not action.part_fields:
        return [_Done(record.action, record.arguments, record)] if action else []
    parts = cast("list[Json]", record.arguments.get(action.part_fields[0]) or [])  # as the record has them
    known = [part for part in parts if part.get("action") in ACTIONS]
    return [
        _Done(str(part["action"]), {k: v for k, v in part.items() if k != "action"}, record, last=number == len(known))
        for number, part in enumerate(known, 1)
    ]


def _is_read(call: _Done) -> bool:
    """Return whether a read was for its result, and not to find out where to act."""
    if call.action == "content":
        return bool(call.arguments.keys() & {"section", "query", "selector"})
    return call.action.startswith("extract_") or call.action in _ALWAYS_READ


def _without_looks(done: list[_Done]) -> list[_Done]:
    """Drop the reads that only looked around. What was searched for after the last act is a result."""
    acts = [number for number, call in enumerate(done) if call.effect is not Effect.READS]
    last = acts[-1] if acts else -1
    return [
        call
        for number, call in enumerate(done)
        if call.effect is not Effect.READS or _is_read(call) or (call.action == "find" and number > last)
    ]


def _without_dead_ends(done: list[_Done]) -> list[_Done]:
    """Drop what was taken back: a way that ended in going back or was undone, a page that was left at once for another,
    and what was put into a field before something else was."""
    kept: list[_Done] = []
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


def _way_back(before: list[_Done]) -> list[_Done] | None:
    """Return what going back takes back: the last move, and all that came after it; None if it sent something."""
    moves = [number for number, call in enumerate(before) if call.moved]
    if len(moves) < 2:  # noqa: PLR2004 - the first one began the flow
        return None
    way = before[moves[-1] :]
    return None if any(call.requests or _is_read(call) for call in way) else way


def _replaces(call: _Done, last: _Done) -> bool:
    if call.action in _OPENING and last.action in _OPENING:
        return not last.requests
    if call.action != last.action or call.action not in {"fill", "select_option"}:
        return False
    return _elements(call) == _elements(last)


def _elements(call: _Done) -> list[list[str]]:
    targets = call.record.targets or {}
    return [
        targets.get(text, [text]) for key, text in call.arguments.items() if key in SELECTORS and isinstance(text, str)
    ]


class _Drafting:
    """The making of the steps, one after another."""

    def __init__(self) -> None:
        self.draft = Draft()
        self._pages: dict[str, str] = {}
        self._outputs: set[str] = set()

    def add(self, call: _Done) -> None:
        kind = ACTIONS[call.action]
        if kind.scope is not Scope.PAGE or kind.claim or category(kind) not in _KEPT:
            if kind.scope is Scope.PAGE and not kind.claim:
                self.draft.left_out.append(f"{call.action}: the record does not have what it takes to repeat it")
            return
        if kind.closes is not None:
            return
        page = self._page_of(call)
        opened = bool(self.draft.steps) or call.action in _OPENING
        if not opened and call.record.url_before:
            address = self._url(call.record.url_before)
            self.draft.steps.append(Step.model_validate({"action": "goto", "page": page, "url": address}))
        arguments = self._arguments(call)
        if call.action == "open_page" and not arguments.get("url"):
            return
        step: Json = {"action": "goto" if call.action == "open_page" else call.action, "page": page, **arguments}
        if call.effect is Effect.READS:
            step["output"] = self._output(call)
        made = Step.model_validate(step)
        made.expect = _expected(call) if call.last and call.effect is not Effect.READS else None
        self.draft.steps.append(made)

    def _page_of(self, call: _Done) -> str:
        """Return the flow's name of a page."""
        page_id = call.record.page_id or ""
        return self._pages.setdefault(page_id, MAIN if not self._pages else f"page{len(self._pages) + 1}")

    def _output(self, call: _Done) -> str:
        return _free(call.action.removeprefix("extract_").removeprefix("get_"), self._outputs)

    def _arguments(self, call: _Done) -> Json:
        """Return the arguments: selectors in order of lasting, parameters for what the record does not have."""
        hint = ""
        made: Json = {}
        for key, value in call.arguments.items():
            if key in {"as", "ifRevision", "expectUrl", "reply", "confirm", "affectOthers"}:
                continue
            if key in SELECTORS and isinstance(value, str):
                made[key] = [*self._targets(call, value)]
                hint = hint or _name_in(cast("list[str]", made[key]))
            elif key == "fields" and isinstance(value, list):
                made[key] = [self._field(call, each) for each in value if isinstance(each, dict)]
            elif key == "url" and isinstance(value, str):
                made[key] = self._url(value)
            else:
                made[key] = self._value(value, hint or f"{call.action}_{key}")
        return made

    def _field(self, call: _Done, given: Json) -> Json:
        found = self._targets(call, str(given.get("selector", "")))
        return {"selector": [*found], "value": self._value(given.get("value"), _name_in(found) or "field")}

    @staticmethod
    def _targets(call: _Done, given: str) -> list[str]:
        """Return how an element is found again. A ref meant it only then."""
        return (call.record.targets or {}).get(given) or ([] if re.match(REF_START, given) else [given])

    def _value(self, value: JsonValue, hint: str) -> JsonValue:
        """Return a value, or a parameter in place of what the record does not keep."""
        if isinstance(value, list):
            whole = any(
                isinstance(each, str) and each.startswith("and ") and _REDACTED.fullmatch(each) for each in value
            )
            return self._parameter(hint) if whole else [self._value(each, hint) for each in value]
        if isinstance(value, str) and _REDACTED.fullmatch(value):
            return self._parameter(hint)
        return value

    def _url(self, url: str) -> str:
        """Return an address, with parameters for the parts that the record hides."""
        path, sign, query = url.replace("{{", "%7B%7B").partition("?")  # a page's own braces name no parameter
        while _HIDDEN in path:
            path = path.replace(_HIDDEN, self._parameter("part"), 1)
        pairs = [pair.partition("=") for pair in query.split("&")] if query else []
        written = [
            name + equals + (self._parameter(name) if _HIDDEN in value else value) for name, equals, value in pairs
        ]
        return path + sign + "&".join(written)

    def _parameter(self, hint: str) -> str:
        name = _free(_slug(hint), self.draft.parameters.keys())
        self.draft.parameters[name] = Parameter(description=f"for {hint}")
        return f"{{{{{name}}}}}"


def _free(name: str, taken: Iterable[str]) -> str:
    names = {*taken}
    free = next(each for each in chain([name], (f"{name}_{number}" for number in count(2))) if each not in names)
    if isinstance(taken, set):
        taken.add(free)
    return free


def _slug(text: str) -> str:
    slug = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")[:40]
    return slug if slug[:1].isalpha() else f"value_{slug}".rstrip("_")


def _name_in(selectors: list[str]) -> str:
    """Return the name that selectors give their element."""
    for pattern in (_NAME_IN, _CSS_NAME):
        if found := next(filter(None, map(pattern.search, selectors)), None):
            return flows.unquoted(found[1]) if pattern is _NAME_IN else found[1]
    return ""


def _expected(call: _Done) -> Expected | None:
    """Return what was observed of an act, as far as it will be the same again."""
    record = call.record
    origin = urlsplit(record.url_before or record.url_after or "").netloc
    requests = [_request(each) for each in record.requests if urlsplit(str(each["url"])).netloc == origin]
    shows = [_DIGITS.sub("*", text) for text in record.came or []]
    expected = Expected(
        url=_pattern(record.url_after) if record.url_after else None,
        requests=[each for each in requests if each is not None][:_MOST_REQUESTS],
        shows=[text for text in shows if max(map(len, text.split("*"))) >= _LEAST_WORDS][:2],
    )
    return expected if expected != Expected() else None


def _request(sent: Mapping[str, JsonValue]) -> Request | None:
    status = sent.get("status")
    if not isinstance(status, int) or status >= _FAILED:
        return None
    path = _VARYING.sub("*", urlsplit(str(sent["url"])).path)
    return Request(method=str(sent["method"]), path=path, status=status)


def _pattern(url: str) -> str:
    """Return a pattern of an address: numbers and ids may be others, and so may the query."""
    address, sign, _ = url.partition("?")
    return _VARYING.sub("*", address) + ("*" if sign else "")
