"""Reads what an act left in a field, and compares it with what was given."""

import asyncio
import re
import secrets
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, Generic, TypeVar

from playwright.async_api import ElementHandle, Locator
from typing_extensions import TypedDict

from browse_together.contract.cuts import cut
from browse_together.contract.errors import UnknownOutcome, WithoutEffect
from browse_together.contract.model import Json
from browse_together.contract.next_calls import next_call
from browser_service.host import world
from browser_service.host.elements.field_watch import FIELD_CHARACTERS
from browser_service.host.elements.locators import evaluate_all, is_ref, none_if_gone
from browser_service.host.errors import FORM_OF_ITS_TYPE
from browser_service.host.handle.page import BrowserPage
from browser_service.host.scripts import call_of, script
from browser_service.host.scripts.results import BadResult, of_kind

_PICKER_TYPES: Final = ("color", "date", "time", "datetime-local", "month", "week")
_TIME_TYPES: Final = ("time", "datetime-local")
_NO_SECONDS: Final = re.compile(r"(:\d\d):00(\.0+)?$")
_FIELD_AFTER: Final = script("field_after")
_OVER: Final = script("act_over")
_RESPONSES_S: Final = 0.5
_WORKERS_MS: Final = 100
_EVENT_S: Final = 0.01
_ANSWERS_S: Final = 0.2
T = TypeVar("T")
R = TypeVar("R")
_SIGNED_OR_DECIMAL: Final = re.compile(r"[-\u2212]\s*[\d.,']+|\d[\d']*[.,][\d.,']*")
"""Numbers that their letters and digits alone do not tell apart: 1.5 and 15, -5 and 5."""


class _Shown(TypedDict):
    value: object
    shows: str
    idle: bool
    """Whether the page's scripts have started nothing that comes later."""


@dataclass(frozen=True)
class Question(Generic[T]):
    """An expression to evaluate on a field after an act. `event` is the field's event that ends the act, if known."""

    kind: type[T]
    expression: str
    event: str | None
    fits: Callable[[T], bool]
    """Returns whether the field has the value that the act was to give it. If not, it is read again in any case."""
    enters: bool = False
    """Whether the act enters a text without pressing keys."""

    @property
    def source(self) -> str:
        return call_of(_FIELD_AFTER, self.expression)

    async def after(
        self,
        page: BrowserPage,
        selector: str | None,
        element: Locator | ElementHandle,
        act: Callable[[], Awaitable[R]],
    ) -> tuple[R, T | None]:
        """Perform the act. Return its result, and the answer once the page's scripts and requests have settled, or
        None if the field is gone. The caller's next call looks at the field once more.

        The question is sent before the act, so that the page knows what its scripts started at the event. A label
        stands for its control, as in Playwright's own acts.
        """
        if (
            self.event is None or selector is None or isinstance(element, ElementHandle) or page.playwright.workers
        ):  # only the page sees its workers' messages
            return await act(), await _read(page, selector, element, self, keys=self.enters)
        over, frame = secrets.token_hex(8), page.looks.document_of(selector, None) if is_ref(selector) else None
        target: world.Target = frame or await none_if_gone(world.keep(element)) or element
        awaited = {"event": self.event, "over": over, "meant": page.elements.meant_event if frame else None}
        looking = asyncio.ensure_future(_look(target, self, [0, FIELD_CHARACTERS, awaited, self.enters]))
        await world.begun(page.playwright)  # `looking` has sent its question by then
        try:
            result = await act()
            if not (await asyncio.wait({looking}, timeout=_EVENT_S))[0]:
                await none_if_gone(evaluate_all(object, target, _OVER, over))
                await asyncio.wait({looking}, timeout=_ANSWERS_S)
        finally:
            looking.cancel()
            seen = looking.result() if looking.done() and not looking.cancelled() and not looking.exception() else None
        if not seen or not self.fits(of_kind(self.kind, seen[0]["value"])):
            seen = None  # the page may have sent such an event itself before the act
        return result, await _read(page, selector, element, self, seen)


def watch_ms(page: BrowserPage) -> int:
    """Return for how many milliseconds to watch fields after an act. Only the page sees what its workers send."""
    return _WORKERS_MS if page.playwright.workers and not page.quiet else 0


async def _read(
    page: BrowserPage,
    selector: str | None,
    element: Locator | ElementHandle,
    question: Question[T],
    seen: list[_Shown] | None = None,
    *,
    keys: bool = False,
) -> T | None:
    """Return what was `seen` of a field, or look at it. Look again after the page's scripts have had what they waited
    for, and answers to what they sent. Raises UnknownOutcome if the page overwrote what this needs."""
    try:
        if seen is None:
            seen = await _look(element, question, [watch_ms(page), FIELD_CHARACTERS, None, keys])
        if seen and seen[0]["idle"]:
            page.observer.note_idle()
        if await page.observer.wait_for_effects(_RESPONSES_S) or not seen:
            seen = await _look(element, question, [0, FIELD_CHARACTERS, None, False])
    except BadResult as error:
        raise UnknownOutcome(f"The act was done; what the field shows now is not known. {error}") from error
    if not seen:
        return None
    if selector is not None and isinstance(element, Locator):
        page.tab.field_watch.note(page.call.client_id, page.observer.moves, selector, element, seen[0]["shows"])
    return of_kind(question.kind, seen[0]["value"])


async def _look(target: world.Target, question: Question[T], asked: list[object]) -> list[_Shown] | None:
    """Return the script's result, or None if the document went. The list is empty if there was no field."""
    return await none_if_gone(evaluate_all(list[_Shown], target, question.source, asked))


def is_reformatted(shown: str, expected: str) -> bool:
    """Return whether a field shows the given text in another form: spaces, separators, case, grouped digits."""
    if _SIGNED_OR_DECIMAL.fullmatch(expected.strip()) and (numbers := _numbers(expected)):
        return bool(_numbers(shown) & numbers)
    if re.fullmatch(r"\W*", expected):
        return shown.strip() == expected.strip()
    return _letters(shown) == _letters(expected)


def in_form_of(type_: str, text: str) -> str:
    """Return a text in the form of an input type: times with a T, and without zero seconds."""
    return _NO_SECONDS.sub(r"\1", text.strip().replace(" ", "T", 1)) if type_ in _TIME_TYPES else text


def hint_for(types: Collection[str]) -> str:
    """Return a hint on what these inputs take, if all of them take only a certain form."""
    if types and all(each in {"range", "slider"} for each in types):
        return "It takes the values of its steps alone, between its ends."
    return FORM_OF_ITS_TYPE if types and all(each in _PICKER_TYPES for each in types) else ""


def cut_by(most: int, shown: str, text: str) -> str:
    """Say that a field's maxlength cut a text, if it did: a form that counts as a line break two characters may have
    less of it."""
    is_cut = 0 <= most < len(text) and len(shown) <= most and text.startswith(shown) and shown
    return f"it takes {most} character{'s' * (most != 1)} at most (maxlength), not {len(text)}" if is_cut else ""


def shorten(text: str) -> str:
    return repr(text) if len(text) <= FIELD_CHARACTERS else f"{cut(text, FIELD_CHARACTERS)!r}… ({len(text)} characters)"


def not_as_given(message: str, selector: str | None = None, *, hint: str = "") -> WithoutEffect:
    """Make the error for a field that the page empties or rewrites."""
    details: Json = {"context": {"reason": "not as given"}, **({"selector": selector} if selector else {})}
    return WithoutEffect(
        message, hint=hint or f"See what the page says about it: {next_call('snapshot')}.", details=details
    )


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()


def _numbers(text: str) -> set[Decimal]:
    """Return the numbers that a text may mean, with a point or comma for thousands or for decimals."""
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
