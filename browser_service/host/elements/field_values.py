"""Reads what an act left in a field, and compares it with what was given."""

import re
from decimal import Decimal
from typing import Final, TypeVar

from playwright.async_api import Locator
from typing_extensions import TypedDict

from browser_service.host.elements.field_watch import FIELD_CHARACTERS
from browser_service.host.elements.locators import evaluate_first
from browser_service.host.page.handle import BrowserPage
from browser_service.host.results import of_kind
from browser_service.host.scripts import call_of, script
from shared.cuts import cut
from shared.errors import WithoutEffect
from shared.model import Json
from shared.next_calls import next_call

_FIELD_AFTER: Final = script("field_after")
T = TypeVar("T")
_RESPONSES_S: Final = 0.5
_SIGNED_OR_DECIMAL: Final = re.compile(r"[-\u2212]\s*[\d.,']+|\d[\d']*[.,][\d.,']*")
"""Letters and digits alone do not tell these numbers apart: 1.5 and 15, -5 and 5."""


class _Shown(TypedDict):
    value: object
    shows: str


async def read_after_act(
    kind: type[T], page: BrowserPage, selector: str, element: Locator, expression: str, *, watch_ms: int
) -> T | None:
    """Evaluate an expression of an act's element once the page's scripts and their requests have settled; None if it is
    gone. The field is looked at once more with the caller's next call.

    A label stands for its control, as it does for Playwright's own acts.
    """
    source = call_of(_FIELD_AFTER, expression)
    field = await evaluate_first(_Shown, element, source, [0 if page.quiet else watch_ms, FIELD_CHARACTERS])
    if await page.wait_for_responses(_RESPONSES_S) or field is None:
        field = await evaluate_first(_Shown, element, source, [0, FIELD_CHARACTERS])
    if field is None:
        return None
    page.tab.field_watch.note(page.call.client_id, page.moves, selector, element, field["shows"])
    return of_kind(kind, field["value"])


def is_reformatted(shown: str, expected: str) -> bool:
    """Say if a field shows what was given, in another form: spaces, separators, case, digits in groups."""
    if _SIGNED_OR_DECIMAL.fullmatch(expected.strip()) and (numbers := _numbers(expected)):
        return bool(_numbers(shown) & numbers)
    if re.fullmatch(r"\W*", expected):
        return shown.strip() == expected.strip()
    return _letters(shown) == _letters(expected)


def shorten(text: str) -> str:
    return repr(text) if len(text) <= FIELD_CHARACTERS else f"{cut(text, FIELD_CHARACTERS)!r}… ({len(text)} characters)"


def not_as_given(message: str, selector: str | None = None, *, hint: str = "") -> WithoutEffect:
    """Build the error for a field that the page empties or rewrites."""
    details: Json = {"context": {"reason": "not as given"}, **({"selector": selector} if selector else {})}
    return WithoutEffect(
        message, hint=hint or f"See what the page says about it: {next_call('snapshot')}.", details=details
    )


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()


def _numbers(text: str) -> set[Decimal]:
    """Return the numbers that a text may mean: a point or comma separates thousands, or decimals."""
    found = None if len(text) > FIELD_CHARACTERS else re.search(r"([-\u2212]?)[^\d\-\u2212]*(\d[\d.,'\s]*)", text)
    if found is None:
        return set()
    digits = re.sub(r"['\s]", "", found.group(2)).rstrip(".,")
    numbers = set()
    for decimal in ("", ".", ","):
        groups, _, rest = digits.rpartition(decimal) if decimal and decimal in digits else (digits, "", "")
        whole = re.sub(r"[.,]", "", groups)
        thousands = re.fullmatch(r"\d+|\d{1,3}([.,]\d{3})+", groups)
        if thousands and (rest.isdecimal() or not rest):
            numbers.add(Decimal(f"{'-' if found.group(1) else ''}{whole}.{rest or 0}"))
    return numbers
