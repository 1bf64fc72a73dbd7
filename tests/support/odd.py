"""Makes bodies that no careful caller sends: arguments of the right kind with odd values, and of the wrong kind."""

from collections.abc import Callable
from random import Random
from typing import Final, cast

from pydantic import JsonValue

from browse_together.contract.actions.base import AN_ACTION, Action
from browse_together.contract.catalogue import ACTIONS
from browse_together.contract.schema import Schema, full_schema, properties_of, required_of

TEXTS: Final = (
    *("", " ", "\0", "a\0b", "\n", "\u202e", "é🫖", "\ufffe", "x" * 9_000, "0", "-1", "1e999", "NaN", "null", "[]"),
    *("//", "http://[", "http://[::1", "http://a b/", "http://\0/", "https://%zz/", "http://127.0.0.1:99999/"),
    *("data:,x", "javascript:1", "file:///etc/passwd", "blob:x", "about:blank", "ws://x", "http://127.0.0.1:9/"),
    *("[", "((", "*", "/(/", "/(a+)+$/", "{a,b}", "{" * 50, "p", "text=x", "//p", "role=button", "e1", "f1e1", ">>"),
    *("p >> ", "NUL", "con.txt", "a/b", ".", "..", "../../x", "%00", "() => 1", "throw 1", "ä" * 300, "Enter"),
    *("\\", "'", '"', "a:b", "default", "tab", "{}"),
)
OTHERS: Final[list[JsonValue]] = [
    *(None, True, 0, -1, 10**30, 1.5, 1e308, -0.0, ""),
    [],
    {},
    [[]],
    [{}],
    {"a": None},
    {"": ""},
    [None, 1, "x"],
    {"selector": {}, "type": {}, "all": "x"},
]
NOT_CALLED: Final = frozenset(
    {*("login", "request_human", "create_session", "browser_launch", "close_session", "record_video", "start_tracing")}
)
"""Actions that wait for people, or start what outlasts the test."""
_OF_ANOTHER_KIND: Final = 0.02
_ADDRESS: Final = frozenset({"pageId", "sessionId", "ifRevision", "expectUrl"})
"""Would have most calls refused before they do anything."""
_SHORT: Final = {"timeout": 200, "duration": 1, "wait": 0, "waitSeconds": 0, "seconds": 0.1, "delay": 0, "steps": 2}


def body(action: type[Action], random: Random) -> dict[str, JsonValue]:
    """Return a body with all that an action requires, and some of what it takes."""
    schema = full_schema(action)
    required = required_of(schema)
    properties = properties_of(schema)
    chosen = {
        name: _SHORT.get(name, _value(node, random))
        for name, node in properties.items()
        if name not in _ADDRESS and (name in required or name in _SHORT or random.random() < 0.4)
    }
    return {**chosen, "action": action.name()}


def _value(node: Schema, random: Random) -> JsonValue:
    if random.random() < _OF_ANOTHER_KIND:
        return random.choice(OTHERS)
    if isinstance(choices := node.get("enum"), list):
        return random.choice(choices)
    if isinstance(options := node.get("anyOf"), list):
        return _value(cast("Schema", random.choice(options)), random)
    numbers: list[JsonValue] = [0, 1, 5, 100, node.get("maximum", 7), node.get("minimum", 0)]
    kinds: dict[JsonValue, Callable[[], JsonValue]] = {
        "string": lambda: random.choice(TEXTS),
        "integer": lambda: random.choice(numbers),
        "number": lambda: random.choice(numbers),
        "boolean": lambda: random.choice([True, False]),
        "array": lambda: [_value(cast("Schema", node.get("items", {})), random) for _ in range(random.randrange(4))],
        "object": lambda: _object(node, random),
    }
    return kinds.get(node.get("type"), lambda: random.choice(OTHERS))()


def _object(node: Schema, random: Random) -> JsonValue:
    if str(node.get("description")).startswith(AN_ACTION):
        return body(ACTIONS[random.choice([name for name in ACTIONS if name not in NOT_CALLED])], random)
    properties = properties_of(node)
    made: dict[str, JsonValue] = {name: _value(inner, random) for name, inner in properties.items()}
    if isinstance(inner := node.get("additionalProperties"), dict):
        made |= {random.choice(TEXTS): _value(inner, random) for _ in range(random.randrange(1, 4))}
    return made
