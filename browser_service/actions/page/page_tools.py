"""Lists and calls the tools that a page itself declares."""

import json
from typing import Final

from playwright.async_api import Frame

from browse_together.contract.actions import page_tools as tools
from browse_together.contract.actions.traits import CalledTool
from browse_together.contract.errors import BrowseError, ElementNotFound, ScriptExecutionFailed, StaleRevision, TimedOut
from browse_together.contract.model import Json
from browse_together.contract.next_calls import next_call
from browse_together.contract.quoting import quoted
from browser_service.host.elements import frames, page_tools
from browser_service.host.handle.page import BrowserPage
from browser_service.rules import tool_schemas

_LOOK: Final = "what it did so far stays, and a form may wait for its own button"


async def list_page_tools(page: BrowserPage, action: tools.ListPageTools) -> Json:
    part = action.part or ""
    found = await page_tools.listed(await page.elements.frame_or_main(action.frame, action.timeout), part)
    page.looks.note_tools({CalledTool(tool["name"], action.frame): tool["mark"] for tool in found["tools"]})
    shown = await page.files.shown_data("tools", [page_tools.shown(tool) for tool in found["tools"]], action.budget)
    narrower = f"narrow it: {next_call('list_page_tools', name='...')}"
    cut: Json = {"advice": narrower} if found["count"] > len(found["tools"]) else {}
    inside = [] if action.frame else await frames.with_some(page.playwright.frames, lambda each: _count(each, part))
    return {**shown, "count": found["count"], **frames.named(inside), **cut}


async def call_page_tool(page: BrowserPage, action: tools.CallPageTool) -> Json:
    frame = await page.elements.frame_or_main(action.frame, action.timeout)
    given, tool = tool_schemas.typed(action.arguments, action.schema_ or {}), await page_tools.named(frame, action.tool)
    page.note_tool(_needed(tool, given) if tool else None)
    if tool is not None and action.schema_ is not None:
        _check(action, action.schema_, tool, given)
    mark = page.looks.tool_mark(action.page_tool) or (tool["mark"] if tool else "")
    answer = await page_tools.call(frame, action.tool, given, action.timeout, mark)
    if answer["end"] != "done":
        raise _failure(page, action, answer)
    text = await page.files.shown("gave", json.dumps(answer["gave"], ensure_ascii=False), None)
    failed = isinstance(answer["gave"], dict) and answer["gave"].get("isError") is True
    what = "says that it failed" if failed else "answered"
    return {**text, "observed": f"the page's tool {quoted(action.tool)} {what}"}


def _check(action: tools.CallPageTool, known: Json, tool: page_tools.PageTool, given: Json) -> None:
    """Raise StaleRevision if a tool does not take what it took."""
    now, changes = tool_schemas.read(tool["schema"]), ["its schema cannot be read whole"]
    if now is not None:
        changes = tool_schemas.changes(known, now, given, consequential=tool["consequential"])
    if changes:
        message = f"The page's tool {quoted(action.tool)} takes something else by now: {'; '.join(changes)}."
        raise StaleRevision(f"{message} It was not called.", hint=f"See what it takes: {_listing(action)}.")


def _needed(tool: page_tools.PageTool, given: Json) -> Json | None:
    return tool_schemas.needed(tool["schema"], given, consequential=tool["consequential"])


def _listing(action: tools.CallPageTool) -> str:
    return next_call("list_page_tools", **({"frame": action.frame} if action.frame else {}))


async def _count(frame: Frame, part: str) -> int:
    return (await page_tools.listed(frame, part))["count"]


def _failure(page: BrowserPage, action: tools.CallPageTool, answer: page_tools.Answer) -> BrowseError:
    """Return what it means that a tool gave nothing."""
    tool = f"The page's tool {quoted(action.tool)}"
    there = _listing(action)
    match answer["end"]:
        case "missing":
            return ElementNotFound(f"There is no tool {quoted(action.tool)}.", hint=f"See what is there: {there}.")
        case "untold":
            return page_tools.untold()
        case "changed":
            message = f"{tool} has changed since it was listed. It was not called."
            return StaleRevision(message, hint=f"Read what it says now: {there}.")
        case "late":
            message = f"{tool} did not answer within {action.timeout} ms. It was told to stop; {_LOOK}."
            return TimedOut(message, hint=f"Look first: {next_call('snapshot')}.", details={"url": page.url})
    hint = f"Its own words may tell more: {next_call('get_console_messages')}."
    return ScriptExecutionFailed(f"{tool} failed: {quoted(str(answer['gave']))}", hint=hint)
