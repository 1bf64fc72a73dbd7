"""Acting on elements as a person would: click, type, choose."""

import contextlib
from typing import Any, Final

from playwright.async_api import ElementHandle, Locator
from playwright.async_api import Error as PlaywrightError

from browser_service.browser import pointing
from browser_service.browser.locating import read_back
from browser_service.browser.page import BrowserPage
from shared.actions import interaction
from shared.actions.base import ElementAction
from shared.calls import Json

_READY_FOR_KEYS: Final = """(e, types) => {
  const focused = () => e.contains(e.getRootNode().activeElement);
  if (e.matches(':disabled')) throw new Error('it is disabled');
  if (!e.checkVisibility()) throw new Error('it is not visible');
  if (types && e.readOnly) throw new Error('it is read-only');
  const had = focused();
  e.focus();
  if (types && !focused()) throw new Error('it takes no keys');
  if (types && !had) getSelection().modify('move', 'forward', 'documentboundary');
}"""
_VALUE: Final = "e => [e.value ?? e.innerText, e.type === 'password']"
_CHECKED: Final = "e => e.checked ?? e.getAttribute('aria-checked') === 'true'"
_ANSWERS_WITHIN_S: Final = 0.5
_LOOK_MS: Final = 200
_GONE: Final[Json] = {"observed": "the element is no longer there"}


async def click(page: BrowserPage, action: interaction.Click) -> Json:
    element = await _element(page, action)
    await element.click(**action.own(), timeout=action.timeout)
    return {}


async def fill(page: BrowserPage, action: interaction.Fill) -> Json:
    element = await _element(page, action)
    await element.fill(**action.own(), timeout=action.timeout)
    if await _has_value(page, element, action.value):
        return {"observed": "it has the given value now"}
    return await _value(page, element, action.value)


async def type_(page: BrowserPage, action: interaction.Type) -> Json:
    element = await _element(page, action)
    await element.evaluate(_READY_FOR_KEYS, arg=True, timeout=action.timeout)
    await element.press_sequentially(**action.own(), timeout=action.allowed_ms())
    return await _value(page, element, None)


async def press(page: BrowserPage, action: interaction.Press) -> Json:
    element: Locator | ElementHandle
    if action.selector is None:
        element = await pointing.focused(page.live)
    else:
        element = await page.element(action.selector, action.frame, strict=action.strict)
        await element.evaluate(_READY_FOR_KEYS, arg=False, timeout=action.timeout)
    await element.press(action.key, delay=action.delay, no_wait_after=action.no_wait_after, timeout=action.timeout)
    return {}


async def hover(page: BrowserPage, action: interaction.Hover) -> Json:
    element = await _element(page, action)
    await element.hover(**action.own(), timeout=action.timeout)
    return {}


async def select_option(page: BrowserPage, action: interaction.SelectOption) -> Json:
    element = await _element(page, action)
    selected = await element.select_option(**action.own(), timeout=action.timeout)
    return {"selected": [*selected], "observed": f"selected {', '.join(map(repr, selected)) or 'nothing'}"}


async def check(page: BrowserPage, action: interaction.Check) -> Json:
    element = await _element(page, action)
    await element.check(**action.own(), timeout=action.timeout)
    return await _checked(page, element)


async def uncheck(page: BrowserPage, action: interaction.Uncheck) -> Json:
    element = await _element(page, action)
    await element.uncheck(**action.own(), timeout=action.timeout)
    return await _checked(page, element)


async def _element(page: BrowserPage, action: ElementAction) -> Locator:
    return await page.element(action.selector, action.frame, strict=action.strict)


async def _checked(page: BrowserPage, element: Locator) -> Json:
    """What the page shows afterwards, which a script may have changed back."""
    checked = await _read_back(page, element, _CHECKED)
    if checked is None:
        return _GONE
    return {"checked": checked, "observed": f"it is {'checked' if checked else 'not checked'} now"}


async def _value(page: BrowserPage, element: Locator, wanted: str | None) -> Json:
    """The value that the page shows afterwards; passwords are not repeated."""
    found = await _read_back(page, element, _VALUE)
    if found is None:
        return _GONE
    value, secret = found
    if secret:
        return {"observed": f"it has {len(value)} characters now"}
    if wanted is not None and value != wanted:
        return {"value": value, "observed": f"the page shows {value!r} instead of {wanted!r}"}
    return {"value": value, "observed": f"the value is {value!r} now"}


async def _has_value(page: BrowserPage, element: Locator, value: str) -> bool:
    """Half the time of reading back, for what nearly every field shows; of the others no more than that is known."""
    await _answered(page)
    with contextlib.suppress(PlaywrightError):
        return await element.input_value(timeout=_LOOK_MS) == value
    return False


async def _read_back(page: BrowserPage, element: Locator, expression: str) -> Any:  # Any: what the expression gives
    await _answered(page)
    return await read_back(element, expression)


async def _answered(page: BrowserPage) -> None:
    """The answers to the requests that an act sent may change what it left."""
    if page.entry.observer is not None:
        await page.entry.observer.answered(_ANSWERS_WITHIN_S)
