"""Spells the calls in a reply so that the chat that reads it can make them, and adds toolsets to its list."""

from collections.abc import Callable
from typing import Final

from pydantic import JsonValue

from browse_together.contract import catalogue, toolsets
from browse_together.contract.actions.base import Action
from browse_together.contract.model import Json, list_at, object_at

Spell = Callable[[str], str]
_OURS: Final = ("observed", "help", "advice")
"""Keys of results whose texts are our own words, and not a page's."""


def spell_calls(envelope: Json, spell: Spell, of_step: Callable[[Json], Spell] | None = None) -> Json:
    """Return the envelope with all advised calls spelled by `spell`, so that its reader can make them. Those of a
    batch's step are spelled by what `of_step` returns for it, if that is given."""
    of_step = of_step or (lambda _: spell)
    spelled = dict(envelope)
    if isinstance(error := envelope.get("error"), dict):
        spelled["error"] = _spell_error(error, spell, of_step)
    if isinstance(result := envelope.get("result"), dict):
        spelled["result"] = {**_spell_own_words(result, spell), **_spell_steps(result, "steps", of_step)}
    if isinstance(notices := envelope.get("notices"), list):
        spelled["notices"] = [{**each, "text": spell(str(each["text"]))} for each in notices if isinstance(each, dict)]
    return spelled


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


def _spell_error(error: Json, spell: Spell, of_step: Callable[[Json], Spell]) -> Json:
    hint = error.get("hint")
    spelled: Json = {
        **error,
        "message": spell(str(error["message"])),
        "hint": spell(hint) if isinstance(hint, str) else None,
    }
    details = object_at(error, "details")
    if "done" in (context := object_at(details, "context")):
        spelled["details"] = {**details, "context": {**context, **_spell_steps(context, "done", of_step)}}
    return spelled


def _spell_steps(part: Json, key: str, of_step: Callable[[Json], Spell]) -> Json:
    if not isinstance(steps := part.get(key), list):
        return {}
    return {key: [_spell_own_words(step, of_step(step)) if isinstance(step, dict) else step for step in steps]}


def _spell_own_words(part: Json, spell: Spell) -> Json:
    return {key: spell(text) if key in _OURS and isinstance(text, str) else text for key, text in part.items()}
