"""One field of a form that a call fills: what it takes, whether it has it, and what the reply says of it."""

from dataclasses import dataclass
from typing import Any, Final

from playwright.async_api import ElementHandle, Locator
from typing_extensions import TypedDict

from browse_together.contract.actions.arguments import SecretRef
from browse_together.contract.actions.combining import FormField
from browse_together.contract.errors import ValidationFailed
from browse_together.contract.model import Json
from browse_together.contract.next_calls import next_call
from browser_service.actions.support.field_values import cut_by, in_form_of, is_reformatted, shorten
from browser_service.host.elements.filled_fields import Field


class FieldState(TypedDict):
    """The result of the script `form_look`."""

    kind: str
    type: str
    boxes: int
    """How many boxes of one character take a text together, from the field on."""
    most: int
    """Its maxlength; -1 without one."""
    names: list[str]
    value: Any  # Any: a text, or the options chosen
    labels: list[str]
    checked: bool
    secret: bool
    shows: str
    there: bool
    field: Field | None


_TEXT_TYPES: Final = ("text", "search", "textarea", "email", "tel", "url")
_TICKS: Final = {"true": True, "false": False}
_REFUSED_KINDS: Final = {
    "file": (
        "is a file input",
        f"Give it its files by themselves: {next_call('upload_file', selector='...', files=[...])}.",
    ),
    "button": ("is a button", "Leave it out, or click it when all are filled: give it as submit."),
}
_ACCEPTED_VALUES: Final = {
    "text": "text",
    "editor": "text",
    "combobox": "the name of an option, or a list of them",
    "slider": "a number",
    "tick": "true or false",
    "radio": "true, or the value or label of the one to choose",
    "select": "an option's value or label, or a list of them",
}


@dataclass
class FormEntry:
    """One field of the call, and its element."""

    request: FormField
    place: str
    locator: Locator
    handle: ElementHandle | None = None
    """None while there is no such element; an earlier field may make it appear."""
    kind: str = ""
    input: Any = None  # Any: what a field of that kind takes
    is_range: bool = False
    has_list: bool = False
    """True for a text field that offers options."""
    offered: str = ""
    """Names options of its list, if none of them has the text as its name."""
    told: str = ""
    """What happened to the given text, if the field itself cannot tell."""

    @property
    def is_secret(self) -> bool:
        """Return whether the field gets a named secret, which no reply shows."""
        return isinstance(self.request.value, SecretRef)


def can_be_filled_with_others(field: FormEntry) -> bool:
    """Return whether one script can fill the field together with its neighbours."""
    return (
        field.handle is not None
        and field.kind in {"text", "select"}
        and not (field.is_secret or field.has_list or field.is_range)
    )


def input_of(field: FormEntry, state: FieldState) -> Any:  # Any: what a field of that kind takes
    """Convert the value for the field. Raises ValidationFailed if the field cannot take it."""
    value = field.request.value
    _see_kind(field, state)
    kind = field.kind
    if kind in _REFUSED_KINDS:
        what, hint = _REFUSED_KINDS[kind]
        raise _unfit(f"{field.request.selector} {what}", hint)
    if kind == "tick" and isinstance(tick := _TICKS.get(str(value).lower()), bool):
        return tick
    if kind == "radio" and (value is True or value in state["names"]):
        return True
    if kind == "slider" and (number := _number(value)) is not None:
        return number
    if kind in {"select", "combobox"} and not isinstance(value, bool | SecretRef):
        return value if isinstance(value, list) else str(value) if kind == "select" else [str(value)]
    if kind in {"text", "boxes"} and isinstance(value, SecretRef):
        return value
    if kind in {"text", "editor", "boxes"} and not isinstance(value, bool | list | SecretRef):
        return in_form_of(state["type"], str(value))
    hint = f"Its names: {', '.join(state['names'])}." if kind == "radio" else f"Give it {_ACCEPTED_VALUES[kind]}."
    raise _unfit(f"{field.request.selector} takes {_ACCEPTED_VALUES[kind]}", hint)


def _see_kind(field: FormEntry, state: FieldState) -> None:
    """Note what else a field is: a text field that offers options, a range, the first of several boxes of a code."""
    value = field.request.value
    if field.kind == "combobox" and state["type"] in _TEXT_TYPES and not isinstance(value, list):
        field.kind, field.has_list = "text", True
    elif field.kind == "text" and _is_code(value, state["boxes"]):
        field.kind = "boxes"
    field.is_range = state["type"] == "range"


def _is_code(value: object, boxes: int) -> bool:
    """Return whether a value is to be spread over so many boxes."""
    return (isinstance(value, SecretRef) and boxes > 1) or (
        not isinstance(value, bool | list) and 1 < len(str(value)) <= boxes
    )


def _number(value: object) -> float | None:
    try:
        return None if isinstance(value, bool) else float(str(value))
    except ValueError:
        return None


def _unfit(problem: str, hint: str) -> ValidationFailed:
    return ValidationFailed(f"{problem}.", hint=hint)


def is_set(field: FormEntry, state: FieldState | None) -> bool:
    """Return whether the page shows what the field was given."""
    if state is None:
        return False
    if field.kind in {"tick", "radio"}:
        return bool(state["checked"] is field.input)
    if field.kind == "text":
        return bool(state["value"] == field.input)
    if field.kind == "slider":
        return bool(_number(state["value"]) == field.input)
    if field.kind in {"editor", "combobox", "boxes"}:
        return not field.told
    chosen = {*field.input} if isinstance(field.input, list) else {field.input}
    return chosen in ({*state["value"]}, {*state["labels"]})


def twins_of(field: FormEntry, state: FieldState) -> list[str]:
    """Say, for each chosen label that several options share, which of them is selected."""
    found = state["field"]["twins"] if field.kind == "select" and state["field"] else {}
    given = field.input if isinstance(field.input, list) else [field.input]
    return [f"{text!r} is {which}" for text, which in found.items() if text in given]


def is_refused(field: FormEntry, state: FieldState | None) -> bool:
    """Return whether the page shows something else, and not only another form of it."""
    if state is None or is_set(field, state):
        return False
    if field.kind in {"editor", "combobox"}:
        return False
    return field.kind != "text" or state["secret"] or field.is_secret or not is_reformatted(state["value"], field.input)


def value_of(field: FormEntry, state: FieldState | None) -> Json:
    """Return what the field has now, without passwords."""
    if state is None:
        return {"gone": True}
    if field.kind in {"tick", "radio"}:
        return {"checked": state["checked"]}
    if field.told:
        return {}
    value = field.input if field.kind in {"boxes", "combobox"} else state["value"]
    return {"characters": len(value)} if state["secret"] or field.is_secret else {"value": value}


def describe(field: FormEntry, state: FieldState | None) -> str:
    """Word what the field has now."""
    if state is None:
        return "is no longer there"
    if field.told:
        return field.told
    if field.kind in {"tick", "radio"}:
        return f"is {'checked' if state['checked'] else 'not checked'} now"
    if state["secret"] or field.is_secret:
        return f"has {len(state['value'])} characters now, which are not those given"
    if not is_refused(field, state):
        return f"is written as {state['value']!r}"
    cut = cut_by(state["most"], state["value"], field.input) if field.kind == "text" else ""
    offered = f" ({field.offered or cut})" if field.offered or cut else ""
    return f"shows {shorten(str(state['value']))} instead of {shorten(str(field.input))}{offered}"
