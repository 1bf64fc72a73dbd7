"""Makes the smallest valid arguments of every action from its schema, so that a new action is covered at once."""

from typing import Any

from browse_together.contract.actions.base import Action
from browse_together.contract.schema import full_schema, properties_of, required_of
from tests.support.json import AnyJson

SELECTOR = "#b"
_MEANT: dict[str, dict[str, AnyJson]] = {
    "expect": {"selector": "#a"},
    "goto": {"url": "about:blank"},
    "open_page": {"url": "about:blank"},
    "block_requests": {"patterns": ["*"]},
    "fetch": {"url": "/cart"},
    "extract_data": {"schema": {"a": "h1"}},
    "set_cookies": {"cookies": [{"name": "x", "value": "x", "domain": "example.com"}]},
    "evaluate_script": {"expression": "document.body.innerHTML = 'mine now'"},
    "press": {"key": "a"},
    "fill_form": {"fields": [{"selector": "#a", "value": "x"}]},
    "batch": {"steps": [{"action": "click", "selector": "#b"}]},
    "fill": {"selector": "#a", "value": "x"},
    "type": {"selector": "#a", "text": "x"},
    "select_option": {"selector": "#s", "value": "1"},
    "emulate": {"offline": True},
    "grant_permissions": {"permissions": ["camera"], "origin": "https://example.com"},
    "wait_for_request": {"during": {"action": "click", "selector": SELECTOR}},
    "wait_for_response": {"during": {"action": "click", "selector": SELECTOR}},
    "find": {"text": "x"},
    "hand_over_page": {"to": "p"},
    "browser_navigate": {"url": "about:blank"},
    "browser_type": {"selector": "#a", "text": "x"},
    "call_tool": {"name": "click", "arguments": {"selector": SELECTOR}},
    "request_human": {"kind": "other", "message": "x"},
}
"""Optional arguments for calls that would do nothing without them, or with made-up ones."""


def smallest(action: type[Action], **chosen: AnyJson) -> dict[str, AnyJson]:
    """Return arguments with which the action would run. Those of `chosen` come first."""
    schema = full_schema(action)
    properties = properties_of(schema)
    required = required_of(schema)
    made = {name: _value(name, properties[name]) for name in required}
    return {**made, **_MEANT.get(action.name(), {}), **chosen}


def _value(name: str, schema: dict[str, AnyJson]) -> AnyJson:
    if "enum" in schema:
        return schema["enum"][0]
    if name == "selector":
        return SELECTOR
    kind = schema.get("type") or schema["anyOf"][0]["type"]
    number = max(schema.get("minimum", 1), 1)
    values: dict[str, AnyJson] = {"string": "x", "integer": number, "number": number, "boolean": True}
    few = schema.get("minItems") or schema.get("minProperties")
    empty: Any = (["x"] if few else []) if kind == "array" else ({"x": "x"} if few else {})  # Any: as there
    return values.get(kind, empty)
