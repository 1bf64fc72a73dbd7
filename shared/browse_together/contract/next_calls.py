"""Names calls in errors, hints and notices as data within their words: each stands between two marks until whatever
writes the reply spells it for its reader.

It looks nothing up, because actions name calls too; a test holds every call against the catalogue. It does not import
pydantic, because a gateway answers with such calls before it has loaded that."""

import contextlib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from types import EllipsisType
from typing import Any, Final, NamedTuple

_BEGIN: Final = "\x02"
_END: Final = "\x03"
_MARKED: Final = re.compile(rf"{_BEGIN}(\w*) (\{{[^{_BEGIN}{_END}]*\}}){_END}")
_MARKS: Final = str.maketrans("", "", _BEGIN + _END)
_DOTS: Final = re.compile(r'("(?:[^"\\]|\\.)*")|(?<=, )(\.\.\.)(?=\}$)|\{\.\.\.\}|\[\.\.\.\]|\.\.\.')
"""A string, or dots outside of strings, which mean further arguments, an object, items or a value."""


class Call(NamedTuple):
    """A call that a text names: the action, and its arguments as JSON, in which dots stand for what the caller fills
    in."""

    action: str
    written: str

    def __str__(self) -> str:
        return f"{self.action} {self.written}"

    @property
    def arguments(self) -> dict[str, Any]:  # Any: JSON
        """Return the arguments; none of what is no call of ours. What the caller must fill in stays three dots, and the
        key `...` stands for further arguments."""
        if self.written == "{...}":
            return {"...": True}
        given: dict[str, Any] = {}
        with contextlib.suppress(ValueError, RecursionError):
            given = json.loads(_DOTS.sub(_quoted_dots, self.written))
        return given


Spell = Callable[[Call], str]
"""Spells a call as its reader can make it."""


def next_call(action: str, *more: EllipsisType, **given: object) -> str:
    """Return a call for a text, such as `next_call("snapshot")` or `next_call("goto", page_id="cart", url="...")`.

    Argument names are those that callers use, in snake case, and `as_` for `as`. An Ellipsis stands for a value that
    the caller fills in: after the action for further arguments, as `[...]` for items, as `{...}` for an object.
    """
    arguments = [f'"{_camel(name.removesuffix("_"))}": {_written(value)}' for name, value in given.items()]
    return f"{_BEGIN}{action} {{{', '.join([*arguments, *map(_written, more)])}}}{_END}"


def spelled(text: str, spell: Spell) -> str:
    """Return the text with its calls as `spell` writes them. One that was cut stays what is left of it."""
    if _BEGIN not in text:
        return text
    return _MARKED.sub(lambda found: spell(Call(found[1], found[2])), text).translate(_MARKS)


def plain(text: str) -> str:
    """Return the text with its calls as JSON calls: `goto {"url": "..."}`."""
    return text.translate(_MARKS) if _BEGIN in text else text


def calls_in(text: str) -> list[Call]:
    """Return the calls that the text names."""
    return [Call(*found) for found in _MARKED.findall(text)]


def sent(error: Mapping[str, Any], on: Callable[[Call], Call] = lambda call: call) -> dict[str, Any]:  # Any: JSON
    """Return an error as it leaves the service: its words plain, and the calls that they name beside them. `on` adds to
    a call what it lacks."""
    words = {key: text for key in ("message", "hint") if isinstance(text := error.get(key), str)}
    calls = [on(call) for text in words.values() for call in calls_in(text)]
    beside = [{"action": each.action, "arguments": each.arguments, "text": str(each)} for each in calls]
    plainly = {key: spelled(text, lambda call: str(on(call))) for key, text in words.items()}
    return {**error, **plainly, **({"calls": beside} if beside else {})}


def marked(text: str, calls: Iterable[str]) -> str:
    """Return a plain text with the marks around these calls, which came beside it."""
    found = "|".join(map(re.escape, sorted(calls, key=len, reverse=True)))
    return re.sub(found, lambda call: f"{_BEGIN}{call[0]}{_END}", text) if found else text


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return "".join([first, *(word.capitalize() for word in others)])


def _written(value: object) -> str:
    if value is ...:
        return "..."
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{json.dumps(name)}: {_written(item)}' for name, item in value.items())}}}"
    if isinstance(value, set):
        return f"{{{', '.join(map(_written, value))}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_written, value))}]"
    return json.dumps(value, ensure_ascii=False)


def _quoted_dots(found: re.Match[str]) -> str:
    """Return dots for a value to fill in as JSON; keep a string."""
    if found[1]:
        return found[1]
    return '"...": true' if found[2] else f'"{found[0]}"'
