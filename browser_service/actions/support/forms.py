"""Fills the fields of a form: determines their kinds, fills them, and reports what they have afterwards."""

import asyncio
import contextlib
import itertools
from collections import deque
from collections.abc import Awaitable, Iterator
from typing import Final, TypeVar

from playwright.async_api import ElementHandle, Locator
from playwright.async_api import Error as PlaywrightError

from browse_together.contract.actions.combining import FillForm, FormField
from browse_together.contract.actions.interaction import Check, Fill
from browse_together.contract.errors import BrowseError, UnknownOutcome, WithoutEffect
from browse_together.contract.model import Json, object_at
from browse_together.contract.next_calls import next_call
from browser_service.actions.support import code_boxes
from browser_service.actions.support.comboboxes import choose, choose_as_typed
from browser_service.actions.support.editors import replace_text
from browser_service.actions.support.field_values import hint_for, not_as_given, watch_ms
from browser_service.actions.support.form_entries import (
    FieldState,
    FormEntry,
    can_be_filled_with_others,
    describe,
    input_of,
    is_refused,
    is_set,
    twins_of,
    value_of,
)
from browser_service.actions.support.options import check_there
from browser_service.actions.support.secret_values import kept_whole, to_type
from browser_service.actions.support.sliders import move_slider, take_last_step
from browser_service.host import errors, world
from browser_service.host.elements import locators
from browser_service.host.elements.field_watch import FIELD_CHARACTERS
from browser_service.host.elements.locators import without_state_check
from browser_service.host.handle.page import BrowserPage
from browser_service.host.scripts import results, script
from browser_service.host.scripts.results import BadResult
from browser_service.host.stages import explanation
from browser_service.host.stages.rules import check_button, check_field
from browser_service.host.tabs.presses import NO_PRESS, clicks, filling, sent
from browser_service.host.world.handles import taken

T = TypeVar("T")

_WAIT_MS: Final = 5_000
_RESPONSES_S: Final = 0.5
_SEARCHED_S: Final = 2.0
_NAVIGATION_HINT: Final = f"See where it arrives: {next_call('snapshot', timeout=30000)}. Then fill what is left."
_FIELD_STATES: Final = results.bounded(script("form_look"))
_TICK_TARGET: Final = script("tick_target")
_NOTHING: Final = "() => 0"
_FILL_FIELDS: Final = results.bounded(script("form_fill"))


class Form:
    """The fields of one call."""

    def __init__(self, page: BrowserPage, action: FillForm) -> None:
        self._page = page
        self._action = action
        self._wait_ms = min(_WAIT_MS, action.timeout)
        self._fields: list[FormEntry] = []
        self._filled: list[str] = []

    async def find_kinds(self) -> None:
        """Determine all kinds before filling any field. If one cannot be filled, the call is refused."""
        requests = enumerate(self._action.fields)
        places = [self._locate(f"fields.{number}", request) for number, request in requests]
        self._fields = []
        for located in await asyncio.gather(*places, return_exceptions=True):  # the first error counts
            if isinstance(located, BaseException):
                raise located
            self._fields.append(located)
        await self._find_kind_of(self._fields)

    async def fill(self) -> None:
        left = deque(self._fields)
        while left:
            ready = [*itertools.takewhile(can_be_filled_with_others, left)]
            filled = await self._fill_all(ready) if ready else 0
            for _ in range(filled):
                self._filled.append(left.popleft().request.selector)
            if left and filled < max(1, len(ready)):
                await self._fill_one(left[0])
                self._filled.append(left.popleft().request.selector)

    async def report(self) -> Json:
        """Report what each field has now, once answers to what the page sent have had their effect."""
        states = await self._settled()
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
        as_given = [field.request.selector for field, state in results if is_set(field, state)]
        others = [(field, state) for field, state in results if not is_set(field, state)]
        of_all = f"{len(as_given)} of {len(results)}" if others else f"{len(results)}"
        lines = [f"{of_all} field{'s' * (len(results) > 1)} as given"] if as_given else []
        lines += [f"{field.request.selector} {describe(field, state)}" for field, state in others]
        lines += [
            f"{field.request.selector}: {twin}" for field, state in results if state for twin in twins_of(field, state)
        ]
        summary = "; ".join(lines)
        refused = [(field, state) for field, state in others if state and is_refused(field, state)]
        if refused:
            unsent = " Nothing was submitted." if self._action.submit else ""
            hint = hint_for([state["type"] for _, state in refused]) or self._hint_for_pickers(refused)
            raise not_as_given(f"Not every field has what it was given: {summary}.{unsent}", hint=hint)
        return {
            "fields": [{"selector": field.request.selector, **value_of(field, state)} for field, state in results],
            "observed": summary,
        }

    def _hint_for_pickers(self, refused: list[tuple[FormEntry, FieldState]]) -> str:
        """Say how to fill a field that was emptied when it was left, as pickers of dates are."""
        emptied = next((f for f, state in refused if f.kind == "text" and not state["value"] and not f.offered), None)
        if emptied is None:
            return ""
        where: Json = {"selector": emptied.request.selector}
        where |= {"frame": self._action.frame} if self._action.frame else {}
        enter = f"{next_call('fill', **where, value='...')}, then {next_call('press', **where, key='Enter')}"
        return (
            f"If it is a picker, it may keep what it was given only after Enter: {enter}. Else see what the page says."
        )

    async def _settled(self) -> list[FieldState]:
        """Read the fields once the page's scripts have had what they waited for, and answers to what they sent."""
        handles = [field.handle for field in self._fields if field.handle]
        came = await self._page.observer.wait_for_effects(_RESPONSES_S)
        return await _states_of(handles, 0 if came else watch_ms(self._page))

    def _note(self, field: FormEntry, state: FieldState) -> None:
        """Have the next call check the field again, unless the form is submitted, which may empty it."""
        if not self._action.submit:
            page = self._page
            page.tab.field_watch.note(
                page.call.client_id, page.observer.moves, field.request.selector, field.locator, state["shows"]
            )

    async def submit(self, selector: str) -> None:
        button = await self._locate("submit", FormField(selector=selector, value=True))
        await self._attempt(button, self._click(button))

    async def _click(self, button: FormEntry) -> None:
        try:
            await check_button(self._page, self._action, button.locator, self._wait_ms)
            await sent(locators.click(button.locator, timeout=self._wait_ms), clicks())
        except PlaywrightError as error:
            if not self._page.observer.outlasted_by_navigation(error):
                raise

    async def _reread(self, field: FormEntry) -> FieldState | None:
        """Find the element again, because the page may have replaced it."""
        return next(iter(await _states_of((await self._attempt(field, _all_of(field)))[:1])), None)

    async def _locate(self, place: str, request: FormField) -> FormEntry:
        with self._named_errors(place):
            locator = await self._page.elements.find(request.selector, self._action.frame, strict=True)
        return FormEntry(request, place, locator)

    async def _fill_all(self, fields: list[FormEntry]) -> int:
        """Fill the fields in the document of the first, and return how many were filled."""
        handles = [field.handle for field in fields if field.handle is not None]
        inputs = [
            [field.input] if field.kind == "select" and isinstance(field.input, str) else field.input
            for field in fields
        ]
        try:
            answer = await world.evaluate_all(handles, _FILL_FIELDS, inputs)
        except PlaywrightError as error:
            if errors.is_closed(error):
                raise
            return 0
        return results.read(int, answer)

    async def _fill_one(self, field: FormEntry) -> None:
        if field.handle is None:
            await self._attempt(field, field.locator.first.wait_for(state="attached", timeout=self._wait_ms))
            await self._find_kind_of([field])
        await self._attempt(field, self._set(field))

    async def _set(self, field: FormEntry) -> None:
        if field.kind == "text":
            target, field.input = await to_type(self._page, field.locator, field.input, self._wait_ms)
            async with kept_whole(self._page, target, field.request.value, field.input, field.request.selector):
                await sent(target.fill(field.input, timeout=self._wait_ms), filling(field.input))
            if field.is_range:
                await take_last_step(target, await target.input_value(), self._wait_ms)
            if field.has_list and not field.is_secret:
                handle = await self._handle_of(field)
                live = self._page.playwright
                told, field.offered = await choose_as_typed(live, handle, field.input, self._answered)
                field.told, field.kind = told or "", field.kind if told is None else "combobox"
        elif field.kind == "boxes":
            target, field.input = await to_type(self._page, field.locator, field.input, self._wait_ms)
            first = await self._handle_of(field) if isinstance(target, Locator) else target
            await code_boxes.enter(first, field.input, field.request.selector, self._wait_ms)
        elif field.kind == "select":
            await check_there(field.locator, {"value": field.input}, field.request.selector, self._wait_ms)
            await sent(field.locator.select_option(field.input, timeout=self._wait_ms), NO_PRESS)
        elif field.kind == "slider":
            await move_slider(self._page.playwright, await self._handle_of(field), field.input, self._wait_ms)
        elif field.kind == "combobox":
            handle, selector = await self._handle_of(field), field.request.selector
            live, wait_ms = self._page.playwright, self._wait_ms
            field.told = await choose(live, handle, field.input, selector, wait_ms, answered=self._answered)
        elif field.kind == "editor":
            handle, selector = await self._handle_of(field), field.request.selector
            field.told = await replace_text(self._page.playwright, handle, selector, field.input, self._wait_ms)
        else:
            handle = await self._handle_of(field)
            found = await world.element(handle, _TICK_TARGET) or handle
            ticking = found.set_checked(field.input, timeout=self._wait_ms)
            await without_state_check(sent(ticking, clicks()))

    async def _answered(self) -> None:
        await self._page.observer.wait_for_effects(_SEARCHED_S)

    async def _handle_of(self, field: FormEntry) -> ElementHandle:
        return await world.handle_of(field.locator, self._wait_ms)

    async def _find_kind_of(self, fields: list[FormEntry]) -> None:
        handles = await asyncio.gather(*(self._attempt(field, _all_of(field)) for field in fields))
        states = iter(await _states_of([handle for found in handles for handle in found]))
        for field, found in zip(fields, handles, strict=True):
            await self._set_kind(field, found, [next(states) for _ in found])

    async def _set_kind(self, field: FormEntry, handles: list[ElementHandle], states: list[FieldState]) -> None:
        """Store what a field is. Of several radio buttons, choose the one with the given name."""
        chosen = 0
        if len(states) > 1 and {state["kind"] for state in states} == {"radio"}:
            chosen = next((number for number, state in enumerate(states) if field.request.value in state["names"]), -1)
            field.locator = field.locator.nth(chosen)
        elif len(states) > 1:
            await self._attempt(
                field, world.evaluate(field.locator, _NOTHING)
            )  # raises an error that names the candidates
        if handles:
            field.handle, field.kind = handles[chosen], states[chosen]["kind"]
            with self._named_errors(field.place):
                field.input = input_of(field, states[chosen])
                if field.kind != "text":
                    await check_field(self._page, self._action, field.handle)

    async def _attempt(self, field: FormEntry, work: Awaitable[T]) -> T:
        with self._named_errors(field.place):
            try:
                return await work
            except PlaywrightError as error:
                if errors.is_closed(error):
                    raise
                if url := self._page.observer.navigating_to:
                    raise UnknownOutcome(
                        f"{field.request.selector} was under way when the page began to go to {url}, "
                        "whose server has not answered yet.",
                        hint=_NAVIGATION_HINT,
                    ) from error
                where = {"selector": field.request.selector, "frame": self._action.frame, "timeout": self._wait_ms}
                act = Check(**where) if field.kind in {"tick", "radio"} else Fill(**where, value="")
                raise await explanation.explain(error, self._page, act) from error

    @contextlib.contextmanager
    def _named_errors(self, place: str) -> Iterator[None]:
        """Add the field's name, and the fields already filled, to errors."""
        try:
            yield
        except BrowseError as error:
            other = "No other field" if isinstance(error, WithoutEffect) else "Nothing"  # this one may have a part
            before = f"Filled before: {', '.join(self._filled)}." if self._filled else f"{other} was filled."
            error.message = f"{place}: {error.message.removesuffix('.')}. {before}"
            context = object_at(error.details, "context")
            error.details["context"] = {**context, "field": place, "filled": [*self._filled]}
            raise


async def _all_of(field: FormEntry) -> list[ElementHandle]:
    return [taken(each) for each in await field.locator.element_handles()]


async def _states_of(handles: list[ElementHandle], watch_ms: int | None = None) -> list[FieldState]:
    """Read what fields are and have, with one script if they share a document, as most do."""
    if not handles:
        return []
    try:
        return await _look(handles, watch_ms)
    except BadResult:
        raise
    except PlaywrightError:
        looks = await asyncio.gather(*(_look([handle], watch_ms) for handle in handles))
        return [state for (state,) in looks]


async def _look(handles: list[ElementHandle], watch_ms: int | None) -> list[FieldState]:
    answer = await world.evaluate_all(handles, _FIELD_STATES, [watch_ms, FIELD_CHARACTERS])
    return results.several(FieldState, answer, len(handles))
