"""Checks that an element, the URL or a request is as a caller expects; if not, tells what is there instead."""

import asyncio
from collections.abc import Callable
from types import MappingProxyType
from typing import Final

from playwright.async_api import TimeoutError as PlaywrightTimeout
from typing_extensions import TypedDict

from browse_together.contract.actions.waiting import Expect
from browse_together.contract.errors import NotAsExpected, TimedOut
from browse_together.contract.quoting import quoted
from browser_service.host.elements import locators
from browser_service.host.handle.page import BrowserPage
from browser_service.host.network.patterns import UrlPattern
from browser_service.host.network.traffic import RequestRecord, RequestView, RequestWait
from browser_service.host.scripts import script

_EXPECTED: Final = script("expected")
_POLL_S: Final = 0.1
_MOST_TEXT: Final = 100_000
_MOST_NAMED: Final = 5


class _Element(TypedDict):
    visible: bool
    enabled: bool
    checked: bool | None
    secret: bool
    value: str | None
    text: str


class _Found(TypedDict):
    count: int
    element: _Element | None


class _Seen(TypedDict):
    value: _Found


_STATES: Final = MappingProxyType[str, tuple[Callable[[_Element], bool | None], str, str]](
    {
        "visible": (lambda e: e["visible"], "visible", "not visible"),
        "enabled": (lambda e: e["enabled"], "enabled", "disabled"),
        "checked": (lambda e: e["checked"], "checked", "unchecked"),
    }
)
"""How each state is read, and what it is called when it is so and when it is not."""
_OPPOSITES: Final = MappingProxyType({"hidden": "visible", "disabled": "enabled", "unchecked": "checked"})


async def met(page: BrowserPage, action: Expect) -> str:
    """Say what was observed once it is as expected. Raises NotAsExpected, or ElementNotFound, if it never is."""
    if action.request is not None:
        return await _request(page, action, action.request)
    if action.pattern is not None:
        return await _url(page, action, action.pattern)
    return await _element(page, action, action.selector or "")


async def _element(page: BrowserPage, action: Expect, selector: str) -> str:
    found = await page.elements.find(selector, action.frame, strict=True, waits=False)
    await locators.check_syntax(found, selector, page.playwright)
    clock = asyncio.get_running_loop().time
    deadline = clock() + action.timeout / 1000
    while True:
        seen = await locators.none_if_gone(locators.evaluate_all(_Seen, found, _EXPECTED, _MOST_TEXT))
        told = "the document is being replaced" if seen is None else _told(action, seen["value"])
        if seen is not None and _holds(action, seen["value"]):
            return f"{selector}: {told}"
        if clock() >= deadline:
            break
        await asyncio.sleep(_POLL_S)  # nothing announces every change of an element
    if seen is not None and not seen["value"]["count"] and action.to not in {"count", "attached"}:
        await found.first.wait_for(state="attached", timeout=1)  # its error names what is there instead
    wanted = action.to if action.value is None else f"{action.to} {quoted(str(action.value))}"
    raise _not_so(page, f"{selector} to be {wanted}" if action.value is None else f"{selector} to have {wanted}", told)


def _holds(action: Expect, found: _Found) -> bool:
    to, element = action.to, found["element"]
    if to == "count":
        return found["count"] == action.value
    if element is None:
        return to in {"hidden", "detached"}
    if to in {"attached", "detached"}:
        return to == "attached"
    if to in {"text", "value"}:
        return _compares(action, element)
    read, _, _ = _STATES[_OPPOSITES.get(to, to)]
    return read(element) is (to not in _OPPOSITES)


def _compares(action: Expect, element: _Element) -> bool:
    expected = str(action.value)
    if action.to == "value":
        return element["value"] == expected
    return " ".join(expected.split()) in element["text"]


def _told(action: Expect, found: _Found) -> str:
    """Say what was found, in the terms of what was asked."""
    element = found["element"]
    if action.to == "count" or element is None:
        return f"{found['count']} elements match" if found["count"] else "no element matches"
    if action.to in {"attached", "detached"}:
        return "it is attached"
    if action.to == "text":
        return f"its text is {quoted(element['text'])}"
    if action.to == "value":
        return _value_told(element)
    read, yes, no = _STATES[_OPPOSITES.get(action.to, action.to)]
    if (state := read(element)) is None:
        return "it is no checkbox, radio button or switch"
    return f"it is {yes if state else no}"


def _value_told(element: _Element) -> str:
    if element["secret"]:
        return "it is a field for a secret, whose value is not read"
    return "it is no field" if element["value"] is None else f"its value is {quoted(element['value'])}"


async def _url(page: BrowserPage, action: Expect, glob: str) -> str:
    pattern = UrlPattern(glob, "url")
    try:
        await page.playwright.wait_for_url(pattern.matches, wait_until="commit", timeout=action.timeout)
    except PlaywrightTimeout:
        raise _not_so(page, f"a URL like {glob}", f"the page is at {page.url}") from None
    return f"the page is at {page.url}"


async def _request(page: BrowserPage, action: Expect, request: str) -> str:
    """Wait for a request since the caller's last act, or from now on if that was another's."""
    traffic, (acted, _) = page.settings.network.traffic, page.record.last_act
    before = page.record.requests_before_act if acted == page.call.client_id else traffic.count
    method, _, glob = request.rpartition(" ")
    pattern, view = UrlPattern(glob, "request"), RequestView(page.call.client_id, origins=tuple(page.call.origins))

    def matches(sent: RequestRecord) -> bool:
        return (
            view.knows(sent)
            and method.strip() in {"", sent.request.method}
            and pattern.matches(sent.url(view.client_id))
            and sent.has_status(action.status)
        )

    async with traffic.expect(RequestWait(action.name(), action.timeout, view, matches)) as arrival:
        try:
            sent = next(filter(matches, traffic.since(before)), None) or await arrival()
        except TimedOut:
            known = [each for each in traffic.since(before) if view.knows(each)][-_MOST_NAMED:]
            told = ", ".join(_line(each, view) for each in known) or "nothing"
            wanted = f"{request} with {action.status}" if action.status else request
            raise _not_so(page, f"a request {wanted}", f"sent since your last act: {told}") from None
    return _line(sent, view)


def _line(sent: RequestRecord, view: RequestView) -> str:
    return f"{sent.request.method} {sent.url(view.client_id)} -> {sent.state}"


def _not_so(page: BrowserPage, expected: str, found: str) -> NotAsExpected:
    context = {"expected": expected, "found": found}
    return NotAsExpected(f"Expected {expected}; {found}.", details={"url": page.url, "context": {**context}})
