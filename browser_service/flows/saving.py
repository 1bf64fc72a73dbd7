"""Makes the steps of a flow from the record: what was typed becomes a parameter, what was observed a check."""

import re
from collections.abc import Container, Iterable
from dataclasses import dataclass, field
from itertools import chain, count
from typing import Final, cast

from pydantic import JsonValue

from browse_together.contract import flows
from browse_together.contract.actions.traits import Effect, Scope
from browse_together.contract.calls import ActivityRecord
from browse_together.contract.catalogue import ACTIONS
from browse_together.contract.errors import ValidationFailed, field_details
from browse_together.contract.flow_places import is_place
from browse_together.contract.flows import MAIN, SELECTORS, Parameter, Step
from browse_together.contract.model import Json, object_at
from browse_together.contract.next_calls import next_call
from browse_together.contract.toolsets import category
from browse_together.contract.wire import REF_PATTERN
from browser_service.flows.done import OPENING, Done, repeated
from browser_service.flows.expecting import SECRET, expected

_KEPT: Final = frozenset(
    {"navigation", "interaction", "pointer", "editing", "files", "combining", "waiting", "extraction", "reading"}
    | {"dialogs", "emulation", "pages", "states", "page_tools"}
)
"""Categories whose actions a flow can repeat from the record."""
_NOT_AGAIN: Final = frozenset({"as", "ifRevision", "expectUrl", "reply", "confirm", "affectOthers"})
_REDACTED: Final = re.compile(r"\((?:[\d,]+ characters?|a value|\d+ entr(?:y|ies))\)|and \d+ more")
_HIDDEN: Final = "…"
_NAME_IN: Final = re.compile(r'\[name="((?:[^"\\]|\\.)*)"\]$')
_CSS_NAME: Final = re.compile(r"[#\[](?:[\w-]+=\"?)?([\w-]+)\"?\]?$")
REF_START: Final = REF_PATTERN.removesuffix("$") + r"(?![\w-])"


def draft(records: Iterable[ActivityRecord]) -> "Draft":
    """Make the steps of records, oldest first. Raises ValidationFailed if nothing of them can be repeated."""
    made = Draft()
    for call in repeated(records):
        made.add(call)
        if len(made.steps) > flows.MOST_STEPS:
            raise _too_long(f"{flows.MOST_STEPS} steps")
    if not made.steps:
        raise ValidationFailed(
            "Nothing that was done in that stretch can be repeated by a flow.",
            hint=f"See what is recorded: {next_call('get_activity', client='me')}.",
        )
    return made


def _too_long(most: str) -> ValidationFailed:
    return ValidationFailed(
        f"That stretch has more than {most}, and a flow has no more.",
        hint="Save a shorter one, by since or calls.",
        details=field_details("since"),
    )


@dataclass(eq=False)
class Draft:
    """The steps made of a stretch of the record, their parameters, and what could not be kept."""

    parameters: dict[str, Parameter] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    _pages: dict[str, str] = field(default_factory=dict)
    _outputs: set[str] = field(default_factory=set)
    _windows: dict[str, tuple[Done, Step]] = field(default_factory=dict)
    """What opened each window."""
    _last: dict[str | None, Done | None] = field(default_factory=dict)
    """The last act on each page; None if the flow does not have it."""

    def add(self, call: Done) -> None:
        kind = ACTIONS[call.action]
        if kind.scope is not Scope.PAGE or kind.claim or kind.closes is not None:
            return
        before = self._last.get(call.record.page_id)
        self._last[call.record.page_id] = None
        if category(kind) not in _KEPT:
            self.left_out.append(f"{call.action}: the record does not have what it takes to repeat it")
            return
        if kind.calls_page_tool and not call.takes:
            self.left_out.append(
                f"{call.action}: the tool's schema does not name or take its arguments, or cannot be kept in a flow"
            )
            return
        if kind.answers_dialog and before is None:
            self.left_out.append(f"{call.action}: what it answered is not in the flow")
            return
        self._check_dialogs(call, before)
        page = self._page_of(call)
        arguments = self._arguments(call)
        if call.action == "open_page" and not arguments.get("url"):
            return
        step: Json = {"action": "goto" if call.action == "open_page" else call.action, "page": page, **arguments}
        if call.effect is Effect.READS or call.takes:
            step["output"] = self._output(call)
        made = Step.model_validate(step)
        made.expect = expected(call) if call.last and call.effect is not Effect.READS else None
        self.steps.append(made)
        self._last[call.record.page_id] = call
        if call.last:
            self._windows |= dict.fromkeys(call.record.popups or [], (call, made))

    def _check_dialogs(self, call: Done, before: Done | None) -> None:
        """Raise ValidationFailed for a dialog that a run could not answer as it was answered."""
        answers = ACTIONS[call.action].answers_dialog
        if answers and before is not None and before.of_several:
            raise _unclear("asked in a dialog", before)
        chosen = any(step.action == "set_dialog_policy" for step in self.steps)
        if call.record.answered and not (answers or chosen or call.action == "set_dialog_policy"):
            raise ValidationFailed(
                f"A dialog of {call.action} ({call.record.call_id}) was answered by a policy from before that stretch.",
                hint="Save from set_dialog_policy on, or do it again and answer with handle_dialog.",
                details=field_details("since"),
            )

    def _page_of(self, call: Done) -> str:
        """Return the flow's name of a page. One that was open before is gone to first. Raises ValidationFailed."""
        page_id, url = call.record.page_id or "", call.record.url_before
        if page_id in self._pages:
            return self._pages[page_id]
        name = self._name(page_id)
        if page_id in self._windows:
            opener, step = self._windows[page_id]
            if opener.of_several:
                raise _unclear("opened a window", opener)
            popups = opener.record.popups or []
            step.opens = [self._name(each) for each in popups[: popups.index(page_id) + 1]]
        elif call.action not in OPENING and url:
            self.steps.append(Step.model_validate({"action": "goto", "page": name, "url": self._url(url)}))
        elif call.action not in OPENING and name != MAIN:
            raise ValidationFailed(
                f"{page_id} was open before that stretch, and it is not recorded where it was.",
                hint="Save a longer stretch, by since.",
                details=field_details("since"),
            )
        return name

    def _name(self, page_id: str) -> str:
        return self._pages.setdefault(page_id, MAIN if not self._pages else f"page{len(self._pages) + 1}")

    def _output(self, call: Done) -> str:
        read = _slug(str(call.arguments["name"])) if call.takes else call.action
        name = _free(read.removeprefix("extract_").removeprefix("get_"), self._outputs)
        self._outputs.add(name)
        return name

    def _arguments(self, call: Done) -> Json:
        """Return the arguments: selectors in order of lasting, parameters for what the record does not have."""
        hint = ""
        made: Json = {}
        for key, value in call.arguments.items():
            if key in _NOT_AGAIN or (call.takes and key in {"arguments", "schema"}):
                continue
            if key in SELECTORS and isinstance(value, str):
                made[key] = [*self._targets(call, value)]
                hint = hint or _name_in(cast("list[str]", made[key]))
            elif key == "fields" and isinstance(value, list):
                made[key] = [self._field(call, each) for each in value if isinstance(each, dict)]
            elif key == "url" and isinstance(value, str):
                made[key] = self._url(value)
            else:
                made[key] = self._typed(call, call.arguments.get("selector"), value, hint or f"{call.action}_{key}")
        if call.takes:
            known = object_at(call.takes, "properties")
            made |= {"arguments": {name: self._parameter(name) for name in known}, "schema": call.takes}
        return made

    def _field(self, call: Done, given: Json) -> Json:
        found = self._targets(call, str(given.get("selector", "")))
        value = self._typed(call, given.get("selector"), given.get("value"), _name_in(found) or "field")
        return {"selector": [*found], "value": value}

    def _typed(self, call: Done, selector: JsonValue, value: JsonValue, hint: str) -> JsonValue:
        """Return the value of a field, or a parameter, which is for a secret if the field is."""
        known, secret_fields = {*self.parameters}, call.record.secret_fields or []
        made = self._value(value, hint)
        for name in self.parameters.keys() - known:  # without a selector, it went to the field that had the focus
            self.parameters[name].secret = selector in secret_fields if selector else bool(secret_fields)
        return made

    @staticmethod
    def _targets(call: Done, given: str) -> list[str]:
        """Return how an element is found again. A ref meant it only then, and a secret may be another by now."""
        found = (call.record.targets or {}).get(given) or ([] if re.match(REF_START, given) else [given])
        lasting = [each for each in found if not (SECRET.search(each) or "{{" in each)]
        return sorted({each.replace("'", '"'): each for each in lasting}.values(), key=is_place)

    def _value(self, value: JsonValue, hint: str) -> JsonValue:
        """Return a value, or a parameter where the record has none."""
        if isinstance(value, list):
            whole = any(
                isinstance(each, str) and each.startswith("and ") and _REDACTED.fullmatch(each) for each in value
            )
            return self._parameter(hint) if whole else [self._value(each, hint) for each in value]
        if isinstance(value, dict):
            return {name: self._value(each, hint) for name, each in value.items()}
        if isinstance(value, str) and any(flows.placeholders(value)):
            return self._parameter(hint, value)  # what was typed names no parameter
        if isinstance(value, str) and _REDACTED.fullmatch(value):
            return self._parameter(hint)
        return value

    def _url(self, url: str) -> str:
        """Return an address, with parameters for the parts that the record hides."""
        plain = SECRET.sub(_HIDDEN, url).replace("{{", "%7B%7B")  # a page's own braces name no parameter
        path, sign, query = plain.partition("?")
        while _HIDDEN in path:
            path = path.replace(_HIDDEN, self._parameter("part"), 1)
        pairs = [pair.partition("=") for pair in query.split("&")] if query else []
        written = [
            self._parameter("query")
            if _HIDDEN in name
            else name + equals + (self._parameter(name) if _HIDDEN in value else value)
            for name, equals, value in pairs
        ]
        return path + sign + "&".join(written)

    def _parameter(self, hint: str, default: str | None = None) -> str:
        if len(self.parameters) == flows.MOST_PARAMETERS:
            raise _too_long(f"{flows.MOST_PARAMETERS} values to give")
        name = _free(_slug(hint), self.parameters)
        self.parameters[name] = Parameter(description=f"for {hint}", default=default)
        return f"{{{{{name}}}}}"


def _unclear(what: str, call: Done) -> ValidationFailed:
    return ValidationFailed(
        f"One of several steps in one call ({call.record.call_id}) {what}, and it is not recorded which.",
        hint="Do these steps one by one, then save.",
        details=field_details("calls"),
    )


def _free(name: str, taken: Container[str]) -> str:
    return next(each for each in chain([name], (f"{name}_{number}" for number in count(2))) if each not in taken)


def _slug(text: str) -> str:
    slug = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")[:40]
    return slug if slug[:1].isalpha() else f"value_{slug}".rstrip("_")


def _name_in(selectors: list[str]) -> str:
    for pattern in (_NAME_IN, _CSS_NAME):
        if found := next(filter(None, map(pattern.search, selectors)), None):
            return flows.unquoted(found[1]) if pattern is _NAME_IN else found[1]
    return ""
