"""All actions, and the one way in: `parse`."""

import difflib
import hashlib
import json
import re
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from types import MappingProxyType
from typing import Final, NamedTuple, cast

from pydantic import AliasChoices, JsonValue, ValidationError

from shared.actions.base import MOST_PARTS, Action, Alias, Effect, PageAction
from shared.errors import BrowseError, InvalidRequest, ValidationFailed
from shared.schema import Schema, full_schema, listed_schema
from shared.wire import CALL_ID_PATTERN, ID_PATTERN, RESERVED_IDS, is_page_id, spelled_validly

Body = Mapping[str, JsonValue]

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
    "scripting",
    "media",
    "network",
    "pages",
    "dialogs",
    "ownership",
    "people",
    "sessions",
    "signing_in",
    "work",
    "calls",
    "activity",
    "states",
    "seven",
)
"""The modules of `shared.actions`, in the order of the list; in `browser_service.actions` the same do them."""

_HINTS: Final = MappingProxyType(
    {
        "signal": "A signal cannot travel as JSON: bound the request with `timeout` (ms), or stop it with cancel_call.",
        "path": "Files are kept by the service under an id: the reply names the artifact and its URL.",
    }
)

_WORDS: Final = MappingProxyType(
    {
        "model_type": "Input should be an object",
        "dict_type": "Input should be an object",
        "none_required": "Input should be null",
        "is_instance_of": "Input should be an object",
    }
)
"""Where pydantic speaks of Python."""


def _declared() -> dict[str, type[Action]]:
    """The action classes of every category, in the order in which they are written."""
    found = [
        value
        for module in (import_module(f"shared.actions.{category}") for category in CATEGORIES)
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Action) and value.__module__ == module.__name__
    ]
    return {action.name(): action for action in found}


ACTIONS: Final = MappingProxyType(_declared())


class Named(NamedTuple):
    """What a name in a body means."""

    action: type[Action]
    alias: Alias | None = None


NAMES: Final = MappingProxyType(
    {name: Named(action) for name, action in ACTIONS.items()}
    | {alias.name: Named(action, alias) for action in ACTIONS.values() for alias in action.aliases}
)
"""Every name that can be called: canonical ones and aliases."""


def parse(body: Body) -> Action:
    """The action that a body asks for.

    Raises InvalidRequest for a missing or unknown action, ValidationFailed naming the argument for anything else.
    """
    _check_text(body)
    return _parse(body)


def _parse(body: Body, carrier: type[Action] | None = None) -> Action:
    """`carrier`: the action that this one is to be a part of."""
    name = body.get("action")
    if not isinstance(name, str):
        problem = f"must be a name, not {_kind(name)}" if "action" in body else "is missing"
        raise InvalidRequest(f'"action" {problem}.', hint='Send {"action": "goto", "url": "https://example.com"}.')
    named = NAMES.get(name)
    if named is None:
        raise InvalidRequest(
            f"Unknown action: {name}",
            hint=f"Did you mean {_nearest(name, NAMES)}? GET /api/tools lists all.",
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
        raise _explain(named.action, arguments, error) from None


def _check_part(action: type[Action], arguments: Body, carrier: type[Action]) -> None:
    """Raise for what cannot be a part: what carries parts itself, or is not done on the page of its carrier alone."""
    if action.alone or not issubclass(action, PageAction) or any(name in arguments for name in action.carries):
        raise ValidationFailed(
            f"{action.name()} cannot be done within {carrier.name()}.",
            hint=f"Call {action.name()} by itself.",
            details=_details(action, ""),
        )


def _with_parts(action: type[Action], arguments: dict[str, JsonValue]) -> dict[str, object]:
    """The arguments, with the actions in them. All parts are of the one page that the call is addressed to."""
    made: dict[str, object] = {**arguments}
    parts: dict[str, Action] = {}
    for name in action.carries:
        given = arguments.get(name)
        if isinstance(given, list) and len(given) <= MOST_PARTS:
            made[name] = [_part(action, f"{name}.{place}", body, parts) for place, body in enumerate(given)]
        elif not isinstance(given, list) and given is not None:
            made[name] = _part(action, name, given, parts)
    for field in ("pageId", "sessionId"):
        _address_all(action, field, made, parts)
    return made


def _part(carrier: type[Action], place: str, body: JsonValue, parts: dict[str, Action]) -> JsonValue | Action:
    if not isinstance(body, dict):
        return body  # which the validation refuses
    try:
        parts[place] = part = _parse(body, carrier)
    except BrowseError as error:
        raise _placed(error, place) from None
    return part


def _address_all(carrier: type[Action], field: str, made: dict[str, object], parts: Mapping[str, Action]) -> None:
    """A part may name the page too, if it is the same."""
    named = {place: name for place, part in parts.items() if (name := part.wire_body().get(field))}
    if not named:
        return
    made[field] = of_all = made.get(field) or next(iter(named.values()))
    other = next((place for place, name in named.items() if name != of_all), None)
    if other is not None:
        raise ValidationFailed(
            f"{other}.{field}: all of {carrier.name()} is done on one page: {of_all!r} here, and not {named[other]!r}.",
            hint=f"Give {field} once, beside {carrier.carries[0]}; for another page make another call.",
            details=_details(carrier, f"{other}.{field}"),
        )


def _placed(error: BrowseError, place: str) -> BrowseError:
    """The error of a part, which names its place: `steps.2.selector`."""
    context = error.details.get("context")
    context = context if isinstance(context, dict) else {}
    field = ".".join(filter(None, [place, str(context.get("field", ""))]))
    error.message = f"{field}: {error.message}"
    error.details["context"] = {**context, "field": field}
    return error


def _check_text(body: Body) -> None:
    """Half a character (a lone surrogate) passes as JSON, but not through UTF-8: it would fail far from here."""
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
                f"{bag} of {action.name()} must be an object of options, not {_kind(options)}.",
                hint=f'Send {{"{bag}": {{"name": value}}}}, or the options beside it.',
                details=_details(action, bag),
            )
        for key, value in options.items():
            if key in folded and folded[key] != value:
                raise ValidationFailed(
                    f"{key} is given twice with different values: beside {bag}, and in it.",
                    hint=f"Give {key} once.",
                    details=_details(action, key),
                )
            folded[key] = value
    return folded


def _translate(alias: Alias, arguments: dict[str, JsonValue]) -> dict[str, JsonValue]:
    renamed = {alias.renames.get(key, key): value for key, value in arguments.items()}
    return {**alias.presets, **renamed}


def _explain(action: type[Action], arguments: Body, error: ValidationError) -> ValidationFailed:
    """The first problem, in words that name the argument and say what to do."""
    problems = error.errors(include_url=False)
    # a misspelt argument is also a missing one; what was written is what the caller recognises
    problem = next((p for p in problems if p["type"] == "extra_forbidden"), problems[0])
    field = _path(problem["loc"], arguments)
    if problem["type"] == "extra_forbidden" and (twin := _twin(action, field)):
        message = f"{twin} and {field} of {action.name()} are the same argument."
        hint = f"Give {twin} alone."
    elif problem["type"] == "extra_forbidden":
        message = f"Unknown argument {field!r} for {action.name()}."
        hint = _HINTS.get(field) or _suggest(action, field)
    elif problem["type"] == "missing":
        message = f"{action.name()} needs {field!r}."
        hint = f"Add it: {_describe(action, field)}"
    elif field in {"pageId", "sessionId"} and problem["type"] in {"string_pattern_mismatch", "value_error"}:
        return _bad_id(action, field, arguments.get(field))
    else:
        said = _WORDS.get(problem["type"]) or problem["msg"].removeprefix("Value error, ")
        message = f"{field} of {action.name()}: {said}" if field else f"{action.name()}: {said}"
        hint = _describe(action, field)
    return ValidationFailed(message, hint=hint, details=_details(action, field))


def _path(location: tuple[int | str, ...], arguments: Body) -> str:
    """`modifiers.0`: where in the arguments, without the names that pydantic gives to the branches of a union."""
    path: list[str] = []
    at: object = arguments
    for part in location:
        if isinstance(at, dict):
            path.append(str(part))
            at = at.get(part)
        elif isinstance(at, list) and isinstance(part, int):
            path.append(str(part))
            at = at[part]
    return ".".join(path)


def _twin(action: type[Action], name: str) -> str | None:
    """The listed name of an argument whose second name is `name`."""
    for field in action.model_fields.values():
        aliases = field.validation_alias
        if isinstance(aliases, AliasChoices) and name in aliases.choices[1:]:
            return str(aliases.choices[0])
    return None


def _bad_id(action: type[Action], field: str, given: JsonValue) -> ValidationFailed:
    example = spelled_validly(str(given))
    problem = (
        "is a path of the service"
        if given in RESERVED_IDS
        else "is not a valid id: letters, digits, '.', '_' and '-', at most 48, a letter or digit first"
    )
    return ValidationFailed(
        f"{field} {given!r} {problem}.",
        hint=f'For example {{"{field}": "{example}"}}.',
        details=_details(action, field, pattern=ID_PATTERN, example=example),
    )


def check_page_id(page_id: str) -> str:
    """A page id from a path, or the same error that a body gets."""
    if not is_page_id(page_id):
        raise _bad_id(PageAction, "pageId", page_id)
    return page_id


def is_call_id(text: str) -> bool:
    return re.fullmatch(CALL_ID_PATTERN, text) is not None


def _suggest(action: type[Action], field: str) -> str:
    *outer, last = field.split(".")
    inner = _within(action, outer) if outer else []
    arguments = inner or [*_properties(action), *action.bags]
    close = difflib.get_close_matches(last.replace("_", "").lower(), [name.lower() for name in arguments], 1, 0.6)
    meant = next((name for name in arguments if close and name.lower() == close[0] and name != last), None)
    taker = ".".join(outer) if inner else "It"
    return (f"Did you mean {meant!r}? " if meant else "") + f"{taker} takes: {', '.join(arguments)}."


def _within(action: type[Action], path: list[str]) -> list[str]:
    """The arguments of an action, or of a nested argument such as `position`."""
    node = full_schema(action)
    for part in path:
        named = cast("Schema", node.get("properties", {})).get(part)
        inner = node.get("items") if part.isdigit() else named or node.get("additionalProperties")
        node = inner if isinstance(inner, dict) else {}
    return [*cast("Schema", node.get("properties", {}))]


def _describe(action: type[Action], field: str) -> str:
    given = field.split(".", maxsplit=1)[0]
    name = _twin(action, given) or given
    described = _properties(action).get(name, {}).get("description")
    return f"{name}: {described}" if described else action.description()


def _properties(action: type[Action]) -> dict[str, Schema]:
    return cast("dict[str, Schema]", full_schema(action)["properties"])


def _nearest(name: str, names: Mapping[str, object]) -> str:
    close = difflib.get_close_matches(name, list(names), n=3, cutoff=0.5)
    return " or ".join(close) if close else "goto"


def _kind(value: JsonValue) -> str:
    kinds = {str: "text", bool: "true or false", list: "a list", dict: "an object", type(None): "null"}
    return kinds.get(type(value), "a number")


def _details(action: type[Action], field: str, **context: JsonValue) -> dict[str, JsonValue]:
    tool = action.name() if action in ACTIONS.values() else None
    details: dict[str, JsonValue] = {"context": {"field": field, **context}} if field else {}
    return {"tool": tool, **details} if tool else details


class Tool(NamedTuple):
    """An action as a tool list shows it."""

    name: str
    title: str
    description: str
    schema: Schema
    annotations: dict[str, bool]


def tools(toolsets: frozenset[str] = frozenset({"core"})) -> list[Tool]:
    """The tools of some toolsets (`all` for every one), in a lasting order."""
    return [
        Tool(name, action.title(), action.description(), listed_schema(action), annotations(action))
        for name, action in ACTIONS.items()
        if action.toolset in toolsets or "all" in toolsets
    ]


def annotations(action: type[Action]) -> dict[str, bool]:
    """The effect in MCP's words, so that clients ask people less."""
    reads = action.effect is Effect.READS
    return {
        "readOnlyHint": reads,
        "destructiveHint": action.effect is Effect.DESTROYS,
        "idempotentHint": reads or action.idempotent,
        "openWorldHint": issubclass(action, PageAction),
    }


@cache
def fingerprint() -> str:
    """Changes when any argument of any action does; gateway and service compare theirs."""
    return digest(ACTIONS)


def digest(actions: Mapping[str, type[Action]]) -> str:
    contract = {name: full_schema(action) for name, action in actions.items()}
    return hashlib.sha256(json.dumps(contract, sort_keys=True).encode()).hexdigest()[:12]
