"""Tests that every option that Playwright's own call takes is an argument of the action, or is left out for a
reason."""

import inspect
from collections.abc import Iterator
from typing import Any, Final, Literal, cast, get_args, get_origin

import pytest
from playwright.async_api import FileChooser, Locator, Mouse, Page
from pydantic import JsonValue
from pydantic.alias_generators import to_camel

from browse_together.contract.catalogue import NAMES, parse
from browse_together.contract.errors import ValidationFailed
from browse_together.contract.schema import Schema, full_schema, properties_of, required_of
from tests.support.each import each

Method = Any  # Playwright's methods share no type

CALLS: Final[list[tuple[Method, str]]] = [
    (Page.goto, "goto"),
    (Page.goto, "open_page"),
    (Page.go_back, "go_back"),
    (Page.go_forward, "go_forward"),
    (Page.reload, "reload_page"),
    (Page.content, "content"),
    (Page.close, "close_page"),
    (Page.screenshot, "screenshot"),
    (Locator.screenshot, "screenshot"),
    (Locator.screenshot, "get_screenshot_as_base64"),
    (Page.pdf, "generate_pdf"),
    (Locator.aria_snapshot, "snapshot"),
    (Locator.click, "click"),
    (Locator.fill, "fill"),
    (Locator.press_sequentially, "type"),
    (Locator.press, "press"),
    (Locator.hover, "hover"),
    (Locator.select_option, "select_option"),
    (Locator.check, "check"),
    (Locator.uncheck, "uncheck"),
    (Locator.wait_for, "wait_for_selector"),
    (Locator.dblclick, "double_click"),
    (Locator.clear, "clear"),
    (Locator.focus, "focus"),
    (Locator.blur, "blur"),
    (Locator.drag_to, "drag_and_drop"),
    (Locator.scroll_into_view_if_needed, "scroll"),
    (Locator.set_input_files, "upload_file"),
    (FileChooser.set_files, "upload_file"),
    (Locator.drop, "drop"),
    (Mouse.move, "mouse"),
    (Mouse.click, "mouse"),
    (Mouse.down, "mouse"),
    (Mouse.up, "mouse"),
    (Mouse.wheel, "mouse"),
]
NOT_TAKEN: Final = {
    ("screenshot", "path"): "callers give names, never paths: the picture is kept under an id",
    ("get_screenshot_as_base64", "path"): "likewise",
    ("generate_pdf", "path"): "likewise",
    ("select_option", "element"): "a handle lives in the service; callers name options by value, label or index",
    ("drop", "payload"): "its two parts, `files` and `data`, are arguments",
    ("mouse", "delta_x"): "a point of its own, `by`, has both",
    ("mouse", "delta_y"): "as there",
    ("snapshot", "mode"): "always the mode with refs, which is what a selector argument takes",
}
ALSO_NEEDED: Final[dict[str, dict[str, JsonValue]]] = {"select_option": {"index": 0}}
SAMPLES: Final[dict[str, JsonValue]] = {
    "url": "https://example.com",
    "selector": "#a",
    "source": "#a",
    "target": "#b",
    "value": "x",
    "text": "x",
    "key": "Enter",
    "do": "click",
    "files": [],
    "x": 1,
    "y": 1,
}


def options(method: Method) -> dict[str, inspect.Parameter]:
    return {name: each for name, each in inspect.signature(method).parameters.items() if name != "self"}


def choices(annotation: object) -> Iterator[str]:
    """Return the words of every Literal in an annotation."""
    for inner in get_args(annotation):
        yield from [inner] if get_origin(annotation) is Literal else choices(inner)


EVERY_OPTION = {
    f"{method.__qualname__}({option})": (name, option, parameter.annotation)
    for method, name in CALLS
    for option, parameter in options(method).items()
    if (name, option) not in NOT_TAKEN
}


def some(node: Schema) -> JsonValue:
    """Return a value that a schema allows."""
    if isinstance(listed := node.get("enum"), list):
        return listed[0]
    if isinstance(either := node.get("anyOf"), list):
        return some(cast("Schema", either[0]))
    if "pattern" in node:
        return "1"  # a length, or a range of sheets
    members = properties_of(node)
    values: dict[str, JsonValue] = {
        "integer": node.get("minimum", 1),
        "number": 1,
        "boolean": True,
        "array": [],
        "object": {name: some(member) for name, member in members.items()},
    }
    return values.get(str(node.get("type")), "some")


@each(EVERY_OPTION)
def test_an_option_of_playwright_is_an_argument(given: tuple[str, str, object]) -> None:
    name, option, annotation = given
    schema = full_schema(NAMES[name].action)
    node = properties_of(schema)[to_camel(option)]
    required = {each: SAMPLES[each] for each in required_of(schema)}
    if alias := NAMES[name].alias:
        required = {each: value for each, value in required.items() if each not in alias.presets}
    needed = {**required, **ALSO_NEEDED.get(name, {})}
    parsed = parse({"action": name, "params": {**needed, to_camel(option): some(node)}})
    assert option in parsed.model_fields_set
    items = cast("Schema", node.get("items", node))
    assert set(choices(annotation)) <= {*cast("list[str]", items.get("enum", []))}


@pytest.mark.parametrize(("name", "option"), NOT_TAKEN)
def test_unsupported_options_are_refused_and_still_exist_in_playwright(name: str, option: str) -> None:
    assert any(option in options(method) for method, action in CALLS if action == name)
    with pytest.raises(ValidationFailed, match=f"Unknown argument '{option}'"):
        parse({"action": name, "params": {option: "x"}})


def test_handlers_get_the_options_by_playwrights_names() -> None:
    parsed = parse({"action": "click", "selector": "#a", "params": {"clickCount": 2, "position": {"x": 1, "y": 2}}})
    own = parsed.own_arguments()
    assert own.keys() <= options(Locator.click).keys()
    assert (own["click_count"], own["position"]) == (2, {"x": 1.0, "y": 2.0})
