"""The calls that a reply mentions, within the reach of the chat that reads it: its list of tools, and what it adds."""

from collections.abc import Callable
from typing import Final

from pydantic import JsonValue

from browser_service.spine.rendering.result import listed
from shared import catalogue, toolsets
from shared.actions.base import Action
from shared.actions.help import Help
from shared.model import Json

_OURS: Final = ("observed", "undo", "help")
"""The keys of results whose texts are the product's own words, and not a page's."""


def within_reach(envelope: Json, spell: Callable[[str], str]) -> Json:
    """Return the envelope so that it advises no tool in a way in which its reader cannot call it."""
    told = dict(envelope)
    if isinstance(error := envelope.get("error"), dict):
        told["error"] = _error_within_reach(error, spell)
    if isinstance(result := envelope.get("result"), dict):
        told["result"] = {**_ours_spelled(result, spell), **_steps_spelled(result, "steps", spell)}
    if isinstance(notices := envelope.get("notices"), list):
        told["notices"] = [{**each, "text": spell(str(each["text"]))} for each in notices if isinstance(each, dict)]
    return told


def grown(envelope: Json, action: type[Action], chosen: frozenset[str] | None) -> tuple[Json, list[str]]:
    """Return the envelope with what becomes of the list of tools where `help` was asked for a toolset, and which
    toolsets those are. `chosen` are those of the list so far; None: its reader has no list that could grow."""
    result = envelope.get("result")
    if chosen is None or not isinstance(result, dict):
        return envelope, []
    asked = list[str]()
    result = _grown(result, action.name(), chosen, asked)
    if steps := listed(result, "steps"):
        result = {**result, "steps": [_grown_step(step, chosen, asked) for step in steps]}
    return {**envelope, "result": result}, asked


def _grown_step(step: JsonValue, chosen: frozenset[str], asked: list[str]) -> JsonValue:
    return _grown(step, str(step.get("action")), chosen, asked) if isinstance(step, dict) else step


def _grown(result: Json, name: str, chosen: frozenset[str], asked: list[str]) -> Json:
    toolset = result.get("toolset")
    if name != Help.name() or not isinstance(toolset, str):
        return result
    known = frozenset({toolset}).intersection(toolsets.names(catalogue.ACTIONS.values()))
    before = catalogue.listed(chosen.union(asked))
    asked += known
    longer = catalogue.listed(chosen.union(asked)) != before
    said = "They are in your list of tools now." if longer else "Your list of tools had them already."
    return {**result, "help": f"{result.get('help', '')}\n{said}"}


def _error_within_reach(error: Json, spell: Callable[[str], str]) -> Json:
    hint = error.get("hint")
    told: Json = {
        **error,
        "message": spell(str(error["message"])),
        "hint": spell(hint) if isinstance(hint, str) else None,
    }
    details = error.get("details")
    context = details.get("context") if isinstance(details, dict) else None
    if isinstance(details, dict) and isinstance(context, dict) and "done" in context:
        told["details"] = {**details, "context": {**context, **_steps_spelled(context, "done", spell)}}
    return told


def _steps_spelled(part: Json, key: str, spell: Callable[[str], str]) -> Json:
    if not isinstance(steps := part.get(key), list):
        return {}
    return {key: [_ours_spelled(step, spell) if isinstance(step, dict) else step for step in steps]}


def _ours_spelled(part: Json, spell: Callable[[str], str]) -> Json:
    return {key: spell(text) if key in _OURS and isinstance(text, str) else text for key, text in part.items()}
