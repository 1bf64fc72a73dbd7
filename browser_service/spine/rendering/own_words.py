"""Spells the calls in the service's own words of a reply, as its reader can make them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue

from browse_together.contract.call_spellings import on_page
from browse_together.contract.model import Json, object_at
from browse_together.contract.next_calls import Call, Spell, sent, spelled

_OURS: Final = frozenset({"observed", "help", "advice", "text", "flows", "paused", "next", "message", "hint"})
"""Keys of texts that are our own words, and not a page's."""
_PARTS: Final = frozenset({"result", "error", "details", "context", "during"})
_LISTS: Final = frozenset({"steps", "done", "notices"})
"""Keys of the parts of a reply that have such texts too."""


@dataclass(frozen=True)
class Speller:
    """How one reply spells calls."""

    spell: Spell = str
    page_id: str = ""
    """The page that its calls are to name, because the caller may have others; none if empty."""

    def written(self, envelope: Json) -> Json:
        """Return the envelope with all calls spelled."""
        return self._part(envelope, self._at({}))

    def for_programs(self, envelope: Json) -> Json:
        """Return the envelope with all calls spelled, and those of an error's words beside them as data."""
        error = object_at(envelope, "error")
        return self.written({**envelope, "error": sent(error, self._on({}))} if error else envelope)

    def _on(self, place: Json) -> Callable[[Call], Call]:
        """Return what adds the page to a call. A batch's step may name its own."""
        if not self.page_id:
            return lambda call: call
        page_id = str(place.get("pageId") or self.page_id)
        return lambda call: on_page(call, page_id)

    def _at(self, place: Json) -> Spell:
        on = self._on(place)
        return lambda call: self.spell(on(call))

    def _part(self, part: Json, spell: Spell) -> Json:
        return {key: self._value(key, value, spell) for key, value in part.items()}

    def _value(self, key: str, value: JsonValue, spell: Spell) -> JsonValue:
        if key in _OURS and isinstance(value, str):
            return spelled(value, spell)
        if key in _PARTS and isinstance(value, dict):
            return self._part(value, spell)
        if key in _LISTS and isinstance(value, list):
            return [self._part(each, self._at(each)) if isinstance(each, dict) else each for each in value]
        return value
