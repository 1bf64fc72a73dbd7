"""Spells the calls in the service's own words of a reply, as its reader can make them."""

from typing import Final

from pydantic import JsonValue

from browse_together.contract.call_spellings import on_page
from browse_together.contract.model import Json, object_at
from browse_together.contract.next_calls import Spell, sent, spelled

_OURS: Final = frozenset(
    {"observed", "inFrames", "copied", "help", "advice", "text", "flows", "paused", "next", "message", "hint"}
)
"""Keys of texts that are our own words, and not a page's."""
_PARTS: Final = frozenset({"result", "error", "details", "context", "during", "steps", "done", "notices"})
"""Keys of the parts of a reply that have such texts too, or of lists of them."""
_KEYS: Final = _OURS | _PARTS


def spell_words(envelope: Json, spell: Spell = str, page_id: str = "") -> Json:
    """Return the envelope, or a part of it, with its calls as `spell` writes them. They name this page, if there is
    one, or that of their step: the caller may have others."""
    return {**envelope, **{key: _written(key, envelope[key], spell, page_id) for key in _KEYS.intersection(envelope)}}


def for_programs(envelope: Json, page_id: str = "") -> Json:
    """Return the envelope with its calls as JSON. Those of an error's words are beside them, as data."""
    if error := object_at(envelope, "error"):
        envelope = {**envelope, "error": sent(error, lambda call: on_page(call, page_id))}
    return spell_words(envelope, page_id=page_id)


def _written(key: str, value: JsonValue, spell: Spell, page_id: str) -> JsonValue:
    if isinstance(value, str):
        return spelled(value, lambda call: spell(on_page(call, page_id))) if key in _OURS else value
    if key in _PARTS and isinstance(value, dict):
        return spell_words(value, spell, page_id)
    if key in _PARTS and isinstance(value, list):
        return [_of_step(each, spell, page_id) if isinstance(each, dict) else each for each in value]
    return value


def _of_step(step: Json, spell: Spell, page_id: str) -> Json:
    return spell_words(step, spell, str(step.get("pageId") or page_id) if page_id else "")
