"""Extracts data: texts, attributes, tables, links, pictures, and what a page says of itself."""

import json
from typing import Any

from pydantic import JsonValue

from browser_service.host import errors
from browser_service.host.elements import locators
from browser_service.host.page.handle import BrowserPage
from browser_service.host.reading import csvs, extraction
from shared.actions import extraction as actions
from shared.errors import ElementNotFound, InvalidSelector, field_details
from shared.model import Json
from shared.next_calls import next_call

Several = (
    actions.ExtractText
    | actions.ExtractHtml
    | actions.ExtractAttribute
    | actions.ExtractTable
    | actions.ExtractComputedStyle
)
Saving = actions.ExtractTable | actions.ExtractData
Part = actions.ExtractData | actions.ExtractLinks | actions.ExtractImages


async def extract_text(page: BrowserPage, action: actions.ExtractText) -> Json:
    how = {"trim": action.trim, "normalize": action.normalize_whitespace}
    return await _of_elements(page, action, extraction.TEXT, how)


async def extract_html(page: BrowserPage, action: actions.ExtractHtml) -> Json:
    return await _of_elements(page, action, extraction.HTML, action.inner)


async def extract_attribute(page: BrowserPage, action: actions.ExtractAttribute) -> Json:
    return await _of_elements(page, action, extraction.ATTRIBUTE, action.attribute)


async def extract_computed_style(page: BrowserPage, action: actions.ExtractComputedStyle) -> Json:
    what = {"properties": action.properties or [*extraction.USUAL_STYLE], "pseudo": action.pseudo}
    return await _of_elements(page, action, extraction.STYLE, what)


async def extract_table(page: BrowserPage, action: actions.ExtractTable) -> Json:
    how = {"headers": action.headers, "lists": action.rows == "lists" or action.format == "csv"}
    found = await _read(page, action, extraction.TABLES, how)
    if not found["count"]:
        raise ElementNotFound(
            f"Element matching selector '{action.selector}' is no table, and has none in it.",
            details={"selector": action.selector, "url": page.url},
        )
    counted: Json = {"count": found["count"]}
    if action.format == "csv":
        return {**await _as_csv(page, action, csvs.of_tables(found["values"])), **counted}
    return {**await _as_json(page, action, "tables", found["values"]), **counted}


async def extract_links(page: BrowserPage, action: actions.ExtractLinks) -> Json:
    links = await _of_part(page, action, extraction.LINKS, {"site": action.site, "unique": action.unique})
    where = {} if links else await _in_frames(page, action, "a[href], area[href]")
    return {**await page.shown_data("links", links, action.budget), "count": len(links), **where}


async def extract_images(page: BrowserPage, action: actions.ExtractImages) -> Json:
    images = await _of_part(page, action, extraction.IMAGES, {"backgrounds": action.backgrounds})
    where = {} if images else await _in_frames(page, action, "img")
    return {**await page.shown_data("images", images, action.budget), "count": len(images), **where}


async def extract_metadata(page: BrowserPage, action: actions.ExtractMetadata) -> Json:
    root = await page.element(":root", action.frame)
    said = await root.evaluate(extraction.METADATA, timeout=action.timeout)
    return await page.shown_data("metadata", said, action.budget)


async def extract_data(page: BrowserPage, action: actions.ExtractData) -> Json:
    fields = {name: field.model_dump() for name, field in action.fields.items()}
    found = await _of_part(page, action, extraction.DATA, {"fields": fields, "ms": action.timeout})
    if invalid := found.get("invalid"):
        raise InvalidSelector(
            f"Selector {invalid['selector']!r} of schema.{invalid['path']} has a syntax error: {invalid['said']}",
            hint="In a schema a selector is CSS (.price) or an XPath (//td[2]), looked up within its parent.",
            details={"selector": invalid["selector"], "url": page.url, **field_details("schema")},
        )
    lacking = {line.partition(":")[0] for line in [*found["broken"], *found["notFound"]]}
    looked_for = next((field.selector for name, field in action.fields.items() if name in lacking), None)
    where = await _in_frames(page, action, looked_for) if looked_for else {}
    if found["broken"]:
        said = f"In frames: {where['inFrames']}. " if where else ""
        raise ElementNotFound(
            f"What schema requires was not found after {action.timeout}ms. {'; '.join(found['broken'])}",
            hint=f"{said}See what is there: {next_call('snapshot')}; or leave out `required`.",
            details={"url": page.url, "context": {"timeout": action.timeout, "field": "schema"}},
        )
    missing: Json = {"notFound": found["notFound"]} if found["notFound"] else {}
    if action.format == "csv":
        return {**await _as_csv(page, action, csvs.of_data(found["data"])), **missing, **where}
    return {**await _as_json(page, action, "data", found["data"]), **missing, **where}


async def _as_csv(page: BrowserPage, action: Saving, table: csvs.Csv) -> Json:
    if action.save:
        return {**await page.saved("csv", table.text, "text/csv; charset=utf-8", "table"), **table.facts()}
    return {**await page.shown("csv", table.text, action.budget), **table.facts()}


async def _as_json(page: BrowserPage, action: Saving, key: str, value: JsonValue) -> Json:
    if action.save:
        text = json.dumps(value, ensure_ascii=False, indent=1)
        return await page.saved(key, text, "application/json", key)
    return await page.shown_data(key, value, action.budget)


async def _in_frames(page: BrowserPage, action: Part, selector: str) -> Json:
    return {} if action.selector else await page.in_frames(selector, action.frame)


async def _of_elements(page: BrowserPage, action: Several, script: str, arg: object) -> Json:
    """Evaluate a script for the first match, or for all."""
    found = await _read(page, action, script, arg)
    if not found["count"]:  # it was there a moment ago
        raise errors.not_found(action.selector, action.timeout, url=page.url)
    value = found["values"] if action.all else found["values"][0]
    return {**await page.shown_data(action.text_key, value, action.budget), "count": found["count"]}


async def _read(page: BrowserPage, action: Several, script: str, arg: object) -> Any:  # Any: what the script gives
    found = await page.element(action.selector, action.frame, strict=True)
    await found.first.wait_for(state="attached", timeout=action.timeout)
    return await locators.in_page(found, script, [action.all, arg])


async def _of_part(page: BrowserPage, action: Part, script: str, arg: object) -> Any:  # Any: as there
    root = await page.element(action.selector or ":root", action.frame)
    return await root.evaluate(script, arg, timeout=action.timeout)
