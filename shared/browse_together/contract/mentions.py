"""Rewrites calls in our texts, such as `goto {}`, for their reader: for a chat as calls of tools that it lists, for a
person as commands."""

import json
import re
import shlex
from collections.abc import Callable, Collection
from itertools import islice
from typing import Final

from browse_together.contract import catalogue
from browse_together.contract.actions.base import PageAction
from browse_together.contract.actions.flows import RunFlow
from browse_together.contract.actions.help import CallTool
from browse_together.contract.actions.traits import Unaddressed
from browse_together.contract.next_calls import end_of_arguments, given_in
from browse_together.contract.schema import kebab
from browse_together.contract.wire import APP_NAME

_MENTION: Final = re.compile(rf"(?<![\w\"'])({'|'.join(sorted(catalogue.NAMES, key=len, reverse=True))}) (?=\{{)")
"""A tool's name before the JSON of its arguments."""
_ADDRESSED: Final = re.compile(r'"(pageId|sessionId|cursor|callId)": ')
"""Arguments that already say where a call goes."""
_PLACES: Final = frozenset({"{...}", "[...]"})
_MOST_CALLS: Final = 50
"""The most calls rewritten in one text, because it may quote a page."""
_SEARCHED_CHARACTERS: Final = 100_000
"""The most characters of a text that are searched for calls; our own texts are shorter."""


def respelled_calls(text: str, listed: Collection[str]) -> str:
    """Rewrite every call of an unlisted tool as a call of `call_tool`, if that is listed."""
    if CallTool.name() not in listed:
        return text

    def through_call_tool(name: str, arguments: str) -> str | None:
        return None if name in listed else f'{CallTool.name()} {{"name": "{name}", "arguments": {arguments}}}'

    return _rewritten(text, through_call_tool)


def calls_on_page(text: str, page_id: str) -> str:
    """Add this page to every call that needs a page but names none."""

    def on_page(name: str, arguments: str) -> str | None:
        action = catalogue.NAMES[name].action
        is_of_own_page = issubclass(action, PageAction) and action.unaddressed is Unaddressed.ONLY_PAGE
        if not is_of_own_page or _ADDRESSED.search(arguments) or arguments == "{...}":
            return None
        return f'{name} {{"pageId": {json.dumps(page_id)}{", " * (arguments != "{}")}{arguments[1:]}'

    return _rewritten(text, on_page)


def as_commands(text: str) -> str:
    """Rewrite every call as the command that makes it."""
    return _rewritten(text, _command)


def _rewritten(text: str, rewrite: Callable[[str, str], str | None]) -> str:
    """Replace each call by the result of `rewrite` for its name and arguments; None leaves it unchanged."""
    pieces, start = list[str](), 0
    for match in islice(_MENTION.finditer(text, 0, _SEARCHED_CHARACTERS), _MOST_CALLS):
        end = end_of_arguments(text, match.end())
        if match.start() < start or end is None or (call := rewrite(match[1], text[match.end() : end])) is None:
            continue
        pieces += [text[start : match.start()], call]
        start = end
    return "".join([*pieces, text[start:]])


def _command(name: str, arguments: str) -> str | None:
    """Return the command that makes a call. Values that the caller must fill in stay three dots."""
    given = given_in(arguments)
    if given is None:
        return None
    words, values = ["run", name], given.get("values", {})
    if name == RunFlow.name() and isinstance(values, dict) and all(isinstance(each, str) for each in values.values()):
        words = ["flow", "run", shlex.quote(str(given.pop("name", "...")))]
        given = {"value": [f"{key}={value}" for key, value in values.items()], **given} if values else given
        given.pop("values", None)
    options = [option for argument, value in given.items() for option in _option(argument, value)]
    return " ".join([APP_NAME, *words, *options])


def _option(argument: str, value: object) -> list[str]:
    if argument == "...":
        return ["..."]
    name = "page" if argument == "pageId" else kebab(argument)
    if isinstance(value, bool):
        return [f"--{name}" if value else f"--{name[3:]}" if name.startswith("no-") else f"--no-{name}"]
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        return [word for item in value for word in (f"--{name}", shlex.quote(item))]
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return [f"--{name}", text if text in _PLACES else shlex.quote(text)]
