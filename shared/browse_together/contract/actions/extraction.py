"""Extracting data: texts, attributes, tables, links, pictures, and what a page says of itself."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, JsonValue, WithJsonSchema, field_validator, model_validator

from browse_together.contract.actions.arguments import MOST_SELECTOR, Part, Selector
from browse_together.contract.actions.base import ExtractingAction
from browse_together.contract.actions.reading import Budget

_DEEPEST = 8
_MOST_FIELDS = 200
_JSON_SCHEMA = ("object", "array")

Wanted = Annotated[Selector, Field(description="Ref (e12), CSS or role=...")]
Within = Annotated[Selector | None, Field(description="Only within the first element that matches.")]
Frame = Annotated[Selector | None, Field(description="Selector of its iframe.")]
Format = Annotated[
    Literal["json", "csv"] | None,
    Field(description="json, or csv as a spreadsheet takes it: one table. Without it: short lines."),
]
Save = Annotated[bool, Field(description="To a file.")]
All = Annotated[bool, Field(description="Of all elements that match, as a list; else of the first.")]


class ExtractText(ExtractingAction):
    """Get the text of elements, or the value of a field.

    As a person sees it; with trim and normalizeWhitespace false, as it stands in the document (textContent)."""

    everyday = ("all",)
    text_key = "text"

    selector: Wanted
    all: All = False
    trim: bool = Field(default=True, description="Without space at the ends.")
    normalize_whitespace: bool = Field(default=True, description="Runs of space and line ends as one space.")
    frame: Frame = None
    budget: Budget = None


class ExtractHtml(ExtractingAction):
    """Get the HTML of elements. `content` has the whole page's."""

    everyday = ("all",)
    text_key = "html"

    selector: Wanted
    inner: bool = Field(default=True, description="Without the element's own tag.")
    all: All = False
    frame: Frame = None
    budget: Budget = None


class ExtractAttribute(ExtractingAction):
    """Get an attribute of elements; null where one has it not."""

    everyday = ("all",)
    text_key = "value"

    selector: Wanted
    attribute: str = Field(
        min_length=1, max_length=200, description="Its name, such as href; data-* gets all that begin so."
    )
    all: All = False
    frame: Frame = None
    budget: Budget = None


def _or_selector(schema: dict[str, Any]) -> None:  # Any: pydantic's type of a schema
    """Let the schema accept the selector alone instead of the object."""
    whole = dict(schema)
    schema.clear()
    selector = {"type": "string", "maxLength": MOST_SELECTOR}
    schema |= {"description": whole.pop("description"), "anyOf": [selector, whole]}


class Datum(Part):
    """What to read, and where."""

    model_config = ConfigDict(json_schema_extra=_or_selector)

    selector: Selector | None = Field(
        default=None, description="CSS or //xpath, within its parent; without, the parent itself."
    )
    type: Literal["string", "number", "boolean", "url"] = Field(
        default="string", description="boolean: is it there, and not no, false, 0 or unticked?"
    )
    attribute: str | None = Field(default=None, min_length=1, max_length=200, description="This instead of the text.")
    required: bool = Field(default=False, description="Wait for it; without it, fail.")
    all: bool = Field(default=False, description="A list of all that match.")
    fields: Annotated[
        "dict[str, Datum] | None",
        WithJsonSchema({"type": "object", "maxProperties": _MOST_FIELDS}),
        Field(max_length=_MOST_FIELDS, description="An object of such fields."),
    ] = None

    @model_validator(mode="before")
    @classmethod
    def _in_other_words(cls, given: JsonValue) -> JsonValue:
        """Accept a selector alone, or the words of JSON Schema: properties, items, a list of required names."""
        return as_datum(given)


def as_datum(given: JsonValue) -> JsonValue:
    """Return a selector, or a node of a JSON Schema, with the fields of a `Datum`."""
    given = {"selector": given} if isinstance(given, str) else given
    if not isinstance(given, dict):
        return given
    kind = given.get("type")
    node = {key: value for key, value in given.items() if key != "type" or kind not in _JSON_SCHEMA}
    if "items" in node or kind == "array":
        return _list_of(node)
    if "properties" in node:
        fields = properties_of(node)
        node = {key: value for key, value in node.items() if key != "properties" and not isinstance(value, list)}
        node["fields"] = fields
    return node


def properties_of(node: dict[str, JsonValue]) -> JsonValue:
    """Return the properties of a JSON Schema, each of which says itself whether it is required."""
    properties, required = node["properties"], node.get("required")
    if not isinstance(properties, dict) or not isinstance(required, list):
        return properties
    return {
        name: {**({"selector": one} if isinstance(one, str) else one), "required": True}
        if name in required and isinstance(one, str | dict)
        else one
        for name, one in properties.items()
    }


def _list_of(node: dict[str, JsonValue]) -> JsonValue:
    items = node.pop("items", {})
    items = {"selector": items} if isinstance(items, str) else items
    if not isinstance(items, dict):
        return {**node, "items": items}
    if node.get("selector") and items.get("selector"):
        items = {**items, "selector": f":is({node['selector']}) :is({items['selector']})"}
    inner = as_datum({**node, **items})
    return {**inner, "all": True} if isinstance(inner, dict) else inner


def _deepest(fields: dict[str, Datum]) -> int:
    return 1 + max((_deepest(field.fields) for field in fields.values() if field.fields), default=0)


class ExtractData(ExtractingAction):
    """Get data by a schema of selectors: {"title": "h1", "items": {"selector": ".item", "all": true, "fields": {...}}}.

    A field may have a type too: {"price": {"selector": ".price", "type": "number"}}. Says what it did not find."""

    everyday = ("selector", "format")
    text_key = "csv"
    extra_keys = ("rows", "formulas", "notFound", "inFrames")

    fields: dict[str, Datum] = Field(
        alias="schema", min_length=1, max_length=_MOST_FIELDS, description="Field -> a selector, or where it is."
    )
    selector: Within = None
    frame: Frame = None
    format: Format = None
    save: Save = False
    budget: Budget = None

    @field_validator("fields", mode="before")
    @classmethod
    def _may_be_json_schema(cls, given: JsonValue) -> JsonValue:
        return properties_of(given) if isinstance(given, dict) and isinstance(given.get("properties"), dict) else given

    @field_validator("fields")
    @classmethod
    def _not_too_deep(cls, fields: dict[str, Datum]) -> dict[str, Datum]:
        if _deepest(fields) > _DEEPEST:
            raise ValueError(f"fields may be nested {_DEEPEST} deep")
        return fields


class ExtractTable(ExtractingAction):
    """Get tables as rows by their headers.

    Rows are objects by their column's header, cells that span repeated, hidden rows left out. Columns without a header
    are column1, column2."""

    everyday = ("selector", "format")
    text_key = "csv"
    extra_keys = ("rows", "formulas", "notFound", "inFrames")

    selector: Selector = Field(default="table, [role=table], [role=grid]", description="A table, or what it is in.")
    all: All = False
    headers: list[str] | None = Field(
        default=None, max_length=1_000, description="Names for the columns, instead of its own."
    )
    rows: Literal["objects", "lists"] = Field(default="objects", description="Form of a row.")
    frame: Frame = None
    format: Format = None
    save: Save = False
    budget: Budget = None


class ExtractLinks(ExtractingAction):
    """Get the links of a page or of a part: text and absolute URL."""

    everyday = ("selector",)
    text_key = "links"

    selector: Within = None
    site: Literal["any", "same", "other"] = Field(default="any", description="Only to the page's own origin, or not.")
    unique: bool = Field(default=False, description="Each URL once.")
    frame: Frame = None
    budget: Budget = None


class ExtractImages(ExtractingAction):
    """Get the pictures of a page or of a part: URL, alt text, size in px, and whether each is loaded."""

    everyday = ("selector",)
    text_key = "images"

    selector: Within = None
    backgrounds: bool = Field(default=False, description="Those of CSS backgrounds too.")
    frame: Frame = None
    budget: Budget = None


class ExtractMetadata(ExtractingAction):
    """Get what a page says of itself: title, description, canonical URL, OpenGraph, JSON-LD.

    Its keywords, language, Twitter, alternates and icons too."""

    everyday = ()
    text_key = "metadata"

    frame: Frame = None
    budget: Budget = None


class ExtractComputedStyle(ExtractingAction):
    """Get the CSS of an element as the browser computed it."""

    everyday = ("properties",)
    text_key = "style"

    selector: Wanted
    properties: list[str] | None = Field(
        default=None, max_length=500, description='Such as color or --brand; ["*"] for all; the usual ones without.'
    )
    pseudo: str | None = Field(default=None, pattern=r"^::?[a-z-]+$", description="Such as ::before.")
    all: All = False
    frame: Frame = None
    budget: Budget = None
