"""Adds the toolsets that `help` was asked for to the list of a chat."""

from pydantic import JsonValue

from browse_together.contract import catalogue, toolsets
from browse_together.contract.actions.base import Action
from browse_together.contract.model import Json, list_at


def add_toolsets(envelope: Json, action: type[Action], listed: frozenset[str] | None) -> tuple[Json, list[str]]:
    """Return the envelope with a line on the toolsets that `help` was asked for, and these toolsets. `listed` are the
    toolsets in the reader's tool list, or None if its list cannot grow."""
    result = envelope.get("result")
    if listed is None or not isinstance(result, dict):
        return envelope, []
    requested = list[str]()
    result = _add_toolset(result, action, listed, requested)
    if steps := list_at(result, "steps"):
        result = {**result, "steps": [_add_step_toolset(step, listed, requested) for step in steps]}
    return {**envelope, "result": result}, requested


def _add_step_toolset(step: JsonValue, listed: frozenset[str], requested: list[str]) -> JsonValue:
    return _add_toolset(step, catalogue.called(step), listed, requested) if isinstance(step, dict) else step


def _add_toolset(result: Json, action: type[Action], listed: frozenset[str], requested: list[str]) -> Json:
    toolset = result.get("toolset")
    if action.text_key != "help" or not isinstance(toolset, str):
        return result
    valid = frozenset({toolset}).intersection(toolsets.NAMES)
    old_names = toolsets.listed_names(listed.union(requested))
    requested += valid
    longer = toolsets.listed_names(listed.union(requested)) != old_names
    text = "They are in your list of tools now." if longer else "Your list of tools had them already."
    return {**result, "help": f"{result.get('help', '')}\n{text}"}
