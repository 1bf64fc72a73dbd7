"""Fills again what was lost with a page, and reads each field back."""

from typing import Final

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Locator

from browse_together.contract.cuts import cut
from browse_together.contract.errors import BrowseError
from browse_together.contract.model import Json
from browse_together.contract.next_calls import next_call
from browser_service.host import errors
from browser_service.host.elements.filled_fields import FIELD, Field, FilledField
from browser_service.host.elements.locators import read_back
from browser_service.host.handle.page import BrowserPage
from browser_service.host.tabs.presses import NO_PRESS, clicks, filling, sent

_EACH_MS: Final = 3_000
_SHOWN: Final = 100


async def refill(page: BrowserPage, timeout_ms: int) -> Json:
    """Fill the caller's lost fields. Return what was filled, what was not and why, and what has to be given again."""
    fields_of_page = page.filled_fields
    fields = fields_of_page.offered(page.call.client_id)
    if not fields:
        return {"fields": [], "observed": "nothing is to be filled again: nothing that you had filled was lost"}
    if not fields_of_page.is_at_place():
        back = next_call("goto", page_id=page.page_id, url=fields_of_page.place)
        return {"fields": [], "observed": f"nothing was filled: what you had filled was elsewhere: {back}, then refill"}
    results: list[Json] = []
    for field in fields:
        why = field.obstacle or await _refill_field(page, field, min(_EACH_MS, timeout_ms))
        if not why or field.obstacle:
            fields_of_page.withdraw(field)
        reason: Json = {"why": why} if why else {}
        results.append({"selector": field.selector, "name": field.name, "filled": not why, **reason})
    return {"fields": [*results], "observed": _describe(fields, results)}


async def _refill_field(page: BrowserPage, field: FilledField, wait_ms: int) -> str:
    """Fill one field; return why it has another value, or ""."""
    try:
        element = await page.elements.find(field.selector, field.frame, strict=field.strict)
        await _fill(element, field, wait_ms)
    except BrowseError as error:
        return error.message
    except PlaywrightError as error:
        if errors.is_closed(error):
            raise
        return await _problem(page, field, error)
    found = await read_back(Field, element, FIELD)
    if found is None:
        return "it was filled, and is no longer there"
    page.remember_field(field.selector, field.frame, found, strict=field.strict)
    if found["secret"]:
        return "it takes a secret now"
    return "" if found["value"] == field.value else f"the page shows {cut(str(found['value']), _SHOWN)!r} instead"


async def _fill(element: Locator, field: FilledField, wait_ms: int) -> None:
    if field.kind == "tick":
        await sent(element.set_checked(field.value, timeout=wait_ms), clicks())
    elif field.kind == "select":
        await sent(element.select_option(field.value, timeout=wait_ms), NO_PRESS)
    else:
        await sent(element.fill(field.value, timeout=wait_ms), filling(field.value))


async def _problem(page: BrowserPage, field: FilledField, error: PlaywrightError) -> str:
    if errors.is_ambiguous(error):
        return "several elements match now"
    if errors.is_timeout(error) and not await (await page.elements.find(field.selector, field.frame)).count():
        return "it is not there"
    return f"it cannot be filled: {cut(str(error).splitlines()[0], _SHOWN)}"


def _describe(fields: list[FilledField], results: list[Json]) -> str:
    pairs = [*zip(fields, results, strict=True)]
    refilled = ", ".join(field.selector for field, each in pairs if each["filled"])
    failed = [f"{field.selector}: {each['why']}" for field, each in pairs if not each["filled"] and not field.obstacle]
    to_give_again = [f"{field.selector} ({each['why']})" for field, each in pairs if field.obstacle]
    lines = [f"as before: {refilled}"] if refilled else []
    lines += failed
    lines += [f"give again: {', '.join(to_give_again)}"] if to_give_again else []
    return "; ".join(lines)
