"""Describes actions and the schemas of their arguments in words, for `help` and the reference."""

from collections.abc import Iterable
from types import MappingProxyType
from typing import Final, cast

from pydantic import JsonValue

from shared.actions.arguments import MOST_TEXT
from shared.actions.base import Action
from shared.actions.traits import UNDO, Effect, Lane, Scope, Unaddressed
from shared.schema import Schema, properties_of

_EFFECTS: Final = MappingProxyType(
    {Effect.READS: "Reads", Effect.ACTS: "Acts (takes the lease)", Effect.DESTROYS: "Destroys (takes the lease)"}
)
_SCOPES: Final = MappingProxyType(
    {Scope.PAGE: "on one page", Scope.SESSION: "on a whole session", Scope.SERVICE: "in the service"}
)
_LANES: Final = MappingProxyType({Lane.QUEUE: "takes its turn on the page", Lane.BESIDE: "waits for no turn"})
_UNADDRESSED: Final = MappingProxyType(
    {
        Unaddressed.ONLY_PAGE: "without `pageId`: your only page",
        Unaddressed.NEW_PAGE: "without `pageId`: a new page of your own",
        Unaddressed.ANOTHER_PAGE: "without `pageId`: a new page of your own",
        Unaddressed.OWN_PAGE: "without `pageId`: the page that `browser_launch` opened",
    }
)


def behaviour(action: type[Action], *, brief: bool = False) -> str:
    """Describe an action's effect, scope and lane in words; `brief` omits what is true of nearly all actions."""
    effect = _EFFECTS[action.effect] if action.scope is Scope.PAGE else action.effect.value.capitalize()
    words = [f"{effect} {_SCOPES[action.scope]}"]
    if action.scope is Scope.PAGE:
        beside = [_LANES[action.lane], _UNADDRESSED[action.unaddressed]]
        usual = {_LANES[Lane.QUEUE], _UNADDRESSED[Unaddressed.ONLY_PAGE]} if brief else set[str]()
        words += [each for each in beside if each not in usual]
    if action.undone_by == UNDO:
        words.append("`undo` takes it back for 10 minutes")
    called = f" Also called {listed(alias.name for alias in action.aliases)}." if action.aliases else ""
    return f"*{'; '.join(words)}.*{called}"


def type_of(node: Schema) -> str:
    if isinstance(options := node.get("anyOf"), list):
        return " or ".join(type_of(cast("Schema", option)) for option in options)  # a schema contains schemas
    kind = str(node.get("type", "any JSON"))
    if kind == "array":
        items = type_of(cast("Schema", node["items"]))
        return "array" if items == "any JSON" else f"array of {items}"
    if properties := properties_of(node):
        return f"object of {', '.join(f'`{name}`' for name in properties)}"
    return kind


def allowed_values(node: Schema) -> str:
    """Describe the values that a schema allows: by enum, range, length or pattern."""
    if isinstance(items := node.get("items"), dict) and "enum" in items:
        return allowed_values(items)
    if isinstance(choices := node.get("enum"), list):
        return listed(map(as_text, choices))
    limits = []
    if "minimum" in node and "maximum" in node:
        limits.append(f"{node['minimum']} to {node['maximum']}")
    elif "minimum" in node:
        limits.append(f"{node['minimum']} or more")
    if node.get("minLength") == 1:
        limits.append("not empty")
    if node.get("maxLength", MOST_TEXT) != MOST_TEXT:
        limits.append(f"at most {node['maxLength']} characters")
    if most := node.get("maxItems", node.get("maxProperties")):
        limits.append(f"at most {most}")
    if "pattern" in node:
        limits.append(f"`{node['pattern']}`")
    return ", ".join(limits)


def as_text(value: JsonValue) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
