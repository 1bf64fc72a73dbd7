"""The tools that a document itself declares (WebMCP), in texts of a bounded length.

Playwright's own list of them sends all that a page declares: 1,000 tools of 200 KB took 11 s. So our scripts ask the
browser."""

import re
from typing import Final, Literal

from playwright.async_api import Frame
from pydantic import JsonValue
from typing_extensions import TypedDict

from browse_together.contract.actions.page_tools import MOST_TOOL_NAME
from browse_together.contract.actions.traits import Effect
from browse_together.contract.cuts import cut
from browse_together.contract.errors import TimedOut
from browse_together.contract.model import Json
from browse_together.contract.next_calls import next_call
from browser_service.host import world
from browser_service.host.scripts import results, script
from browser_service.rules import tool_schemas

_LIST: Final = results.bounded(script("page_tools"))
_CALL: Final = results.bounded(script("page_tool_call"))
_APART: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+")
"""What divides the words of a name, such as `payNow` or `pay_now`."""
_MOST_WORDS: Final = 500
_MOST_TOOLS: Final = 20
_MOST_CHARACTERS: Final = 1_000
_MOST_OF_ONE: Final = 8_000
"""The most characters of a description, and of a schema, where only one tool is shown."""


class PageTool(TypedDict):
    """What a tool says of itself."""

    name: str
    description: str
    schema: str
    readOnly: bool
    consequential: bool
    untrustedContent: bool
    mark: str
    """It changes with anything that the tool says."""


class Found(TypedDict):
    """The first of the tools that were asked for, and how many there are."""

    count: int
    tools: list[PageTool]


class _Told(TypedDict):
    count: int | None
    tools: list[PageTool]


class Answer(TypedDict):
    """How the call of a tool ended, and what it gave."""

    end: Literal["done", "failed", "late", "missing", "changed", "untold"]
    gave: JsonValue


async def listed(frame: Frame, part: str) -> Found:
    """Return the tools with a text in their names."""
    found = await _found(frame, part, exact=False)
    return await _found(frame, found["tools"][0]["name"], exact=True) if found["count"] == 1 else found


async def named(frame: Frame, name: str) -> PageTool | None:
    """Return the tool of a name; None if there is none."""
    return next(iter((await _found(frame, name, exact=True))["tools"]), None)


def facts(tool: PageTool) -> dict[str, object]:
    """Return what the owner's rules about elements look at: a tool is one, and its words are those of its name and
    description. One that says that it is consequential may destroy."""
    words = f"{_APART.sub(' ', tool['name'])} · {tool['description']}"
    effect = {"effect": Effect.DESTROYS} if tool["consequential"] else {}
    return {"role": "tool", "words": cut(words, _MOST_WORDS), **effect}


async def call(frame: Frame, name: str, given: Json, within_ms: int, mark: str) -> Answer:
    """Call a tool, if it has this mark; any tool of the name, without a mark."""
    return results.read(Answer, await world.evaluate(frame, _CALL, [name, given, within_ms, mark]))


async def _found(frame: Frame, name: str, *, exact: bool) -> Found:
    most = _MOST_OF_ONE if exact else _MOST_CHARACTERS
    asked = [name, exact, _MOST_TOOLS, MOST_TOOL_NAME, most]
    found = results.read(_Told, await world.evaluate(frame, _LIST, asked))
    if found["count"] is None:
        raise untold()
    return {"count": found["count"], "tools": found["tools"]}


def untold() -> TimedOut:
    """Build the error for a document of which the browser does not tell the tools."""
    return TimedOut(
        "The browser did not tell in time which tools the page declares, nor whether it declares any.",
        hint=f"Chromium forgets to, in rare frames; loaded anew it tells: {next_call('reload_page')}.",
    )


def shown(tool: PageTool) -> Json:
    """Return a tool as replies show it: without what it does not say, and its schema as JSON, if all of that came."""
    schema = tool_schemas.read(tool["schema"])
    told = tool["schema"] if schema is None else schema
    said: Json = {"name": tool["name"], "description": tool["description"], "schema": told}
    marks = {key: True for key in ("readOnly", "consequential", "untrustedContent") if tool[key]}
    return {**{key: value for key, value in said.items() if value}, **marks}
