"""Spells calls as Python does."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from browse_together.actions import BrowserActions, PageActions
from browse_together.contract.next_calls import end_of_arguments, given_in
from browse_together.naming import python_name
from browse_together.refusals import NextCall

_CALL: Final = re.compile(r"(?<![\w\"'])([a-z][a-z0-9_]*) (?=\{)")
_ARGUMENT: Final = re.compile(r'"([a-z][A-Za-z]*)": (true|false|\d+)\b')
"""An argument by itself, such as `"strict": false`."""
_FURTHER: Final = "..."


def calls_in(hint: str) -> list[NextCall]:
    """Return the calls that a hint names."""
    return [call for _, _, call in _found(hint)]


def in_python(hint: str) -> str:
    """Spell the calls and arguments in a hint as Python."""
    pieces, start = list[str](), 0
    for begins, ends, call in _found(hint):
        pieces += [hint[start:begins], call.code]
        start = ends
    return _ARGUMENT.sub(lambda one: f"{python_name(one[1])}={one[2].capitalize()}", "".join([*pieces, hint[start:]]))


def _found(hint: str) -> Iterator[tuple[int, int, NextCall]]:
    for match in _CALL.finditer(hint):
        method, end = _method(match[1]), end_of_arguments(hint, match.end())
        if method and end is not None and (given := given_in(hint[match.end() : end])) is not None:
            yield match.start(), end, NextCall(match[1], given, method(given))


def _method(action: str) -> Callable[[Mapping[str, Any]], str] | None:  # Any: JSON
    if hasattr(PageActions, action):
        return lambda given: _spelled(_page(given.get("pageId")), action, given)
    return (lambda given: _spelled("browser", action, given)) if hasattr(BrowserActions, action) else None


def _page(page_id: object) -> str:
    return f'browser.page("{page_id}")' if page_id else "page"


def _spelled(subject: str, action: str, given: Mapping[str, Any]) -> str:  # as above
    shown = [
        _FURTHER if name == _FURTHER else f"{python_name(name)}={_value(value)}"
        for name, value in given.items()
        if name != "pageId" or subject == "browser"
    ]
    return f"{subject}.{action}({', '.join(shown)})"


def _value(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) and '"' not in value and "\\" not in value else repr(value)
