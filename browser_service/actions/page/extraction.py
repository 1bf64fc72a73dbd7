"""Extracts data: texts, attributes, tables, links, images, and a page's metadata."""

import json
from typing import Final, TypeVar

from pydantic import JsonValue
from typing_extensions import TypedDict

from browse_together.contract.actions import extraction as actions
from browse_together.contract.errors import ElementNotFound, InvalidSelector, field_details
from browse_together.contract.model import Json
from browse_together.contract.next_calls import next_call
from browser_service.host import errors, world
from browser_service.host.elements import frames, locators
from browser_service.host.handle.page import BrowserPage
from browser_service.host.reading import csvs
from browser_service.host.reading.tree_text import joined
from browser_service.host.scripts import script
from browser_service.host.scripts.results import bounded, made_of, of_kind, read, value_of

T = TypeVar("T")
_TEXT: Final = script("extract_text")
_HTML: Final = script("extract_html")
_ATTRIBUTE: Final = script("extract_attribute")
_STYLE: Final = script("extract_style")
_TABLES: Final = script("extract_tables")
_LINKS: Final = bounded(script("extract_links"))
_IMAGES: Final = bounded(script("extract_images"))
_METADATA: Final = bounded(script("extract_metadata"))
_DATA: Final = bounded(script("extract_data"))
_DEFAULT_STYLE: Final = (
    *("display", "position", "visibility", "opacity", "z-index", "overflow", "color", "background-color"),
    *("background-image", "font-family", "font-size", "font-weight", "font-style", "line-height", "text-align"),
    *("text-decoration-line", "text-transform", "white-space", "width", "height", "margin", "padding", "border"),
    *("border-radius", "box-shadow", "transform", "cursor", "pointer-events", "flex", "gap", "grid-template-columns"),
)

ElementExtraction = (
    actions.ExtractText
    | actions.ExtractHtml
    | actions.ExtractAttribute
    | actions.ExtractTable
    | actions.ExtractComputedStyle
)
SavableExtraction = actions.ExtractTable | actions.ExtractData
ScopedExtraction = actions.ExtractData | actions.ExtractLinks | actions.ExtractImages


class _Values(TypedDict):
    values: list[JsonValue]
    count: int


class _Invalid(TypedDict):
    path: str
    selector: str
    said: str


class _Data(TypedDict, total=False):
    data: Json
    notFound: list[str]
    broken: list[str]
    invalid: _Invalid


class _Seen(TypedDict):
    value: JsonValue
    unseen: int


async def extract_text(page: BrowserPage, action: actions.ExtractText) -> Json:
    options = {"trim": action.trim, "normalize": action.normalize_whitespace, "alone": not action.all}
    found, unseen = await _read_seen(_Values, page, action, _TEXT, options)
    element = await page.elements.find(action.selector, action.frame, strict=action.all)
    where = frames.named(await frames.with_words(page.playwright, element))
    closed = joined(unseen, await page.looks.closed(element))
    return {**await _values(page, action, found), **where, **unseen, **closed}


async def extract_html(page: BrowserPage, action: actions.ExtractHtml) -> Json:
    return await _of_elements(page, action, _HTML, action.inner)


async def extract_attribute(page: BrowserPage, action: actions.ExtractAttribute) -> Json:
    return await _of_elements(page, action, _ATTRIBUTE, action.attribute)


async def extract_computed_style(page: BrowserPage, action: actions.ExtractComputedStyle) -> Json:
    options = {"properties": action.properties or [*_DEFAULT_STYLE], "pseudo": action.pseudo}
    return await _of_elements(page, action, _STYLE, options)


async def extract_table(page: BrowserPage, action: actions.ExtractTable) -> Json:
    brief = _is_brief(page, action) and "rows" not in action.model_fields_set
    options = {"headers": action.headers, "lists": brief or action.rows == "lists" or action.format == "csv"}
    found, unseen = await _read_seen(_Values, page, action, _TABLES, options)
    if not found["count"]:
        raise ElementNotFound(
            f"Element matching selector '{action.selector}' is no table, and has none in it.",
            details={"selector": action.selector, "url": page.url},
        )
    counted: Json = {"count": found["count"], **unseen}
    if action.format == "csv":
        return {**await _as_csv(page, action, made_of(csvs.from_tables, found["values"])), **counted}
    if brief:
        text = made_of(csvs.tables_in_brief, found["values"])
        return {**await page.files.shown("csv", text, action.budget), **counted}
    return {**await _as_json(page, action, "tables", found["values"]), **counted}


async def extract_links(page: BrowserPage, action: actions.ExtractLinks) -> Json:
    links, unseen = await _of_scope(
        list[JsonValue], page, action, _LINKS, {"site": action.site, "unique": action.unique}
    )
    where = {} if links else await _in_frames(page, action, "a[href], area[href]")
    return {**await page.files.shown_data("links", links, action.budget), "count": len(links), **where, **unseen}


async def extract_images(page: BrowserPage, action: actions.ExtractImages) -> Json:
    images, unseen = await _of_scope(list[JsonValue], page, action, _IMAGES, {"backgrounds": action.backgrounds})
    where = {} if images else await _in_frames(page, action, "img")
    return {**await page.files.shown_data("images", images, action.budget), "count": len(images), **where, **unseen}


async def extract_metadata(page: BrowserPage, action: actions.ExtractMetadata) -> Json:
    root = await page.elements.find(":root", action.frame)
    metadata = value_of(await world.evaluate(root, _METADATA, timeout_ms=action.timeout))
    return await page.files.shown_data("metadata", metadata, action.budget)


async def extract_data(page: BrowserPage, action: actions.ExtractData) -> Json:
    fields = {name: field.model_dump() for name, field in action.fields.items()}
    found, unseen = await _of_scope(_Data, page, action, _DATA, {"fields": fields, "ms": action.timeout})
    if invalid := found.get("invalid"):
        raise InvalidSelector(
            f"Selector {invalid['selector']!r} of schema.{invalid['path']} cannot be used: {invalid['said']}",
            hint="In a schema a selector is CSS (.price) or an XPath (//td[2]), looked up within its parent.",
            details={"selector": invalid["selector"], "url": page.url, **field_details("schema")},
        )
    lacking = {line.partition(":")[0] for line in [*found["broken"], *found["notFound"]]}
    looked_for = next((field.selector for name, field in action.fields.items() if name in lacking), None)
    where = await _in_frames(page, action, looked_for) if looked_for else {}
    if found["broken"]:
        in_frames = f"In frames: {where['inFrames']}. " if where else ""
        raise ElementNotFound(
            f"What schema requires was not found after {action.timeout}ms. {'; '.join(found['broken'])}",
            hint=f"{in_frames}See what is there: {next_call('snapshot')}; or leave out `required`.",
            details={"url": page.url, "context": {"timeout": action.timeout, "field": "schema"}},
        )
    missing: Json = {**({"notFound": [*found["notFound"]]} if found["notFound"] else {}), **unseen}
    if action.format == "csv":
        return {**await _as_csv(page, action, made_of(csvs.from_data, found["data"])), **missing, **where}
    if _is_brief(page, action):
        text = made_of(csvs.data_in_brief, found["data"])
        return {**await page.files.shown("csv", text, action.budget), **missing, **where}
    return {**await _as_json(page, action, "data", found["data"]), **missing, **where}


def _is_brief(page: BrowserPage, action: SavableExtraction) -> bool:
    """Return whether the reply is for a model, for which a table takes a third of JSON's characters."""
    return page.files.is_for_model and not (action.format or action.save)


async def _as_csv(page: BrowserPage, action: SavableExtraction, table: csvs.Csv) -> Json:
    if action.save:
        return {**await page.files.save_text("csv", table.text, "text/csv; charset=utf-8", "table"), **table.facts()}
    return {**await page.files.shown("csv", table.text, action.budget), **table.facts()}


async def _as_json(page: BrowserPage, action: SavableExtraction, key: str, value: JsonValue) -> Json:
    if action.save:
        text = json.dumps(value, ensure_ascii=False, indent=1)
        return await page.files.save_text(key, text, "application/json", key)
    return await page.files.shown_data(key, value, action.budget)


async def _in_frames(page: BrowserPage, action: ScopedExtraction, selector: str) -> Json:
    return {} if action.selector else await page.elements.in_frames(selector, action.frame)


async def _of_elements(page: BrowserPage, action: ElementExtraction, source: str, arg: object) -> Json:
    """Evaluate a script on the first match, or on all."""
    return await _values(page, action, await _read(_Values, page, action, source, [action.all, arg]))


async def _values(page: BrowserPage, action: ElementExtraction, found: _Values) -> Json:
    if not found["count"] or not found["values"]:  # it has gone since the search
        raise errors.not_found(action.selector, action.timeout, url=page.url)
    value: JsonValue = found["values"] if action.all else found["values"][0]
    return {**await page.files.shown_data(action.text_key, value, action.budget), "count": found["count"]}


async def _read_seen(
    kind: type[T], page: BrowserPage, action: ElementExtraction, source: str, arg: object
) -> tuple[T, Json]:
    """Evaluate a script that reads visible content. Return its value, and how much is invisible."""
    found = await _read(_Seen, page, action, source, [action.all, arg])
    return of_kind(kind, found["value"]), page.looks.of_unseen(found["unseen"])


async def _read(kind: type[T], page: BrowserPage, action: ElementExtraction, source: str, arg: object) -> T:
    found = await page.elements.find(action.selector, action.frame, strict=True)
    await found.first.wait_for(state="attached", timeout=action.timeout)
    return await locators.evaluate_all(kind, found, source, arg)


async def _of_scope(
    kind: type[T], page: BrowserPage, action: ScopedExtraction, source: str, arg: object
) -> tuple[T, Json]:
    root = await page.elements.find(action.selector or ":root", action.frame)
    found = read(_Seen, await world.evaluate(root, source, arg, timeout_ms=action.timeout))
    return of_kind(kind, found["value"]), page.looks.of_unseen(found["unseen"])
