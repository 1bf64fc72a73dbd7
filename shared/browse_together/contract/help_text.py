"""Writes the text of `help`: one action in full, or the list of all."""

from collections.abc import Iterable, Mapping
from itertools import groupby
from types import MappingProxyType
from typing import Final, cast

from pydantic import JsonValue

from browse_together.contract import peer_calls, toolsets
from browse_together.contract.actions.arguments import MOST_TEXT
from browse_together.contract.actions.base import Action, PageAction
from browse_together.contract.actions.traits import Effect, Lane, Scope, Unaddressed
from browse_together.contract.argument_errors import suggestions
from browse_together.contract.catalogue import ACTIONS, NAMES, NamedAction
from browse_together.contract.errors import InvalidRequest, field_details
from browse_together.contract.limits import UNLIMITED, Limits
from browse_together.contract.next_calls import next_call
from browse_together.contract.schema import (
    Schema,
    full_schema,
    inherited_names,
    properties_of,
    required_of,
    second_names,
)

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
    if action.ends_logins:
        words.append("`restore_session_state` brings back for a day the logins that it ends")
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


_SAMPLES: Final[Mapping[str, JsonValue]] = MappingProxyType(
    {
        "selector": 'role=button[name="Buy"]',
        "url": "https://example.com/shop",
        "origin": "https://example.com",
        "value": "Ana",
        "text": "Ana",
        "expression": "document.title",
        "script": "window.debug = true",
        "duration": 500,
        "attribute": "href",
        "pattern": "**/api/orders",
        "headers": {"Accept-Language": "de"},
        "items": {"theme": "dark"},
        "keys": ["theme"],
        "cookies": [{"name": "theme", "value": "dark", "url": "https://example.com"}],
        "source": "text=Tea",
        "target": "#bag",
        "baseline": "art-...",
        "callId": "7f3a90c2",
        "content": "...",
        "sessionId": "trial",
        "name": "send-invoice",
        "reason": "waiting for a code",
        "message": "The invoice is sent.",
        "to": "Claude · shop",
        "steps": [{"action": "click", "selector": "#buy"}, {"action": "content", "format": "text"}],
        "schema": {"title": "h1", "price": {"selector": ".price", "type": "number"}},
        "files": [{"path": "/home/ana/letter.pdf"}],
        "fields": [{"selector": "#name", "value": "Ana"}, {"selector": "#terms", "value": True}],
    }
)
"""Sample values for arguments with these names, in any action."""
_IN_FIELD: Final[dict[str, JsonValue]] = {"selector": 'role=textbox[name="Name"]'}
_BOX: Final[dict[str, JsonValue]] = {"selector": 'role=checkbox[name="I agree"]'}
_EXTRA_SAMPLES: Final[Mapping[str, dict[str, JsonValue]]] = MappingProxyType(
    {
        "fill": _IN_FIELD,
        "type": _IN_FIELD,
        "browser_type": _IN_FIELD,
        "press": {"key": "Enter"},
        "select_option": {"selector": 'role=combobox[name="Country"]', "label": "Germany"},
        "check": _BOX,
        "uncheck": _BOX,
        "mouse": {"do": "click", "x": 320, "y": 200},
        "upload_file": {"selector": "input[type=file]"},
        "wait_for_url": {"url": "**/orders/*"},
        "extract_text": {"selector": "main"},
        "extract_html": {"selector": "main"},
        "extract_attribute": {"selector": "main a"},
        "find_elements": {"selector": "main a"},
        "request_human": {"kind": "login", "message": "Please sign in to the shop."},
        "find": {"text": "Kettle"},
        "expect": {"selector": ".total", "to": "text", "value": "12.50"},
        "drop": {"data": {"text/plain": "Ana"}},
        "call_tool": {"name": "drag_and_drop", "arguments": {"source": "text=Tea", "target": "#bag"}},
    }
)
"""What examples of these actions say otherwise, or besides the required arguments."""
_OBVIOUS: Final = frozenset({"pattern", "minLength", "maxLength"})
"""Limits that `help` omits, because the error for breaking one explains it."""
_FURTHER_CALLS: Final = (
    f"One in full: {next_call('help', name='click')}. One that your list lacks: "
    f"{next_call('call_tool', name='...', arguments={...})}. "
    f"A category of them for your list: {next_call('help', toolset='files')}."
)


def overview(limits: Limits = UNLIMITED) -> str:
    """List all tools that a token allows, a line for each category."""
    groups = groupby(filter(limits.lists, ACTIONS.values()), toolsets.category)
    lines = [f"{name}: {', '.join(action.name() for action in actions)}" for name, actions in groups]
    return "\n".join([*lines, _FURTHER_CALLS, *_limits_line(limits)])


def toolset_help(name: str, limits: Limits = UNLIMITED) -> str:
    """List the tools of a toolset that a token allows, a line each. Raises InvalidRequest for an unknown toolset."""
    known = toolsets.NAMES
    if name not in known:
        raise InvalidRequest(
            f"There is no toolset {name!r}.",
            hint=f"There are: {', '.join(known)}.",
            details=field_details("toolset"),
        )
    found = {tool: action for tool, action in toolsets.actions_in({name}).items() if limits.lists(action)}
    if not found:
        return "\n".join([f"{name} has no tool that this token allows.", *_limits_line(limits)])
    lines = [f"- {each}: {action.description().partition('. ')[0].removesuffix('.')}" for each, action in found.items()]
    first = next(iter(found))
    more = (
        f"Arguments of one: {next_call('help', name=first)}. One that your list lacks: "
        f"{next_call('call_tool', name=first, arguments={...})}."
    )
    return "\n".join([f"{name} has {len(lines)} tools:", *lines, more, *_limits_line(limits)])


def action_help(name: str, limits: Limits = UNLIMITED) -> str:
    """Describe an action in full. Raises InvalidRequest for an unknown one."""
    named = NAMES.get(name)
    if named is None:
        raise InvalidRequest(
            f"There is no tool {name!r}.",
            hint=f"Did you mean {suggestions(name, NAMES)}? {next_call('help')} lists all.",
            details=field_details("name"),
        )
    action = named.action
    properties = properties_of(full_schema(action))
    inherited = inherited_names(action)
    own = [_argument(action, each, node) for each, node in properties.items() if each not in inherited]
    every = [_brief(each, node) for each, node in properties.items() if each in inherited]
    bags = (
        [f"Options may also stand in {' or '.join(action.option_bags)}, by Playwright's names."]
        if action.option_bags
        else []
    )
    return "\n".join(
        [
            f"{action.name()}: {action.whole_description()}",
            behaviour(action, brief=True).replace("*", ""),
            *_alias(named),
            *(own or ["No arguments of its own."]),
            *([f"As every tool of a page: {', '.join(every)}."] if issubclass(action, PageAction) else []),
            *bags,
            f"Example: {next_call(action.name(), **example(action))}",
            *([f"This token does not allow it ({rule})."] if (rule := limits.rule_against(action)) else []),
        ]
    )


def _limits_line(limits: Limits) -> list[str]:
    return [f"This token's limits: {limits.words}."] if limits.words else []


def example(action: type[Action]) -> dict[str, JsonValue]:
    """Return example arguments for a call of the action."""
    schema = full_schema(action)
    properties = properties_of(schema)
    required = required_of(schema)
    return {name: _sample(name, properties[name]) for name in required} | _EXTRA_SAMPLES.get(action.name(), {})


def _sample(name: str, node: Schema) -> JsonValue:
    if name in _SAMPLES:
        return _SAMPLES[name]
    options = node.get("enum") or node.get("anyOf")
    if isinstance(options, list):
        return options[0] if "enum" in node else _sample(name, cast("Schema", options[0]))  # a schema contains schemas
    if node.get("type") == "array":
        return [_sample(name, cast("Schema", node["items"]))]
    if node.get("type") == "object":
        properties = properties_of(node)
        if "minProperties" in node:
            return {"a": _sample("", cast("Schema", node["additionalProperties"]))}
        return {key: _sample(key, properties[key]) for key in required_of(node)}
    least = max(cast("int", node.get("minimum", 1)), 1)
    plain: dict[str, JsonValue] = {"integer": least, "number": least, "boolean": True}
    return plain.get(str(node.get("type")), "a")


def _argument(action: type[Action], name: str, node: Schema) -> str:
    required = name in required_of(full_schema(action))
    kind, limits = type_of(node).replace("`", ""), {k: v for k, v in node.items() if k not in _OBVIOUS}
    kind = "" if kind in {"string", "boolean"} else kind.partition(" of object")[0]
    facts = [kind, allowed_values(limits).replace("`", "")]
    facts.append("required" if required else f"default {as_text(node['default'])}" if "default" in node else "")
    names, told = " or ".join([name, *second_names(action).get(name, [])]), ", ".join(filter(None, facts))
    return f"- {names}{f' ({told})' if told else ''}: {node.get('description', '')}"


def _brief(name: str, node: Schema) -> str:
    """Name an argument that the instructions describe, with its values if they are a few words."""
    allowed = allowed_values(node).replace("`", "") if "enum" in node else ""
    told = allowed or (f"default {as_text(node['default'])}" if "default" in node else "")
    return f"{name} ({told})" if told else name


def _alias(named: NamedAction) -> list[str]:
    if named.alias is None:
        return []
    if theirs := peer_calls.CONVERTED.get(named.alias.name):
        told = f": {theirs.told}" if theirs.told else ""
        return [
            f"{named.alias.name} is taken with the arguments that it has elsewhere{told}. Here it is {theirs.here}."
        ]
    renamed = [f"{new} is {old}" for new, old in named.alias.renames.items()]
    preset = [f"{name} is {as_text(value)}" for name, value in named.alias.presets.items()]
    means = f": {', '.join([*renamed, *preset])}" if renamed or preset else ""
    return [f"{named.alias.name} is another name of it{means}."]
