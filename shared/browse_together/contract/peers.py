"""The names that other browser servers give their tools and elements, so that a model trained on them is understood.

`docs/coming-from.md` shows this table. No list of tools has these names, and `help` knows them.
"""

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Final

from pydantic import JsonValue

from browse_together.contract.actions.traits import Alias

ELEMENT: Final = ("ref", "uid", "target")
"""Their arguments that name an element of the last snapshot, as `selector` does here."""
DESCRIBED: Final = frozenset(("element", "startElement", "endElement"))
"""Their arguments that describe such elements to a person; they select nothing."""


def _named(names: str, **renames: str) -> tuple[Alias, ...]:
    return tuple(Alias(name, MappingProxyType(renames)) for name in names.split())


TOOLS: Final[Mapping[str, tuple[Alias, ...]]] = MappingProxyType(
    {
        "go_back": _named("browser_navigate_back"),
        "hover": _named("browser_hover"),
        "drag_and_drop": (
            *_named("browser_drag", startTarget="source", endTarget="target", startRef="source", endRef="target"),
            *_named("drag", from_uid="source", to_uid="target"),
        ),
        "select_option": _named("browser_select_option", values="value"),
        "fill_form": _named("browser_fill_form"),
        "press": _named("browser_press_key press_key"),
        "snapshot": _named("browser_snapshot"),
        "emulate": _named("browser_emulate_media"),
        "mock_response": _named("browser_route"),
        "list_routes": _named("browser_route_list"),
        "start_tracing": _named("browser_start_tracing"),
        "stop_tracing": _named("browser_stop_tracing"),
        "export_session": _named("browser_storage_state"),
        "highlight": _named("browser_highlight"),
        "generate_pdf": _named("browser_pdf_save"),
        "close_page": _named("browser_close"),
        "handle_dialog": _named("browser_handle_dialog"),
    }
)
"""Our action, and what others call it, with their arguments that have another name here."""


def with_selector(given: Mapping[str, JsonValue], known: Collection[str]) -> dict[str, JsonValue]:
    """Return a call's arguments with their name of an element as `selector`, also in each field of a form."""
    found = _with_selector(given, known)
    if "fields" in known and "fields" not in found and "elements" in found:
        found["fields"] = found.pop("elements")
    if "fields" in known and isinstance(fields := found.get("fields"), list):
        found["fields"] = [_field(field) if isinstance(field, dict) else field for field in fields]
    return found


def _with_selector(given: Mapping[str, JsonValue], known: Collection[str]) -> dict[str, JsonValue]:
    named = [name for name in ELEMENT if name in given and name not in known]
    is_theirs = "selector" in known and "selector" not in given and len(named) == 1
    is_described = "source" in known and not DESCRIBED.isdisjoint(given)
    if not is_theirs and not is_described:
        return {**given}
    dropped = {*named[:1]} if is_theirs else set[str]()
    dropped |= DESCRIBED - {*known}
    kept = {name: value for name, value in given.items() if name not in dropped}
    return {"selector": given[named[0]], **kept} if is_theirs else kept


def _field(given: dict[str, JsonValue]) -> JsonValue:
    """Return a form's field without its label and kind, which are found out here; a checkbox has true or false."""
    field = _with_selector(given, ("selector", "value"))
    if field.keys() == given.keys():
        return given
    kind, value = field.pop("type", None), field.get("value")
    field.pop("name", None)
    if str(kind) in {"checkbox", "radio"} and str(value) in {"true", "false"}:
        field["value"] = value == "true"
    return {**field}
