"""Hides the values of cookies from callers who may only know their names."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Final

from browse_together.contract.calls import Call
from browse_together.contract.errors import ScriptExecutionFailed
from browse_together.contract.model import Json

HIDDEN: Final = "«cookie value»"
_WHY: Final = (
    "the values of cookies are left out: this token may read their names alone. The account's owner allows more: "
    "browse-together token create --name NAME --cookies; or to all chats, cookie_values = true in config.toml"
)
_SHORT: Final = 6
"""From this length on, a value is hidden wherever it stands; a shorter one only behind its name."""
_MOST_CHARACTERS: Final = 200_000
_ASKS: Final = re.compile("cookie", re.IGNORECASE)


def hidden_note(call: Call) -> Json:
    """Return a note for a caller that cookie values are left out; {} for a caller that gets them."""
    return {"hidden": _WHY} if call.hides_cookies else {}


def may_read_cookies(source: str) -> bool:
    """Return whether a script plainly asks for cookies, so that its result is worth a look."""
    return _ASKS.search(source) is not None


def without_values(text: str, cookies: Iterable[Mapping[str, object]]) -> str:
    """Return a script's result, which is JSON text, without the values of cookies. Raises ScriptExecutionFailed if the
    result is too long to search while others wait."""
    if len(text) > _MOST_CHARACTERS:
        raise ScriptExecutionFailed(
            f"It was done; its result has {len(text):,} characters, too many to leave cookie values out of it.",
            hint="Ask for less, or in a script that does not ask for cookies.",
        )
    shown = text
    for cookie in cookies:
        name, value = _spelled(cookie.get("name")), _spelled(cookie.get("value"))
        if value:
            shown = shown.replace(f"{name}={value}", f"{name}={HIDDEN}")
        if len(value) >= _SHORT:
            shown = shown.replace(value, HIDDEN)
    try:
        json.loads(shown)
    except ValueError:  # a value that stood there as a number
        return json.dumps(shown, ensure_ascii=False)
    return shown


def _spelled(text: object) -> str:
    """Return a text as it stands in JSON."""
    return json.dumps(str(text or ""), ensure_ascii=False)[1:-1]
