"""The schemas that callers were given before are kept: same arguments, types, defaults and limits."""

from typing import Any, Final, cast

import pytest
from pydantic import JsonValue

from shared.catalogue import ACTIONS, parse
from shared.schema import Schema, full_schema

WAIT_UNTIL: Final = {"type": "string", "enum": ["load", "domcontentloaded", "networkidle"], "default": "load"}
SESSION: Final = {"type": "string"}
PATIENCE: Final = {"type": "number", "default": 5000}
NUMBER: Final = {"type": "number"}
FLAG: Final = {"type": "boolean", "default": False}

PUBLISHED: Final[dict[str, dict[str, Any]]] = {
    "go_back": {
        "properties": {"sessionId": SESSION, "waitUntil": WAIT_UNTIL},
        "required": ["sessionId"],
    },
    "go_forward": {
        "properties": {"sessionId": SESSION, "waitUntil": WAIT_UNTIL},
        "required": ["sessionId"],
    },
    "reload_page": {
        "properties": {"sessionId": SESSION, "ignoreCache": FLAG, "waitUntil": WAIT_UNTIL},
        "required": ["sessionId"],
    },
    "click": {
        "properties": {
            "sessionId": SESSION,
            "selector": {"type": "string"},
            "button": {"type": "string", "enum": ["left", "right", "middle"], "default": "left"},
            "clickCount": {"type": "number", "default": 1, "minimum": 1, "maximum": 3},
            "modifiers": {"type": "array", "items": {"type": "string", "enum": ["Alt", "Control", "Meta", "Shift"]}},
            "position": {"type": "object", "properties": {"x": NUMBER, "y": NUMBER}},
            "force": FLAG,
            "timeout": PATIENCE,
            "noWaitAfter": FLAG,
        },
        "required": ["sessionId", "selector"],
    },
    "fill": {
        "properties": {
            "sessionId": SESSION,
            "selector": {"type": "string"},
            "value": {"type": "string"},
            "force": FLAG,
            "timeout": PATIENCE,
        },
        "required": ["sessionId", "selector", "value"],
    },
    "type": {
        "properties": {
            "sessionId": SESSION,
            "selector": {"type": "string"},
            "text": {"type": "string"},
            "delay": {"type": "number", "default": 0, "minimum": 0, "maximum": 1000},
            "timeout": PATIENCE,
        },
        "required": ["sessionId", "selector", "text"],
    },
    "screenshot": {
        "properties": {
            "sessionId": SESSION,
            "selector": {"type": "string"},
            "fullPage": FLAG,
            "type": {"type": "string", "enum": ["png", "jpeg"], "default": "png"},
            "quality": {"type": "number", "minimum": 0, "maximum": 100, "default": 80},
            "omitBackground": FLAG,
            "clip": {"type": "object", "properties": {"x": NUMBER, "y": NUMBER, "width": NUMBER, "height": NUMBER}},
        },
        "required": ["sessionId"],
    },
    "wait": {
        "properties": {"sessionId": SESSION, "duration": {"type": "number", "minimum": 0, "maximum": 60000}},
        "required": ["sessionId", "duration"],
    },
}

NOT_REQUIRED: Final = {"sessionId"}
"""A pageId addresses a page as well, and your only page needs neither."""
WHOLE: Final = {"clickCount", "timeout", "quality", "duration"}
"""Numbers of which only whole ones make sense: clicks, milliseconds, per cent."""
MORE_CHOICES: Final = {"waitUntil": {"commit"}, "modifiers": {"ControlOrMeta"}, "type": {"webp"}}
"""What Playwright offers beyond the published choices."""
COMPLETE: Final = {"position", "clip"}
"""Objects that mean nothing unless all of their members are given."""


def kept(name: str, before: Schema, now: Schema) -> None:
    """`now` accepts what `before` did, under the same name, with the same default and limits."""
    assert now["type"] == ("integer" if name in WHOLE else before["type"]), name
    assert now.get("default") == before.get("default"), name
    for limit in ("minimum", "maximum"):
        assert limit not in before or now.get(limit) == before[limit], name
    if choices := cast("list[str]", before.get("enum")):
        assert set(cast("list[str]", now["enum"])) == {*choices} | MORE_CHOICES.get(name, set()), name
    if items := before.get("items"):
        kept(name, cast("Schema", items), cast("Schema", now["items"]))
    if members := cast("dict[str, Schema]", before.get("properties", {})):
        assert name in COMPLETE
        assert set(cast("list[str]", now["required"])) == members.keys()
        for member, schema in members.items():
            kept(member, schema, cast("dict[str, Schema]", now["properties"])[member])


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_argument_is_kept(name: str) -> None:
    ours = cast("dict[str, Schema]", full_schema(ACTIONS[name])["properties"])
    for argument, before in PUBLISHED[name]["properties"].items():
        kept(argument, before, ours[argument])


@pytest.mark.parametrize("name", PUBLISHED)
def test_no_more_is_required_than_was_published(name: str) -> None:
    assert set(cast("list[str]", full_schema(ACTIONS[name]).get("required", []))) == {
        argument for argument in PUBLISHED[name]["required"] if argument not in NOT_REQUIRED
    }


SAMPLES: Final[dict[str, JsonValue]] = {
    "sessionId": "shop",
    "selector": "#buy",
    "value": "x",
    "text": "x",
    "duration": 10,
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_call_in_the_published_form_is_accepted(name: str) -> None:
    published = PUBLISHED[name]["properties"]
    defaults = {argument: schema["default"] for argument, schema in published.items() if "default" in schema}
    parsed = parse({"action": name, **{key: SAMPLES[key] for key in PUBLISHED[name]["required"]}, **defaults})
    assert parsed.name() == name
