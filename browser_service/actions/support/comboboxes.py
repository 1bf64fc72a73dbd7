"""Chooses options of comboboxes other than select elements, with the keys that a person would press, or by clicks
where no key opens the list."""

from collections.abc import Awaitable, Callable
from typing import Final

from playwright.async_api import ElementHandle, Page
from playwright.async_api import Error as PlaywrightError
from typing_extensions import TypedDict

from browse_together.contract.cuts import shown_of
from browser_service.actions.support.field_values import not_as_given, shorten
from browser_service.host import errors, world
from browser_service.host.scripts import results, script
from browser_service.host.tabs.presses import chord, clicks, filling, sent, typing

_STATE: Final = results.bounded(script("combobox_state"))
_OPENED: Final = script("opened_option")
_OPTIONS: Final = results.bounded(script("combobox_options"))
_NAMED: Final = 5
_MOST_OPTIONS: Final = 60
"""A longer list is searched only this far, unless it can be filtered by text."""
_OPENING_MS: Final = 1_000
_RESULT_MS: Final = 2_000
_TRIES: Final = 3


class _State(TypedDict):
    """The result of _STATE."""

    names: list[str]
    shown: str
    texts: list[str]
    value: str
    editable: bool


Answered = Callable[[], Awaitable[object]]
"""Waits for answers to what the page sent, because a list may be searched on a server."""


async def choose(
    page: Page, element: ElementHandle, wanted: list[str], selector: str, timeout_ms: float, *, answered: Answered
) -> str:
    """Choose options by name, or enter other texts where the field takes them. Return what it then shows, unless it
    shows these, apart from what stood there before. Raises WithoutEffect."""
    before, offered = await _state(element, ""), ""
    for name in wanted:
        if (await _state(element, name))["editable"]:
            await sent(element.fill(name, timeout=timeout_ms), filling(name))
            await answered()
        elif await _pick(page, element, name, timeout_ms):
            continue
        else:
            await sent(page.keyboard.press("Home"), chord("Home"))
        if not await _go_to(page, element, name):
            offered = _named(await _options(element, name))
    seen = await _state(element, "")
    if missing := [name for name in wanted if name.casefold() not in seen["shown"].casefold()]:
        raise not_as_given(
            f"{selector} shows {shorten(seen['shown'])}, without {', '.join(missing)}{offered and f': {offered}'}.",
            selector,
        )
    return "" if all(_is_chosen(name, before, seen) for name in wanted) else f"shows {shorten(seen['shown'])}"


async def choose_as_typed(page: Page, element: ElementHandle, text: str, answered: Answered) -> tuple[str | None, str]:
    """Choose the only option of an open list whose name is the typed text. Return what the field shows beside its own
    text, "" for that option alone, None if its own text shows it; and, if no option has that name, some of them."""
    await answered()
    names = await _options(element, text)
    same = [name for name in names if name.casefold() == text.strip().casefold()]
    if len(same) != 1:
        return None, _named(names)
    before = await _state(element, "")
    await _go_to(page, element, same[0])
    seen = await _state(element, "")
    if same[0] == seen["value"] or same[0] not in seen["shown"]:
        return None, ""
    return "" if _is_chosen(same[0], before, seen) else f"shows {shorten(seen['shown'])}", ""


async def _options(element: ElementHandle, name: str) -> list[str]:
    return [*dict.fromkeys(results.read(list[str], await world.evaluate(element, _OPTIONS, name)))]


def _named(options: list[str]) -> str:
    shown = shown_of(len(options), _NAMED)
    more = f", and {len(options) - shown} more" if len(options) > shown else ""
    return f"its list has {', '.join(map(repr, options[:shown]))}{more}" if options else ""


def _is_chosen(name: str, before: _State, now: _State) -> bool:
    """Return whether a field shows an option's name as a text of its own that was not there before."""
    count, former = ([text.casefold() for text in each["texts"]].count(name.casefold()) for each in (now, before))
    return count > former or now["value"] == name


async def _pick(page: Page, element: ElementHandle, name: str, timeout_ms: float) -> bool:
    """Open the list. If keys reach no option, click the one with the name, after a search where opening the list moves
    the focus into a field. Returns whether an option was clicked."""
    await world.evaluate(element, _OPENED, [name, 0, "begin"])
    await sent(element.press("ArrowDown", timeout=timeout_ms), chord("ArrowDown"))
    if (await _state(element, name))["names"]:
        return False
    if await element.get_attribute("aria-expanded") != "true":
        await sent(element.click(timeout=timeout_ms), clicks())
    option, step = await world.element(element, _OPENED, [name, _OPENING_MS, "open"]), "open"
    if option is not None and await option.get_attribute("role") != "option":
        await sent(option.type(name, timeout=_OPENING_MS), typing(name))
        option, step = None, "search"
    for _ in range(_TRIES):  # a list that is still being searched replaces its options
        option = option or await world.element(element, _OPENED, [name, _RESULT_MS, step])
        if option is None:
            return False
        try:
            await sent(option.click(timeout=_RESULT_MS), clicks())
            break
        except PlaywrightError as error:
            if errors.began(error):
                break  # it was clicked, and what that leads to takes long
            option = None
    else:
        return False
    if await element.get_attribute("aria-expanded") == "true":
        await sent(page.keyboard.press("Escape"), chord("Escape"))  # a list of which several are chosen stays open
    return True


async def _go_to(page: Page, element: ElementHandle, name: str) -> bool:
    """Press keys until an option is reached, and choose it. A text that is no option is entered where the field takes
    text. Returns whether it is one."""
    first: list[str] | None = None
    for _ in range(_MOST_OPTIONS):
        state = await _state(element, name)
        if name in state["names"]:
            break
        if state["names"] == first or (not state["names"] and first is not None):
            break
        first = state["names"] if first is None else first
        await sent(page.keyboard.press("ArrowDown"), chord("ArrowDown"))
    found = name in (state := await _state(element, name))["names"]
    await sent(page.keyboard.press("Enter" if found or state["editable"] else "Escape"), chord("Enter"))
    return found


async def _state(element: ElementHandle, name: str) -> _State:
    return results.read(_State, await world.evaluate(element, _STATE, name))
