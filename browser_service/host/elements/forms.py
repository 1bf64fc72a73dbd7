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
from browser_service.host.act_check import check_element
from browser_service.host.elements import explanation
from browser_service.host.elements.field_values import is_reformatted, not_as_given, shorten
from browser_service.host.elements.field_watch import FIELD_CHARACTERS
from browser_service.host.elements.secret_values import to_type
from browser_service.host.page.handle import BrowserPage
from browser_service.host.scripts import script
from shared.actions.arguments import SecretRef
from shared.actions.combining import FillForm, FormField
from shared.actions.interaction import Fill
from shared.errors import BrowseError, UnknownOutcome, ValidationFailed
from shared.model import Json
from shared.next_calls import next_call

T = TypeVar("T")
FieldState = dict[str, Any]  # Any: JSON, of a page

_WAIT_MS: Final = 5_000
_RESPONSES_S: Final = 0.5
_NAVIGATION_HINT: Final = f"See where it arrives: {next_call('snapshot', timeout=30000)}. Then fill what is left."
_WATCH_MS: Final = 100
"""All that was filled is watched this long before the reply."""
_TICKS: Final = {"true": True, "false": False}
_FIELD_STATES: Final = script("form_look")
_FILL_FIELDS: Final = script("form_fill")
_REFUSED_KINDS: Final = {
    "file": (
        "is a file input",
        f"Give it its files by themselves: {next_call('upload_file', selector='...', files=[...])}.",
    ),
    "button": ("is a button", "Leave it out, or click it when all are filled: give it as submit."),
}
_ACCEPTED_VALUES: Final = {
    "text": "text",
    "tick": "true or false",
    "radio": "true, or the value or label of the one to choose",
    "select": "an option's value or label, or a list of them",
}


@dataclass
class FormEntry:
    """Is one field of the call, and its element."""

    request: FormField
    place: str
    locator: Locator
    handle: ElementHandle | None = None
    """None if there is no such element yet: an earlier field may make it appear."""
    kind: str = ""
    input: Any = None  # Any: what a field of that kind takes

    @property
    def is_secret(self) -> bool:
        """Say if it gets a named secret, whose text no reply has."""
        return isinstance(self.request.value, SecretRef)


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
            await self._locate(f"fields.{number}", request) for number, request in enumerate(self._action.fields)
        ]
        await self._find_kind_of(self._fields)

    async def fill(self) -> None:
        left = deque(self._fields)
        while left:
            ready = [*itertools.takewhile(_can_be_filled_with_others, left)]
            filled = await _fill_all(ready) if ready else 0
            for _ in range(filled):
                self._filled.append(left.popleft().request.selector)
            if left and filled < max(1, len(ready)):
                await self._fill_one(left[0])
                self._filled.append(left.popleft().request.selector)

    async def report(self) -> Json:
        """Report what each field has now, once the answers to what was sent meanwhile have had their effect."""
        if self._page.observer is not None:
            await self._page.observer.wait_for_responses(_RESPONSES_S)
        states = await _states_of([field.handle for field in self._fields if field.handle], watch_ms=_WATCH_MS)
        results = [
            (field, state if state["there"] else await self._reread(field))
            for field, state in zip(self._fields, states, strict=True)
        ]
        for field, state in results:
            if state is not None and state["field"] is not None:
                radio, found = field.kind == "radio", state["field"]
                selector = found["selector"] if radio else field.request.selector
                self._page.remember_field(selector, found["frame"] if radio else self._action.frame, found)
                self._note(field, state)
        as_given = [field.request.selector for field, state in results if _is_set(field, state)]
        others = [(field, state) for field, state in results if not _is_set(field, state)]
        lines = [f"as given: {', '.join(as_given)}"] if as_given else []
        lines += [f"{field.request.selector} {_describe(field, state)}" for field, state in others]
        summary = "; ".join(lines)
        if any(_is_refused(field, state) for field, state in others):
            unsent = " Nothing was submitted." if self._action.submit else ""
            raise not_as_given(f"Not every field has what it was given: {summary}.{unsent}")
        return {
            "fields": [{"selector": field.request.selector, **_value_of(field, state)} for field, state in results],
            "observed": summary,
        }

    def _note(self, field: FormEntry, state: FieldState) -> None:
        """Have the field looked at again, unless it is submitted, which may empty it."""
        if not self._action.submit:
            page = self._page
            page.tab.field_watch.note(
                page.call.client_id, page.moves, field.request.selector, field.locator, state["shows"]
            )

    async def submit(self, selector: str) -> None:
        button = await self._locate("submit", FormField(selector=selector, value=True))
        await check_element(self._page, self._action, button.locator)
        await self._attempt(button, self._click(button))

    async def _click(self, button: FormEntry) -> None:
        try:
            await button.locator.click(timeout=self._wait_ms)
        except PlaywrightError as error:
            if not self._page.outlasted_by_navigation(error):
                raise

    async def _reread(self, field: FormEntry) -> FieldState | None:
        """Look at the element again, because the page may have replaced it."""
        return next(iter(await _states_of((await self._attempt(field, field.locator.element_handles()))[:1])), None)

    async def _locate(self, place: str, request: FormField) -> FormEntry:
        with self._named_errors(place):
            locator = await self._page.element(request.selector, self._action.frame, strict=True)
        return FormEntry(request, place, locator)

    async def _fill_one(self, field: FormEntry) -> None:
        if field.handle is None:
            await self._attempt(field, field.locator.first.wait_for(state="attached", timeout=self._wait_ms))
            await self._find_kind_of([field])
        await self._attempt(field, self._set(field))

    async def _set(self, field: FormEntry) -> None:
        if field.kind == "text":
            target, field.input = await to_type(self._page, field.locator, field.input, self._wait_ms)
            await target.fill(field.input, timeout=self._wait_ms)
        elif field.kind == "select":
            await field.locator.select_option(field.input, timeout=self._wait_ms)
        else:
            await field.locator.set_checked(field.input, timeout=self._wait_ms)

    async def _find_kind_of(self, fields: list[FormEntry]) -> None:
        handles = await asyncio.gather(*(self._attempt(field, field.locator.element_handles()) for field in fields))
        states = iter(await _states_of([handle for found in handles for handle in found]))
        for field, found in zip(fields, handles, strict=True):
            await self._set_kind(field, found, [next(states) for _ in found])

    async def _set_kind(self, field: FormEntry, handles: list[ElementHandle], states: list[FieldState]) -> None:
        """Note what a field is. Of several radio buttons it is the named one."""
        chosen = 0
        if len(states) > 1 and {state["kind"] for state in states} == {"radio"}:
            chosen = next((number for number, state in enumerate(states) if field.request.value in state["names"]), -1)
            field.locator = field.locator.nth(chosen)
        elif len(states) > 1:
            await self._attempt(field, field.locator.evaluate("() => 0"))  # its error names the candidates
        if handles:
            field.handle, field.kind = handles[chosen], states[chosen]["kind"]
            with self._named_errors(field.place):
                field.input = _input(field, states[chosen])

    async def _attempt(self, field: FormEntry, work: Awaitable[T]) -> T:
        with self._named_errors(field.place):
            try:
                return await work
            except PlaywrightError as error:
                if errors.is_closed(error):
                    raise
                if url := self._page.navigating_to:
                    raise UnknownOutcome(
                        f"{field.request.selector} was under way when the page began to go to {url}, "
                        "whose server has not answered yet.",
                        hint=_NAVIGATION_HINT,
                    ) from error
                fill = Fill(selector=field.request.selector, frame=self._action.frame, value="", timeout=self._wait_ms)
                raise await explanation.explain(error, self._page, fill) from error

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
        found = await handles[0].evaluate(_FIELD_STATES, [handles, watch_ms, FIELD_CHARACTERS])
    except PlaywrightError:
        found = [(await handle.evaluate(_FIELD_STATES, [[handle], 0, FIELD_CHARACTERS]))[0] for handle in handles]
    return found


async def _fill_all(fields: list[FormEntry]) -> int:
    """Fill the fields and return how many are filled: none if they are of several documents."""
    handles = [field.handle for field in fields]
    inputs = [
        [field.input] if field.kind == "select" and isinstance(field.input, str) else field.input for field in fields
    ]
    try:
        return int(await cast("ElementHandle", handles[0]).evaluate(_FILL_FIELDS, [handles, inputs]))
    except PlaywrightError as error:
        if errors.is_closed(error):
            raise
        return 0


def _can_be_filled_with_others(field: FormEntry) -> bool:
    return field.handle is not None and field.kind in {"text", "select"} and not field.is_secret


def _input(field: FormEntry, state: FieldState) -> Any:  # Any: what a field of that kind takes
    """Convert the value for the field. Raises ValidationFailed for one that it does not take."""
    value, kind = field.request.value, field.kind
    if kind in _REFUSED_KINDS:
        what, hint = _REFUSED_KINDS[kind]
        raise _unfit(f"{field.request.selector} {what}", hint)
    if kind == "tick" and isinstance(tick := _TICKS.get(str(value).lower()), bool):
        return tick
    if kind == "radio" and (value is True or value in state["names"]):
        return True
    if kind == "select" and not isinstance(value, bool | SecretRef):
        return value if isinstance(value, list) else str(value)
    if kind == "text" and isinstance(value, SecretRef):
        return value
    if kind == "text" and not isinstance(value, bool | list):
        return str(value)
    hint = f"Its names: {', '.join(state['names'])}." if kind == "radio" else f"Give it {_ACCEPTED_VALUES[kind]}."
    raise _unfit(f"{field.request.selector} takes {_ACCEPTED_VALUES[kind]}", hint)


def _unfit(problem: str, hint: str) -> ValidationFailed:
    return ValidationFailed(f"{problem}.", hint=hint)


def _is_set(field: FormEntry, state: FieldState | None) -> bool:
    if state is None:
        return False
    if field.kind in {"tick", "radio"}:
        return bool(state["checked"] is field.input)
    if field.kind == "text":
        return bool(state["value"] == field.input)
    chosen = {*field.input} if isinstance(field.input, list) else {field.input}
    return chosen in ({*state["value"]}, {*state["labels"]})


def _is_refused(field: FormEntry, state: FieldState | None) -> bool:
    """Say if the page shows something else, and not only in another form."""
    if state is None or _is_set(field, state):
        return False
    return field.kind != "text" or state["secret"] or field.is_secret or not is_reformatted(state["value"], field.input)


def _value_of(field: FormEntry, state: FieldState | None) -> Json:
    """Return what it has now, without passwords."""
    if state is None:
        return {"gone": True}
    if field.kind in {"tick", "radio"}:
        return {"checked": state["checked"]}
    return {"characters": len(state["value"])} if state["secret"] or field.is_secret else {"value": state["value"]}


def _describe(field: FormEntry, state: FieldState | None) -> str:
    if state is None:
        return "is no longer there"
    if field.kind in {"tick", "radio"}:
        return f"is {'checked' if state['checked'] else 'not checked'} now"
    if state["secret"] or field.is_secret:
        return f"has {len(state['value'])} characters now, which are not those given"
    if not _is_refused(field, state):
        return f"is written as {state['value']!r}"
    return f"shows {shorten(str(state['value']))} instead of {shorten(str(field.input))}"
