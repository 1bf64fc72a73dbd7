"""What an act left in a field: whether it is what was given, and whether the page takes it back a moment later."""

import asyncio
import re
import time
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Locator

from browser_service.host import errors
from browser_service.host.elements.locators import CONTROL, in_page
from shared.calls import Json
from shared.errors import WithoutEffect

if TYPE_CHECKING:
    from browser_service.host.page.handle import BrowserPage

_ANSWERS_WITHIN_S: Final = 0.5
_MOST: Final = 8
"""Fields of a page that are looked at again."""
_LOOK_WITHIN_S: Final = 0.3
_READS_FOR_S: Final = 3.0
"""How long calls that only read leave a field for the next one to look at again."""
SHOWN: Final = 120
_SIGNED_OR_DECIMAL: Final = re.compile(r"[-\u2212]\s*[\d.,']+|\d[\d']*[.,][\d.,']*")
"""Numbers that letters and digits alone do not tell apart: 1.5 and 15, -5 and 5."""


SHOWS: Final = f"""e => {{
  if (e.type === 'password') return `${{e.value.length}} characters`;
  const ticks = '[type=checkbox], [type=radio], [role=checkbox], [role=radio], [role=switch]';
  if (e.matches(ticks)) return (e.checked ?? e.ariaChecked === 'true') ? 'checked' : 'not checked';
  const text = e.selectedOptions ? [...e.selectedOptions].map(o => o.label).join(', ') : e.value ?? e.innerText ?? '';
  return `'${{text.length > {SHOWN} ? text.slice(0, {SHOWN}) + `…' (${{text.length}} characters)` : text + "'"}}`;
}}"""
"""What a field has, in words; of a password how long it is."""

WATCH: Final = """async (fields, ms, shows) => {
  const turn = ms => new Promise(then => setTimeout(then, ms)), all = () => fields().map(shows).join('\\n');
  const answers = e => e && ([...e.attributes].some(a => a.name.startsWith('on')) || answers(e.parentElement));
  await turn(0);
  const first = all(), until = performance.now() + (document.scripts.length || fields().some(answers) ? ms : 0);
  while (performance.now() < until && all() === first) await turn(16);
}"""
"""Waits while fields show what they do, within bounds, and not at all on a page that has no scripts."""


async def left(page: "BrowserPage", selector: str, element: Locator, expression: str, *, watch_ms: int) -> Any:
    """What an expression gives of an act's element once the page's scripts had their turn and the requests that they
    sent are answered; None where it is gone. Its field is looked at once more with the caller's next call.

    A label stands for its control, as it does for Playwright's own acts. Any: JSON, of a page.
    """
    found = await _read(element, expression, 0 if page.quiet else watch_ms)
    if await page.answered(_ANSWERS_WITHIN_S) or found is None:
        found = await _read(element, expression, 0)
    if found is None:
        return None
    page.entry.fields_left.note(page.call.client_id, page.moves, selector, element, str(found["shows"]))
    return found["value"]


async def _read(element: Locator, expression: str, watch_ms: int) -> Any:  # Any: JSON, of a page
    """The act is done, so this waits for nothing but turns of the page's own scripts."""
    script = f"""async (found, ms) => {{
      const fields = () => found.slice(0, 1).filter(e => e.isConnected).map({CONTROL}), shows = {SHOWS};
      await ({WATCH})(fields, ms, shows);
      return fields().map(e => ({{value: ({expression})(e), shows: shows(e)}}));
    }}"""
    try:
        return next(iter(await in_page(element, script, watch_ms)), None)
    except PlaywrightError as error:
        if errors.is_closed(error):
            raise
        return None


@dataclass(frozen=True)
class _Note:
    at: float
    moves: int
    element: Locator
    shows: str


class FieldsLeft:
    """The fields of one page as acts left them, until the next act."""

    def __init__(self) -> None:
        self._notes: dict[tuple[str, str], _Note] = {}

    def note(self, client_id: str, moves: int, selector: str, element: Locator, shows: str) -> None:
        """An act left a field so, when its page had moved that often."""
        self._notes.pop((client_id, selector), None)
        self._notes[client_id, selector] = _Note(time.monotonic(), moves, element, shows)
        if len(self._notes) > _MOST:
            del self._notes[next(iter(self._notes))]

    async def look(self, client_id: str, moves: int, *, acts: bool) -> list[str]:
        """What a client left and the page shows otherwise by now, in words; each is told once. An act ends it: what
        fields show from then on may be its doing."""
        if not self._notes:
            return []
        now = time.monotonic()
        mine = {key: note for key, note in self._notes.items() if key[0] == client_id and note.moves == moves}
        shown = await asyncio.gather(*(_shows(note.element) for note in mine.values()))
        lost: list[str] = []
        for (key, note), shows in zip(mine.items(), shown, strict=True):
            if shows not in {note.shows, None}:
                lost.append(f"{key[1]} was left as {note.shows}, and is {shows} by now.")
            if shows != note.shows or now - note.at > _READS_FOR_S:
                self._notes.pop(key, None)
        if acts:
            self._notes.clear()
        return lost


async def _shows(element: Locator) -> str | None:
    """None where that cannot be seen at once: the element went, or its page is busy."""
    script = f"found => found.slice(0, 1).map({CONTROL}).map({SHOWS})"
    try:
        async with asyncio.timeout(_LOOK_WITHIN_S):
            return next(iter(await in_page(element, script)), None)
    except (TimeoutError, PlaywrightError):
        return None


def formatted(shown: str, given: str) -> bool:
    """Whether a field shows what was given, only written otherwise: spaces, separators, case, digits in groups."""
    if _SIGNED_OR_DECIMAL.fullmatch(given.strip()) and (numbers := _numbers(given)):
        return bool(_numbers(shown) & numbers)
    if re.fullmatch(r"\W*", given):
        return shown.strip() == given.strip()
    return _letters(shown) == _letters(given)


def shortened(text: str) -> str:
    return repr(text) if len(text) <= SHOWN else f"{text[:SHOWN]!r}… ({len(text)} characters)"


def not_as_given(said: str, selector: str | None = None, *, hint: str = "") -> WithoutEffect:
    """The error for a field that the page empties or rewrites."""
    details: Json = {"context": {"reason": "not as given"}, **({"selector": selector} if selector else {})}
    return WithoutEffect(said, hint=hint or "See what the page says about it: snapshot {}.", details=details)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()


def _numbers(text: str) -> set[Decimal]:
    """The numbers that a text may mean: a point or comma parts thousands, or decimals."""
    found = None if len(text) > SHOWN else re.search(r"([-\u2212]?)[^\d\-\u2212]*(\d[\d.,'\s]*)", text)
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
