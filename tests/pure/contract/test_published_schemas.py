"""Tests the tools that callers were promised before: every name can be called, with the same arguments, defaults and
limits.

Where ours differ, they differ as the tables here say, and in no other way."""

import re
from typing import Any, Final, cast

from pydantic import JsonValue

from browse_together.contract.actions.base import Action
from browse_together.contract.catalogue import NAMES, parse
from browse_together.contract.schema import Schema, full_schema, properties_of, required_of
from tests.support.each import each

Published = dict[str, Any]  # Any: JSON Schema

NAMES_PUBLISHED: Final[list[str]] = re.findall(
    r"\w+",
    """
    navigate_to go_back go_forward reload_page wait_for_navigation wait_for_load wait_for_url get_current_url
    get_page_title wait_for_selector
    click fill type double_click right_click hover press focus blur check uncheck select_option clear drag_and_drop
    upload_file
    extract_text extract_html extract_attribute extract_data extract_table extract_links extract_images
    extract_metadata extract_computed_style evaluate_script
    create_session get_session list_sessions destroy_session extend_session save_session_state
    restore_session_state export_session
    set_extra_headers mock_response block_requests wait_for_request wait_for_response get_network_log export_har
    screenshot generate_pdf record_video get_screenshot_as_base64 compare_screenshots
    wait get_cookies set_cookies clear_cookies execute_script
    goto content fetch openPage closePage listPages evaluate
    browser_launch browser_navigate browser_find browser_click browser_type browser_screenshot browser_quit
    """,
)
TEXT: Final = {"type": "string"}
NUMBER: Final = {"type": "number"}
NO: Final = {"type": "boolean", "default": False}
YES: Final = {"type": "boolean", "default": True}
PATIENCE: Final = {"type": "number", "default": 5000}
BAG: Final = {"type": "object"}
TEXTS: Final = {"type": "object", "additionalProperties": TEXT}


def of(*choices: str, default: str | None = None) -> Published:
    return {"type": "string", "enum": [*choices]} | ({"default": default} if default else {})


def some(*choices: str) -> Published:
    return {"type": "array", "items": of(*choices) if choices else TEXT}


def number(**limits: int) -> Published:
    return {"type": "number", **limits}


def pair(first: str, second: str, one: int | None = None, two: int | None = None) -> Published:
    """Return the schema of an object of two numbers."""
    named = {first: one, second: two}
    members = {name: number(default=value) if value else NUMBER for name, value in named.items()}
    return {"type": "object", "properties": members}


WAIT_UNTIL: Final = of("load", "domcontentloaded", "networkidle", default="load")
ENGINE: Final = of("chromium", "firefox", "webkit", default="chromium")
BY: Final = of("css", "text", "role", "testId", default="css")

PUBLISHED: Final[dict[str, tuple[Published, str]]] = {
    "navigate_to": (
        {
            "url": TEXT,
            "sessionId": TEXT,
            "waitUntil": WAIT_UNTIL,
            "timeout": number(default=30_000, minimum=1_000, maximum=120_000),
            "referer": TEXT,
        },
        "url",
    ),
    "go_back": ({"sessionId": TEXT, "waitUntil": WAIT_UNTIL}, "sessionId"),
    "go_forward": ({"sessionId": TEXT, "waitUntil": WAIT_UNTIL}, "sessionId"),
    "reload_page": ({"sessionId": TEXT, "ignoreCache": NO, "waitUntil": WAIT_UNTIL}, "sessionId"),
    "click": (
        {
            "sessionId": TEXT,
            "selector": TEXT,
            "button": of("left", "right", "middle", default="left"),
            "clickCount": number(default=1, minimum=1, maximum=3),
            "modifiers": some("Alt", "Control", "Meta", "Shift"),
            "position": pair("x", "y"),
            "force": NO,
            "timeout": PATIENCE,
            "noWaitAfter": NO,
        },
        "sessionId selector",
    ),
    "fill": (
        {"sessionId": TEXT, "selector": TEXT, "value": TEXT, "force": NO, "timeout": PATIENCE},
        "sessionId selector value",
    ),
    "type": (
        {
            "sessionId": TEXT,
            "selector": TEXT,
            "text": TEXT,
            "delay": number(default=0, minimum=0, maximum=1_000),
            "timeout": PATIENCE,
        },
        "sessionId selector text",
    ),
    "extract_text": (
        {"sessionId": TEXT, "selector": TEXT, "all": NO, "trim": YES, "normalizeWhitespace": YES},
        "sessionId selector",
    ),
    "extract_html": ({"sessionId": TEXT, "selector": TEXT, "inner": YES, "all": NO}, "sessionId selector"),
    "extract_attribute": (
        {"sessionId": TEXT, "selector": TEXT, "attribute": TEXT, "all": NO},
        "sessionId selector attribute",
    ),
    "create_session": (
        {
            "userId": TEXT,
            "name": TEXT,
            "persistent": NO,
            "ttl": number(default=86_400_000),
            "browserType": ENGINE,
            "viewport": pair("width", "height", 1920, 1080),
            "userAgent": TEXT,
            "locale": {"type": "string", "default": "en-US"},
            "timezone": TEXT,
            "permissions": some("geolocation", "notifications", "camera", "microphone"),
            "proxy": {"type": "object", "properties": {"server": TEXT, "username": TEXT, "password": TEXT}},
        },
        "",
    ),
    "get_session": ({"sessionId": TEXT}, "sessionId"),
    "list_sessions": ({"userId": TEXT, "persistent": {"type": "boolean"}}, ""),
    "set_extra_headers": ({"sessionId": TEXT, "headers": TEXTS}, "sessionId headers"),
    "mock_response": (
        {
            "sessionId": TEXT,
            "pattern": TEXT,
            "method": of("GET", "POST", "PUT", "DELETE", "PATCH"),
            "status": number(default=200, minimum=100, maximum=599),
            "headers": TEXTS,
            "body": TEXT,
            "contentType": {"type": "string", "default": "application/json"},
            "delay": number(default=0),
        },
        "sessionId pattern",
    ),
    "block_requests": (
        {
            "sessionId": TEXT,
            "patterns": some(),
            "resourceTypes": some("image", "stylesheet", "font", "script", "xhr", "fetch"),
        },
        "sessionId",
    ),
    "screenshot": (
        {
            "sessionId": TEXT,
            "selector": TEXT,
            "fullPage": NO,
            "type": of("png", "jpeg", default="png"),
            "quality": number(minimum=0, maximum=100, default=80),
            "omitBackground": NO,
            "clip": {"type": "object", "properties": dict.fromkeys(("x", "y", "width", "height"), NUMBER)},
        },
        "sessionId",
    ),
    "wait": ({"sessionId": TEXT, "duration": number(minimum=0, maximum=60_000)}, "sessionId duration"),
    "goto": ({"pageId": TEXT, "url": TEXT, "params": BAG}, "pageId url"),
    "content": ({"pageId": TEXT}, "pageId"),
    "fetch": (
        {"pageId": TEXT, "url": TEXT, "fetchOptions": BAG, "responseType": of("text", "json", default="text")},
        "pageId url",
    ),
    "browser_launch": ({"browserType": ENGINE, "headless": YES, "viewport": pair("width", "height", 1280, 720)}, ""),
    "browser_navigate": ({"url": TEXT, "waitUntil": WAIT_UNTIL}, "url"),
    "browser_find": ({"selector": TEXT, "selectorType": BY, "options": BAG}, "selector"),
    "browser_click": ({"selector": TEXT, "selectorType": BY, "options": BAG}, "selector"),
    "browser_type": (
        {
            "selector": TEXT,
            "text": TEXT,
            "selectorType": of("css", "text", "role", "testId", "label", default="css"),
            "clear": YES,
        },
        "selector text",
    ),
    "browser_screenshot": ({"selector": TEXT, "fullPage": NO, "path": TEXT}, ""),
    "browser_quit": ({}, ""),
}
"""The arguments of each, and those that were required."""

NOT_REQUIRED: Final = {"sessionId", "pageId"}
"""Either addresses a page, and your only page needs neither."""
OPTIONAL_NOW: Final = {"type": {"selector"}}
"""Without it, the text goes where the focus is."""
WHOLE: Final = {"clickCount", "timeout", "quality", "duration", "ttl", "width", "height", "status", "delay"}
"""Numbers that must be whole: clicks, milliseconds, per cent, pixels of a window."""
MORE_CHOICES: Final = {
    "waitUntil": {"commit"},
    "modifiers": {"ControlOrMeta"},
    "type": {"webp"},
    "permissions": {"clipboard-read", "clipboard-write"},
    "responseType": {"binary"},
    "resourceTypes": {"document", "media", "eventsource", "manifest", "ping", "other", "websocket"},
}
"""What Playwright offers beyond the published choices."""
BOUNDED: Final = {"timeout", "ttl", "delay", "width", "height"}
"""Nothing may take for ever, or be without end."""
DEFAULTS: Final[dict[str, JsonValue]] = {
    "viewport": {"width": 1920, "height": 1080},
    "permissions": [],
    "body": "",
    "sessionId": "default",
}
"""What it is when it is not given, where nothing was said."""
COMPLETE: Final = {"position": {"x", "y"}, "clip": {"x", "y", "width", "height"}, "proxy": {"server"}}
"""Members without which an object is meaningless."""


def named(name: str) -> tuple[type[Action], dict[str, Schema]]:
    action = NAMES[name].action
    return action, properties_of(full_schema(action))


def kept(name: str, before: Schema, now: Schema) -> None:
    """Check that `now` accepts what `before` did, under the same name, with the same default and limits."""
    kinds = {"integer", "number"} if name in WHOLE and before["type"] == "number" else {before["type"]}
    options = [option["type"] for option in cast("list[Schema]", now.get("anyOf", [now]))]
    assert kinds & {*options}, name
    assert now.get("default") == before.get("default", DEFAULTS.get(name) if "default" in now else None), name
    for limit in ("minimum", "maximum"):
        assert now.get(limit) == before.get(limit) or (limit not in before and name in BOUNDED), (name, limit)
    if choices := cast("list[str]", before.get("enum", [])):
        assert {*choices} <= {*cast("list[str]", now["enum"])} <= {*choices} | MORE_CHOICES.get(name, set()), name
    else:
        assert "enum" not in now, name
    if items := before.get("items"):
        kept(name, cast("Schema", items), cast("Schema", now["items"]))
    if members := properties_of(before):
        assert {*required_of(now)} == COMPLETE.get(name, set()), name
        for member, schema in members.items():
            kept(member, schema, properties_of(now)[member])


def test_every_published_name_can_be_called() -> None:
    assert [name for name in NAMES_PUBLISHED if name not in NAMES] == []


@each({name: name for name in PUBLISHED})
def test_a_published_argument_is_kept(name: str) -> None:
    action, ours = named(name)
    for argument, before in PUBLISHED[name][0].items():
        if argument not in action.option_bags:
            kept(argument, before, ours[argument])


@each({name: name for name in PUBLISHED})
def test_no_more_is_required_than_was_published(name: str) -> None:
    required = full_schema(named(name)[0]).get("required", [])
    published = {*PUBLISHED[name][1].split()} - NOT_REQUIRED
    assert {*cast("list[str]", required)} == published - OPTIONAL_NOW.get(name, set())


SAMPLES: Final[dict[str, JsonValue]] = {
    "sessionId": "shop",
    "pageId": "shop",
    "url": "https://example.com",
    "selector": "#buy",
    "attribute": "href",
    "pattern": "*/api/*",
    "headers": {"X-A": "1"},
    "value": "x",
    "text": "x",
    "duration": 10,
}
ONE_OF: Final[dict[str, dict[str, JsonValue]]] = {"block_requests": {"patterns": ["*.facebook.net/*"]}}
"""Neither was required, and without any there is nothing to do."""


@each({name: name for name in PUBLISHED})
def test_a_call_in_the_published_form_is_accepted(name: str) -> None:
    published, required = PUBLISHED[name]
    defaults = {argument: schema["default"] for argument, schema in published.items() if "default" in schema}
    needed = {key: SAMPLES[key] for key in required.split()} | ONE_OF.get(name, {})
    assert isinstance(parse({"action": name, **needed, **defaults}), NAMES[name].action)
