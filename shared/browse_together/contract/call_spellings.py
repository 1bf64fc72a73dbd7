"""Spells a call that a text names for its reader: for a chat as a call of a tool that it lists, for a person as a
command."""

import json
import re
import shlex
from collections.abc import Collection
from typing import Final

from browse_together.contract import catalogue
from browse_together.contract.actions.base import PageAction
from browse_together.contract.actions.flows import RunFlow
from browse_together.contract.actions.help import CallTool
from browse_together.contract.actions.traits import Unaddressed
from browse_together.contract.next_calls import Call
from browse_together.contract.schema import kebab
from browse_together.contract.wire import APP_NAME

_ADDRESSED: Final = re.compile(r'"(pageId|sessionId|cursor|callId)": ')
"""Arguments that already say where a call goes."""
_PLACES: Final = frozenset({"{...}", "[...]"})


def of_listed(call: Call, listed: Collection[str]) -> str:
    """Spell a call of an unlisted tool as a call of `call_tool`, if that is listed."""
    if call.action in listed or CallTool.name() not in listed:
        return str(call)
    return f'{CallTool.name()} {{"name": "{call.action}", "arguments": {call.written}}}'


def on_page(call: Call, page_id: str) -> Call:
    """Return the call with this page, if there is one, and the call needs a page but names none."""
    named, written = catalogue.NAMES.get(call.action), call.written
    if not page_id or named is None:
        return call
    is_of_own_page = issubclass(named.action, PageAction) and named.action.unaddressed is Unaddressed.ONLY_PAGE
    if not is_of_own_page or _ADDRESSED.search(written) or written == "{...}":
        return call
    return Call(call.action, f'{{"pageId": {json.dumps(page_id)}{", " * (written != "{}")}{written[1:]}')


def as_command(call: Call) -> str:
    """Return the command that makes a call. Values that the caller must fill in stay three dots."""
    given = call.arguments
    words, values = ["run", call.action], given.get("values", {})
    if (
        call.action == RunFlow.name()
        and isinstance(values, dict)
        and all(isinstance(each, str) for each in values.values())
    ):
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
