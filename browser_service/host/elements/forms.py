"""Fills the fields of a form: finds out their kinds, fills them, and reports what they have afterwards."""

import asyncio
import contextlib
import itertools
from collections import deque
from collections.abc import Awaitable, Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeVar, cast

from playwright.async_api import ElementHandle, Locator
from playwright.async_api import Error as PlaywrightError

from browser_service.host import errors
from browser_service.host.elements import explanation
from browser_service.host.elements.fields_left import SHOWN
from browser_service.host.elements.read_back import is_reformatted, not_as_given, shorten
from browser_service.host.page.handle import BrowserPage
from browser_service.host.scripts import script
from shared.actions.combining import FillForm, FormField
from shared.actions.interaction import Fill
from shared.errors import BrowseError, UnknownOutcome, ValidationFailed
from shared.model import Json
from shared.next_calls import next_call

T = TypeVar("T")
FieldState = dict[str, Any]  # Any: JSON, of a page

_WAIT_MS: Final = 5_000
_ANSWERED_WITHIN_S: Final = 0.5
_ON_ITS_WAY: Final = f"See where it arrives: {next_call('snapshot', timeout=30000)}. Then fill what is left."
_STAYS_MS: Final = 100
"""All that was filled is watched this long before the reply."""
_YES_OR_NO: Final = {"true": True, "false": False}
_LOOK: Final = script("form_look")
_SET: Final = script("form_fill")
_REFUSED: Final = {
    "file": (
        "is a file input",
        f"Give it its files by themselves: {next_call('upload_file', selector='...', files=[...])}.",
    ),
    "button": ("is a button", "Leave it out, or click it when all are filled: give it as submit."),
}
_TAKES: Final = {
    "text": "text",
    "tick": "true or false",
    "radio": "true, or the value or label of the one to choose",
    "select": "an option's value or label, or a list of them",
}


@dataclass
class FormEntry:
    """Is one field of the call, and its element."""

    asked: FormField
    place: str
    locator: Locator
    handle: ElementHandle | None = None
    """None if there is no such element yet: an earlier field may make it appear."""
    kind: str = ""
    wanted: Any = None  # Any: what a field of that kind takes


class Form:
    """Fills the fields of one call."""

    def __init__(self, page: BrowserPage, action: FillForm) -> None:
        self._page = page
        self._action = action
        self._wait_ms = min(_WAIT_MS, action.timeout)
        self._fields: list[FormEntry] = []
        self._filled: list[str] = []

    async def find_kinds(self) -> None:
        """Find out all kinds before the first is filled: if one cannot be filled, the call is refused."""
        self._fields = [
            await self._field(f"fields.{number}", asked) for number, asked in enumerate(self._action.fields)
        ]
        await self._tell_apart(self._fields)

    async def fill(self) -> None:
        left = deque(self._fields)
        while left:
            at_once = [*itertools.takewhile(lambda field: field.handle and field.kind in {"text", "select"}, left)]
            filled = await _set_at_once(at_once) if at_once else 0
            for _ in range(filled):
                self._filled.append(left.popleft().asked.selector)
            if left and filled < max(1, len(at_once)):
                await self._fill_one(left[0])
                self._filled.append(left.popleft().asked.selector)

    async def report(self) -> Json:
        """Report what each field has now, once the answers to what was sent meanwhile have had their effect."""
        if self._page.observer is not None:
            await self._page.observer.answered(_ANSWERED_WITHIN_S)
        looks = await _states_of([field.handle for field in self._fields if field.handle], watch_ms=_STAYS_MS)
        now = [
            (field, look if look["there"] else await self._reread(field))
            for field, look in zip(self._fields, looks, strict=True)
        ]
        for field, look in now:
            if look is not None and look["field"] is not None:
                radio, found = field.kind == "radio", look["field"]
                selector = found["selector"] if radio else field.asked.selector
                self._page.filled(selector, found["frame"] if radio else self._action.frame, found)
                self._note(field, look)
        as_given = [field.asked.selector for field, look in now if _is_set(field, look)]
        said = "; ".join(
            ([f"as given: {', '.join(as_given)}"] if as_given else [])
            + [f"{field.asked.selector} {_describe(field, look)}" for field, look in now if not _is_set(field, look)]
        )
        if any(_is_refused(field, look) for field, look in now):
            unsent = " Nothing was submitted." if self._action.submit else ""
            raise not_as_given(f"Not every field has what it was given: {said}.{unsent}")
        return {
            "fields": [{"selector": field.asked.selector, **_value_of(field, look)} for field, look in now],
            "observed": said,
        }

    def _note(self, field: FormEntry, look: FieldState) -> None:
        """Have the field looked at again, unless it is submitted, which may empty it."""
        if not self._action.submit:
            page = self._page
            page.fields_left.note(page.call.client_id, page.moves, field.asked.selector, field.locator, look["shows"])

    async def submit(self, selector: str) -> None:
        button = await self._field("submit", FormField(selector=selector, value=True))
        await self._attempt(button, self._click(button))

    async def _click(self, button: FormEntry) -> None:
        try:
            await button.locator.click(timeout=self._wait_ms)
        except PlaywrightError as error:
            if not self._page.led_on(error):
                raise

    async def _reread(self, field: FormEntry) -> FieldState | None:
        """Look at the element again, because the page may have replaced it."""
        return next(iter(await _states_of((await self._attempt(field, field.locator.element_handles()))[:1])), None)

    async def _field(self, place: str, asked: FormField) -> FormEntry:
        with self._named_errors(place):
            locator = await self._page.element(asked.selector, self._action.frame, strict=True)
        return FormEntry(asked, place, locator)

    async def _fill_one(self, field: FormEntry) -> None:
        if field.handle is None:
            await self._attempt(field, field.locator.first.wait_for(state="attached", timeout=self._wait_ms))
            await self._tell_apart([field])
        await self._attempt(field, _set(field, self._wait_ms))

    async def _tell_apart(self, fields: list[FormEntry]) -> None:
        handles = await asyncio.gather(*(self._attempt(field, field.locator.element_handles()) for field in fields))
        looks = iter(await _states_of([handle for found in handles for handle in found]))
        for field, found in zip(fields, handles, strict=True):
            await self._set_kind(field, found, [next(looks) for _ in found])

    async def _set_kind(self, field: FormEntry, handles: list[ElementHandle], looks: list[FieldState]) -> None:
        """Note what a field is. Of several radio buttons it is the named one."""
        chosen = 0
        if len(looks) > 1 and {look["kind"] for look in looks} == {"radio"}:
            chosen = next((number for number, look in enumerate(looks) if field.asked.value in look["names"]), -1)
            field.locator = field.locator.nth(chosen)
        elif len(looks) > 1:
            await self._attempt(field, field.locator.evaluate("() => 0"))  # its error names the candidates
        if handles:
            field.handle, field.kind = handles[chosen], looks[chosen]["kind"]
            with self._named_errors(field.place):
                field.wanted = _wanted(field, looks[chosen])

    async def _attempt(self, field: FormEntry, work: Awaitable[T]) -> T:
        with self._named_errors(field.place):
            try:
                return await work
            except PlaywrightError as error:
                if errors.is_closed(error):
                    raise
                if going := self._page.under_way:
                    raise UnknownOutcome(
                        f"{field.asked.selector} was under way when the page began to go to {going}, "
                        "whose server has not answered yet.",
                        hint=_ON_ITS_WAY,
                    ) from error
                asked = Fill(selector=field.asked.selector, frame=self._action.frame, value="", timeout=self._wait_ms)
                raise await explanation.explain(error, self._page, asked) from error

    @contextlib.contextmanager
    def _named_errors(self, place: str) -> Iterator[None]:
        """Add to errors the field's name, and the fields that are filled."""
        try:
            yield
        except BrowseError as error:
            before = f"Filled before: {', '.join(self._filled)}." if self._filled else "Nothing was filled."
            error.message = f"{place}: {error.message.removesuffix('.')}. {before}"
            context = error.details.get("context")
            context = context if isinstance(context, dict) else {}
            error.details["context"] = {**context, "field": place, "filled": [*self._filled]}
            raise


async def _states_of(handles: list[ElementHandle], watch_ms: int = 0) -> list[FieldState]:
    """Read what fields are and have, in one turn of the page if they are of one document, as most are."""
    if not handles:
        return []
    found: list[FieldState]
    try:
        found = await handles[0].evaluate(_LOOK, [handles, watch_ms, SHOWN])
    except PlaywrightError:
        found = [(await handle.evaluate(_LOOK, [[handle], 0, SHOWN]))[0] for handle in handles]
    return found


async def _set_at_once(fields: list[FormEntry]) -> int:
    """Fill the fields and return how many are filled: none if they are of several documents."""
    handles = [field.handle for field in fields]
    wanted = [
        [field.wanted] if field.kind == "select" and isinstance(field.wanted, str) else field.wanted for field in fields
    ]
    try:
        return int(await cast("ElementHandle", handles[0]).evaluate(_SET, [handles, wanted]))
    except PlaywrightError as error:
        if errors.is_closed(error):
            raise
        return 0


async def _set(field: FormEntry, wait_ms: int) -> None:
    if field.kind == "text":
        await field.locator.fill(field.wanted, timeout=wait_ms)
    elif field.kind == "select":
        await field.locator.select_option(field.wanted, timeout=wait_ms)
    else:
        await field.locator.set_checked(field.wanted, timeout=wait_ms)


def _wanted(field: FormEntry, look: FieldState) -> Any:  # Any: what a field of that kind takes
    """Convert the value for the field. Raises ValidationFailed for one that it does not take."""
    value, kind = field.asked.value, field.kind
    if kind in _REFUSED:
        what, hint = _REFUSED[kind]
        raise _unfit(f"{field.asked.selector} {what}", hint)
    if kind == "tick" and isinstance(wanted := _YES_OR_NO.get(str(value).lower()), bool):
        return wanted
    if kind == "radio" and (value is True or value in look["names"]):
        return True
    if kind == "select" and not isinstance(value, bool):
        return value if isinstance(value, list) else str(value)
    if kind == "text" and not isinstance(value, bool | list):
        return str(value)
    hint = f"Its names: {', '.join(look['names'])}." if kind == "radio" else f"Give it {_TAKES[kind]}."
    raise _unfit(f"{field.asked.selector} takes {_TAKES[kind]}", hint)


def _unfit(problem: str, hint: str) -> ValidationFailed:
    return ValidationFailed(f"{problem}.", hint=hint)


def _is_set(field: FormEntry, look: FieldState | None) -> bool:
    if look is None:
        return False
    if field.kind in {"tick", "radio"}:
        return bool(look["checked"] is field.wanted)
    if field.kind == "text":
        return bool(look["value"] == field.wanted)
    wanted = {*field.wanted} if isinstance(field.wanted, list) else {field.wanted}
    return wanted in ({*look["value"]}, {*look["labels"]})


def _is_refused(field: FormEntry, look: FieldState | None) -> bool:
    """Say if the page shows something else, and not only in another form."""
    if look is None or _is_set(field, look):
        return False
    return field.kind != "text" or look["secret"] or not is_reformatted(look["value"], field.wanted)


def _value_of(field: FormEntry, look: FieldState | None) -> Json:
    """Return what it has now, without passwords."""
    if look is None:
        return {"gone": True}
    if field.kind in {"tick", "radio"}:
        return {"checked": look["checked"]}
    return {"characters": len(look["value"])} if look["secret"] else {"value": look["value"]}


def _describe(field: FormEntry, look: FieldState | None) -> str:
    if look is None:
        return "is no longer there"
    if field.kind in {"tick", "radio"}:
        return f"is {'checked' if look['checked'] else 'not checked'} now"
    if look["secret"]:
        return f"has {len(look['value'])} characters now, which are not those given"
    if not _is_refused(field, look):
        return f"is written as {look['value']!r}"
    return f"shows {shorten(str(look['value']))} instead of {shorten(str(field.wanted))}"
