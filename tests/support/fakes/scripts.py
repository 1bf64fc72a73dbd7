"""Runs the few scripts that tests without a browser use. It knows nothing else of JavaScript."""

import asyncio
import json
import math
import re
from collections.abc import Callable
from typing import Any, Protocol

from playwright.async_api import Error as PlaywrightError

from tests.support.fakes.document import Document

_NEVER = re.compile(r"(\(\) => )?new Promise\(\(\) => \{\}\)")
_SUM = re.compile(r"(\d+) \+ (\d+)")
_COUNTED = re.compile(r"(?:window|document)\.(\w+) = \((?:window|document)\.\w+ \|\| 0\) \+ 1")
_VARIABLE = re.compile(r"window\.(\w+)")
_TITLED = re.compile(r"document\.title = '(.*)'")
_VALUE = re.compile(r"document\.querySelector\('(.+)'\)\.value")
_RENAMED = re.compile(r"document\.querySelector\('(.+)'\)\.id = '(.+)'")
_FETCHED = re.compile(r"fetch\('(\S+?)'(?:, \{method: '(\w+)'(?:, body: '(.*)')?\})?\)\.then\(r => r\.status\)")
_VALUES = {
    "NaN": math.nan,
    "[1, Infinity]": [1, math.inf],
    "undefined": None,
    "() => {}": None,
    "10n": 10,
    "new Map([[1, 2]])": {},
    "window": "ref: <Window>",
}
"""For scripts whose values JSON cannot express, what Playwright returns."""
_DIALOG = re.compile(r"(alert|confirm)\('(.*)'\)")


class Window(Protocol):
    """What scripts can reach."""

    document: Document

    @property
    def cookie(self) -> str: ...

    async def ask(self, kind: str, message: str) -> bool: ...

    async def fetch(self, url: str, method: str, body: str | None) -> int: ...


Script = Callable[[Window, re.Match[str]], Any]  # Any: whatever a script gives


def _count(page: Window, found: re.Match[str]) -> int:
    kept = page.document.scripts
    kept[found[1]] = kept.get(found[1], 0) + 1
    return kept[found[1]]


def _title(page: Window, found: re.Match[str]) -> str:
    page.document.title = found[1]
    return found[1]


def _value(page: Window, found: re.Match[str]) -> str:
    element = page.document.find(found[1])
    if element is None:
        raise PlaywrightError("Page.evaluate: TypeError: Cannot read properties of null (reading 'value')")
    return element.value


def _rename(page: Window, found: re.Match[str]) -> str:
    element = page.document.find(found[1])
    if element is not None:
        element.attributes["id"] = found[2]
    return found[2]


_KNOWN: list[tuple[re.Pattern[str], Script]] = [
    (_SUM, lambda _, found: int(found[1]) + int(found[2])),
    (_COUNTED, _count),
    (_TITLED, _title),
    (re.compile(r"document\.title"), lambda page, _: page.document.title),
    (re.compile(r"document\.cookie"), lambda page, _: page.cookie),
    (_VARIABLE, lambda page, found: page.document.scripts.get(found[1])),
    (_VALUE, _value),
    (_RENAMED, _rename),
]


def packed(value: object) -> str:
    """Write a value in the form in which pages give their results."""
    return f"v1 {json.dumps(_spelled(value))}"


def _spelled(value: object) -> object:
    if isinstance(value, list):
        return [*map(_spelled, value)]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity"
    return value


async def evaluate(page: Window, text: str, arg: object) -> Any:  # Any: whatever a script gives
    """Return the value of a script. Raises Playwright's error for a script that is not known here."""
    if _NEVER.fullmatch(text):
        return await asyncio.get_running_loop().create_future()
    if text == "v => v":
        return arg
    if dialog := _DIALOG.fullmatch(text):
        return await page.ask(dialog[1], dialog[2])
    if fetched := _FETCHED.fullmatch(text):
        return await page.fetch(fetched[1], fetched[2] or "GET", fetched[3])
    for pattern, script in _KNOWN:
        if found := pattern.fullmatch(text):
            return script(page, found)
    try:
        return _VALUES[text] if text in _VALUES else json.loads(text)
    except ValueError:
        raise PlaywrightError(f"Page.evaluate: the fake browser knows no such script: {text[:100]}") from None
