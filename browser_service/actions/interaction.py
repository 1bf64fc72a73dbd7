"""Acting on elements as a person would: click, type, choose."""

from playwright.async_api import Locator

from browser_service.browser.page import BrowserPage
from shared.actions import interaction
from shared.actions.base import ElementAction
from shared.calls import Json


async def click(page: BrowserPage, action: interaction.Click) -> Json:
    element = await _element(page, action)
    await element.click(**action.own(), timeout=action.timeout)
    return {}


async def fill(page: BrowserPage, action: interaction.Fill) -> Json:
    element = await _element(page, action)
    await element.fill(**action.own(), timeout=action.timeout)
    return await _value(element, action.value, action.timeout)


async def type_(page: BrowserPage, action: interaction.Type) -> Json:
    element = await _element(page, action)
    await element.press_sequentially(**action.own(), timeout=action.allowed_ms())
    return await _value(element, None, action.timeout)


async def press(page: BrowserPage, action: interaction.Press) -> Json:
    if action.selector is None:
        await page.live.keyboard.press(action.key, delay=action.delay)
        return {}
    element = await page.element(action.selector, action.frame, strict=action.strict)
    await element.press(action.key, delay=action.delay, timeout=action.timeout)
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
    return await _checked(element, action.timeout)


async def uncheck(page: BrowserPage, action: interaction.Uncheck) -> Json:
    element = await _element(page, action)
    await element.uncheck(**action.own(), timeout=action.timeout)
    return await _checked(element, action.timeout)


async def _element(page: BrowserPage, action: ElementAction) -> Locator:
    return await page.element(action.selector, action.frame, strict=action.strict)


async def _checked(element: Locator, within_ms: int) -> Json:
    """What the page shows afterwards, which a script may have changed back."""
    checked = await element.is_checked(timeout=within_ms)
    return {"checked": checked, "observed": f"it is {'checked' if checked else 'not checked'} now"}


async def _value(element: Locator, wanted: str | None, within_ms: int) -> Json:
    """The value that the page shows afterwards; passwords are not repeated."""
    value, secret = await element.evaluate("e => [e.value ?? e.innerText, e.type === 'password']", timeout=within_ms)
    if secret:
        return {"observed": f"it has {len(value)} characters now"}
    if wanted is not None and value != wanted:
        return {"value": value, "observed": f"the page shows {value!r} instead of {wanted!r}"}
    return {"value": value, "observed": f"the value is {value!r} now"}
