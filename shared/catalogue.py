"""Lists all actions, and parses every call.

It is longer than 300 lines because a name, its aliases and its bags of options are told apart in one pass over a body.
"""

import hashlib
import json
import re
from collections.abc import Collection, Mapping
from functools import cache, lru_cache
from importlib import import_module
from types import MappingProxyType
from typing import Final, NamedTuple, TypeVar

from pydantic import JsonValue, ValidationError

from shared import explaining
from shared.actions.base import MOST_PARTS, Action, PageAction
from shared.actions.combining import Batch, apart
from shared.actions.help import CallTool
from shared.actions.traits import Alias, Effect
from shared.errors import BrowseError, InvalidRequest, ValidationFailed
from shared.explaining import Body
from shared.next_calls import next_call
from shared.schema import Schema, full_schema, listed_schema
from shared.toolsets import APART, chosen
from shared.wire import CALL_ID_PATTERN, is_page_id

CATEGORIES: Final = (
    "navigation",
    "interaction",
    "pointer",
    "editing",
    "files",
    "combining",
    "waiting",
    "reading",
    "extraction",
    "inspection",
    "scripting",
    "media",
    "tracing",
    "network",
    "emulation",
    "pages",
    "dialogs",
    "ownership",
    "people",
    "sessions",
    "storage",
    "signing_in",
    "work",
    "calls",
    "undoing",
    "activity",
    "help",
    "states",
    "seven",
)
"""Names the modules of `shared.actions` in the order of the list; modules of the same names in
`browser_service.actions` perform them."""


def _declared() -> dict[str, type[Action]]:
    """Collect the action classes of every category, in the order in which they are written."""
    found = [
        value
        for module in (import_module(f"shared.actions.{category}") for category in CATEGORIES)
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Action) and value.__module__ == module.__name__
    ]
    return {action.name(): action for action in found}


A = TypeVar("A", bound=Action)

ACTIONS: Final = MappingProxyType(_declared())

_SHOWN: Final = 500
"""Bounds the characters of a corrected call that an error quotes."""


class Named(NamedTuple):
    """Holds the action that a name in a body means."""

    action: type[Action]
    alias: Alias | None = None


NAMES: Final = MappingProxyType(
    {name: Named(action) for name, action in ACTIONS.items()}
    | {alias.name: Named(action, alias) for action in ACTIONS.values() for alias in action.aliases}
)
"""Maps every name that can be called, aliases included."""


def parse(body: Body) -> Action:
    """Return the action that a body asks for.

    Raises InvalidRequest for a missing or unknown action, ValidationFailed naming the argument for anything else."""
    _check_text(body)
    return _parse(body)


def called(body: Body) -> type[Action]:
    """Return the action that a body names, also through `call_tool`; CallTool itself if no action has that name."""
    name = body.get("action")
    if name == CallTool.name():
        name = body.get("name", name)
    named = NAMES.get(name) if isinstance(name, str) else None
    return named.action if named else CallTool


def parse_as(kind: type[A], body: Body) -> A:
    """Parse a body as an action of this class. Raises what `parse` does, and TypeError for another class."""
    action = parse({**body, "action": kind.name()})
    if not isinstance(action, kind):
        raise TypeError(f"{action.name()} is not {kind.name()}")
    return action


def unwrapped(body: Body) -> dict[str, JsonValue]:
    """Return the call that a body asks for: for `call_tool` the call inside it, so that nothing beyond sees a wrapper.

    Raises InvalidRequest for an unknown name, ValidationFailed for arguments that cannot be passed on."""
    if body.get("action") != CallTool.name():
        return {**body}
    given = {key: value for key, value in body.items() if key != "action"}
    beside = [key for key in given if key not in {"name", "arguments"}]
    if beside and "name" in given and isinstance(inner := given.get("arguments", {}), dict):
        arguments = {**{key: given[key] for key in beside}, **inner}
        right = next_call("call_tool", name=given["name"], arguments=arguments)
        raise ValidationFailed(
            f"Unknown argument {beside[0]!r} for call_tool: the tool's own stand in `arguments`.",
            hint=right if len(right.partition(" ")[2]) <= _SHOWN else f"Move {', '.join(beside)} into arguments.",
            details=explaining.details(CallTool, beside[0]),
        )
    try:
        asked = CallTool.model_validate(given)
    except ValidationError as error:
        raise explaining.explain(CallTool, given, error) from None
    _check_called(asked)
    called: dict[str, JsonValue] = {**asked.arguments, "action": asked.tool}
    _check_text(called)
    return called


def _check_called(asked: CallTool) -> None:
    if asked.tool not in NAMES:
        raise InvalidRequest(
            f"There is no tool {explaining.named(asked.tool)!r}.",
            hint=f"Did you mean {explaining.meant(asked.tool, NAMES)}? {next_call('help')} lists all.",
            details=explaining.details(CallTool, "name"),
        )
    if asked.tool == CallTool.name():
        raise ValidationFailed(
            "call_tool does not call itself.",
            hint=f"Name the tool that you mean: {next_call('call_tool', name='hover', arguments={'selector': 'e12'})}.",
            details=explaining.details(CallTool, "name"),
        )
    if asked.arguments.get("action", asked.tool) != asked.tool:
        raise ValidationFailed(
            f"name is {asked.tool!r}, and the arguments name the action {asked.arguments['action']!r}.",
            hint="Give the tool once, by name.",
            details=explaining.details(CallTool, "arguments"),
        )


def _parse(body: Body, carrier: type[Action] | None = None) -> Action:
    """Parse a body, which is to be a part of the action `carrier`, if there is one."""
    body = unwrapped(body)
    name = body.get("action")
    if not isinstance(name, str):
        problem = f"must be a name, not {explaining.kind(name)}" if "action" in body else "is missing"
        raise InvalidRequest(f'"action" {problem}.', hint='Send {"action": "goto", "url": "https://example.com"}.')
    named = NAMES.get(name)
    if named is None:
        raise InvalidRequest(
            f"Unknown action: {explaining.named(name)}",
            hint=f"Did you mean {explaining.meant(name, NAMES)}? GET /api/tools lists all.",
            details={"context": {"availableActions": [*sorted(ACTIONS)]}},
        )
    arguments = _fold(named.action, {key: value for key, value in body.items() if key != "action"})
    if named.alias:
        arguments = _translate(named.alias, arguments)
    if carrier is not None:
        _check_part(named.action, arguments, carrier)
    try:
        return named.action.model_validate(_with_parts(named.action, arguments))
    except ValidationError as error:
        raise explaining.explain(named.action, arguments, error) from None


def _check_part(action: type[Action], arguments: Body, carrier: type[Action]) -> None:
    """Raise for an action that cannot be a part of this one. A batch takes neither a batch nor what waits for a person;
    the others take no action that has parts itself, or acts elsewhere than on their page."""
    of_one_page = issubclass(action, PageAction) and not action.alone
    carries = any(name in arguments for name in action.carries)
    why, hint = "", f"Call {action.name()} by itself."
    if action.asks_people:
        own = json.dumps({**arguments}, ensure_ascii=False)
        why = ": it waits for a person"
        hint = f"Call it by itself: {action.name()} {own if len(own) <= _SHOWN else '{...}'}."
    elif carrier is Batch and action is Batch:
        hint = "Put its steps among these."
    elif carrier is Batch or (of_one_page and not carries):
        return
    raise ValidationFailed(
        f"{action.name()} cannot be done within {carrier.name()}{why}.",
        hint=hint,
        details=explaining.details(action, ""),
    )


def _with_parts(action: type[Action], arguments: dict[str, JsonValue]) -> dict[str, object]:
    """Parse the actions inside the arguments. All of them are of the page that the call is addressed to, except in a
    batch, where each may be a call of its own."""
    made: dict[str, object] = {**arguments}
    parts: dict[str, Action] = {}
    for name in action.carries:
        given = arguments.get(name)
        if isinstance(given, list) and len(given) <= MOST_PARTS:
            made[name] = [_part(action, f"{name}.{place}", body, parts) for place, body in enumerate(given)]
        elif not isinstance(given, list) and given is not None:
            made[name] = _part(action, name, given, parts)
    if action is Batch and apart(parts.values(), _text(made, "pageId"), _text(made, "sessionId")):
        return made
    for field in ("pageId", "sessionId"):
        _address_all(action, field, made, parts)
    return made


def _text(made: Mapping[str, object], field: str) -> str | None:
    value = made.get(field)
    return value if isinstance(value, str) else None


def _part(carrier: type[Action], place: str, body: JsonValue, parts: dict[str, Action]) -> JsonValue | Action:
    if not isinstance(body, dict):
        return body  # which the validation refuses
    try:
        parts[place] = part = _parse(body, carrier)
    except BrowseError as error:
        raise _placed(error, place) from None
    return part


def _address_all(carrier: type[Action], field: str, made: dict[str, object], parts: Mapping[str, Action]) -> None:
    """Address the call by the page that its parts name. Raises ValidationFailed if they name another one."""
    named = {place: name for place, part in parts.items() if (name := part.wire_body().get(field))}
    if not named:
        return
    made[field] = of_all = made.get(field) or next(iter(named.values()))
    other = next((place for place, name in named.items() if name != of_all), None)
    if other is not None:
        raise ValidationFailed(
            f"{other}.{field}: all of {carrier.name()} is done on one page: {of_all!r} here, and not {named[other]!r}.",
            hint=f"Give {field} once, beside {carrier.carries[0]}; for another page make another call.",
            details=explaining.details(carrier, f"{other}.{field}"),
        )


def _placed(error: BrowseError, place: str) -> BrowseError:
    """Put a part's place into its error: `steps.2.selector`."""
    context = error.details.get("context")
    context = context if isinstance(context, dict) else {}
    within = str(context.get("field", ""))
    field = ".".join(filter(None, [place, within]))
    error.message = f"{field}: {error.message.removeprefix(f'{within}: ')}"
    error.details["context"] = {**context, "field": field}
    return error


def _check_text(body: Body) -> None:
    """Raise ValidationFailed for half a character (a lone surrogate), which passes as JSON and would fail far from here
    as UTF-8."""
    try:
        json.dumps(body, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise ValidationFailed(
            f"The body has half a character in its text: {error.object[error.start]!r}.",
            hint="Send both halves of the surrogate pair, or the character itself.",
        ) from None
    except RecursionError:
        raise ValidationFailed("The body is nested too deeply.") from None


def _fold(action: type[Action], arguments: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Move the keys of `params`, `fetchOptions` and the like to where they belong."""
    folded = dict(arguments)
    for bag in action.bags:
        options = folded.pop(bag, None)
        if options is None:
            continue
        if not isinstance(options, dict):
            raise ValidationFailed(
                f"{bag} of {action.name()} must be an object of options, not {explaining.kind(options)}.",
                hint=f'Send {{"{bag}": {{"name": value}}}}, or the options beside it.',
                details=explaining.details(action, bag),
            )
        for key, value in options.items():
            if key in folded and folded[key] != value:
                raise ValidationFailed(
                    f"{key} is given twice with different values: beside {bag}, and in it.",
                    hint=f"Give {key} once.",
                    details=explaining.details(action, key),
                )
            folded[key] = value
    return folded


def _translate(alias: Alias, arguments: dict[str, JsonValue]) -> dict[str, JsonValue]:
    renamed = {alias.renames.get(key, key): value for key, value in arguments.items()}
    return {**alias.presets, **renamed}


def check_page_id(page_id: str) -> str:
    """Return a page id from a path. Raises the error that one in a body gets."""
    if not is_page_id(page_id):
        raise explaining.bad_id(None, "pageId", page_id)
    return page_id


def is_call_id(text: str) -> bool:
    return re.fullmatch(CALL_ID_PATTERN, text) is not None


class Tool(NamedTuple):
    """Describes an action as a tool list shows it."""

    name: str
    title: str
    description: str
    schema: Schema
    annotations: dict[str, bool]


def tools(toolsets: Collection[str] = ("core",), *, besides: Collection[str] = ()) -> list[Tool]:
    """Return the tools of some toolsets, and those of some names, in a stable order."""
    of_toolsets = chosen(ACTIONS, toolsets)
    return [
        Tool(name, action.title(), action.description(), listed_schema(action), annotations(action))
        for name, action in ACTIONS.items()
        if name in of_toolsets or name in besides
    ]


@lru_cache(maxsize=64)  # A caller names the toolsets, in any combination.
def listed(toolsets: frozenset[str]) -> frozenset[str]:
    """Return the names of the tools in a list of some toolsets. `call_tool` is among them, because replies name calls
    through it; except if only the seven are listed, whose list is documented as it is."""
    through = {CallTool.name()} if toolsets != {APART} else set[str]()
    return frozenset(chosen(ACTIONS, toolsets)) | through


def annotations(action: type[Action]) -> dict[str, bool]:
    """Return the effect in MCP's words, so that clients ask people less."""
    reads = action.effect is Effect.READS
    return {
        "readOnlyHint": reads,
        "destructiveHint": action.effect is Effect.DESTROYS,
        "idempotentHint": reads or action.idempotent,
        "openWorldHint": issubclass(action, PageAction | CallTool),
    }


@cache
def fingerprint() -> str:
    """Return a digest that changes with any argument of any action; gateway and service compare theirs."""
    return digest(ACTIONS)


def digest(actions: Mapping[str, type[Action]]) -> str:
    contract = {name: full_schema(action) for name, action in actions.items()}
    return hashlib.sha256(json.dumps(contract, sort_keys=True).encode()).hexdigest()[:12]
