"""Spells calls as Python does."""

import re
from collections.abc import Mapping
from typing import Any, Final

from browse_together.actions import BrowserActions, PageActions
from browse_together.contract.next_calls import Call, calls_in, spelled
from browse_together.naming import python_name
from browse_together.refusals import NextCall

_ARGUMENT: Final = re.compile(r'"([a-z][A-Za-z]*)": (true|false|\d+)\b')
"""An argument by itself, such as `"strict": false`."""
_FURTHER: Final = "..."


def next_calls(hint: str) -> list[NextCall]:
    """Return the calls that a hint names."""
    return [NextCall(call.action, call.arguments, _code(call)) for call in calls_in(hint)]


def in_python(hint: str) -> str:
    """Spell the calls and arguments in a hint as Python."""
    return _ARGUMENT.sub(lambda one: f"{python_name(one[1])}={one[2].capitalize()}", spelled(hint, _code))


def _code(call: Call) -> str:
    """Return the call as Python; as JSON if no method makes it."""
    given, is_of_page = call.arguments, hasattr(PageActions, call.action)
    if not is_of_page and not hasattr(BrowserActions, call.action):
        return str(call)
    return _written(_page(given.get("pageId")) if is_of_page else "browser", call.action, given)


def _page(page_id: object) -> str:
    return f'browser.page("{page_id}")' if page_id else "page"


def _written(subject: str, action: str, given: Mapping[str, Any]) -> str:  # as above
    shown = [
        _FURTHER if name == _FURTHER else f"{python_name(name)}={_value(value)}"
        for name, value in given.items()
        if name != "pageId" or subject == "browser"
    ]
    return f"{subject}.{action}({', '.join(shown)})"


def _value(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) and '"' not in value and "\\" not in value else repr(value)
