"""Reads what a field has after it was filled or typed into, and words it for the reply."""

from collections.abc import Awaitable, Callable
from typing import Any, Final

from playwright.async_api import ElementHandle, Locator
from typing_extensions import TypedDict

from browse_together.contract.actions import interaction
from browse_together.contract.model import Json
from browse_together.contract.next_calls import next_call
from browse_together.contract.quoting import element_name
from browse_together.contract.wire import AS_GIVEN
from browser_service.actions.support.field_values import (
    Question,
    cut_by,
    hint_for,
    in_form_of,
    is_reformatted,
    not_as_given,
    shorten,
)
from browser_service.host.elements.filled_fields import Field
from browser_service.host.handle.page import BrowserPage
from browser_service.host.scripts import script

_VALUE: Final = script("typed_value")
GONE: Final = "the element is no longer there"


class _TypedValue(TypedDict):
    """The result of _VALUE."""

    value: str
    secret: bool
    type: str
    most: int
    """The field's maxlength; -1 without one."""
    editor: bool
    """Whether the field takes keys for an editor that keeps its text elsewhere."""
    opened: bool
    focus: str
    field: Field


async def field_after(
    page: BrowserPage,
    action: interaction.Fill | interaction.Type,
    element: Locator | ElementHandle,
    act: Callable[[], Awaitable[None]],
    text: str,
    *,
    event: str | None,
    enters: bool = False,
) -> _TypedValue | None:
    """Perform the act, read the field afterwards, and remember it. A value with a named secret counts as secret,
    whatever the field looks like. `enters` says that the act presses no keys for the text."""
    question = Question(_TypedValue, _VALUE, event, fits=lambda field: field["value"] == text, enters=enters)
    _, result = await question.after(page, action.selector, element, act)
    if result is not None:
        result["secret"] = result["secret"] or text != (
            action.value if isinstance(action, interaction.Fill) else action.text
        )
    field = result["field"] if result is not None else None
    if action.selector is not None:
        page.remember_field(action.selector, action.frame, field, strict=action.strict)
    elif field is not None:
        page.remember_field(field["selector"], field["frame"], field)
    return result


def filled_reply(result: Any, action: interaction.Fill, expected: str) -> Json:  # Any: what _VALUE gives
    """Report the value; of a password, its length."""
    if result is None:
        return {"observed": GONE}
    value = result["value"]
    has = _count(value) if result["secret"] else shorten(value)
    if value in {expected, in_form_of(result["type"], expected)}:
        is_open = f"; its list is open: {next_call('find', role='option')}" if result["opened"] else ""
        return {"observed": f"{AS_GIVEN}: {has}{is_open}"}
    if not result["secret"] and is_reformatted(value, expected):
        return {"value": value, "observed": f"the page writes it as {value!r}"}
    shows = f"{has}, which are not those given" if result["secret"] else has
    where: Json = {"selector": action.selector, **({"frame": action.frame} if action.frame else {})}
    keys = f"{next_call('press', **where, key='Control+a')}, then {next_call('type', **where, text='...')}"
    hint = hint_for([result["type"]]) or (
        f"It may take keys only: {keys}. See what it says: {next_call('snapshot')}."
        if value
        else f"It may have put the text elsewhere: look before you enter it again, {next_call('snapshot')}. If it is "
        f"nowhere, the field may take keys only: {next_call('type', **where, text='...')}."
    )
    if cut := cut_by(result["most"], value, expected):
        cut, hint = (
            f", because {cut}",
            f"Give it a text of {result['most']}, or see where the rest goes: {next_call('snapshot')}.",
        )
    instead = "" if result["secret"] else f" instead of {shorten(expected)}"
    what = "The field shows" if cut else "The page took the value back: it shows"
    raise not_as_given(f"{what} {shows}{instead}{cut}.", action.selector, hint=hint)


def typed_reply(result: _TypedValue | None, text: str) -> Json:
    if result is None:
        return {"observed": GONE}
    value = result["value"]
    observed = f"it has {_count(value)} now" if result["secret"] else f"the value is {value!r} now"
    if text not in value:
        cut = "" if result["secret"] else cut_by(result["most"], value, text)
        observed += f", which is not what was typed{cut and f': {cut}'}"
    if result["focus"]:
        observed += f"; the page moved the focus to {element_name(result['focus'])}"
    return {"observed": observed} if result["secret"] else {"value": value, "observed": observed}


def _count(text: str) -> str:
    return f"{len(text)} character{'s' * (len(text) != 1)}"
