"""Explains what is wrong with an argument, in words that name it and say what to do."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, cast

from pydantic import JsonValue, ValidationError

from shared.actions.base import Action
from shared.errors import ValidationFailed, of_field
from shared.likeness import nearest
from shared.schema import Schema, full_schema, second_names
from shared.wire import ID_PATTERN, RESERVED_IDS, spelled_validly

_LONGEST_NAME: Final = 100
Body = Mapping[str, JsonValue]

_HINTS: Final = MappingProxyType(
    {
        "signal": "A signal cannot travel as JSON: bound the request with `timeout` (ms), or stop it with cancel_call.",
        "path": "The service names the files that calls make; the reply says where they are.",
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
"""Replaces pydantic's messages that speak of Python."""


def explain(action: type[Action], arguments: Body, error: ValidationError) -> ValidationFailed:
    """Return an error for the first problem, which names the argument and says what to do."""
    problems = error.errors(include_url=False)
    # a misspelt argument is also a missing one; what was written is what the caller recognises
    problem = next((p for p in problems if p["type"] == "extra_forbidden"), problems[0])
    field = _path(problem["loc"], arguments)
    if problem["type"] == "extra_forbidden" and (same := _twin(action, field)):
        message = f"{same} and {field} of {action.name()} are the same argument."
        hint = f"Give {same} alone."
    elif problem["type"] == "extra_forbidden":
        message = f"Unknown argument {field!r} for {action.name()}."
        hint = _hint(action, field) or _suggest(action, field)
    elif problem["type"] == "missing":
        message = f"{action.name()} needs {field!r}."
        hint = f"Add it: {_describe(action, field)}"
    elif field in {"pageId", "sessionId"} and problem["type"] in {"string_pattern_mismatch", "value_error"}:
        return bad_id(action, field, arguments.get(field))
    else:
        said = _WORDS.get(problem["type"]) or problem["msg"].removeprefix("Value error, ")
        message = f"{field} of {action.name()}: {said}" if field else f"{action.name()}: {said}"
        hint = _describe(action, field)
    return ValidationFailed(message, hint=hint, details=details(action, field))


def _hint(action: type[Action], field: str) -> str | None:
    if field == "path" and "files" in action.model_fields:
        return 'Files are a list: "files": [{"path": "..."}].'
    return _HINTS.get(field)


def _path(location: tuple[int | str, ...], arguments: Body) -> str:
    """Return where in the arguments a problem is, such as `modifiers.0`, without pydantic's names for branches of a
    union."""
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
    """Return the listed name of an argument whose second name is `name`."""
    return next((listed for listed, others in second_names(action).items() if name in others), None)


def bad_id(action: type[Action] | None, field: str, given: JsonValue) -> ValidationFailed:
    example = spelled_validly(str(given))
    problem = (
        "is a path of the service"
        if given in RESERVED_IDS
        else "is not a valid id: letters, digits, '.', '_' and '-', at most 48, a letter or digit first"
    )
    return ValidationFailed(
        f"{field} {given!r} {problem}.",
        hint=f'For example {{"{field}": "{example}"}}.',
        details=details(action, field, pattern=ID_PATTERN, example=example),
    )


def _suggest(action: type[Action], field: str) -> str:
    *outer, last = field.split(".")
    inner = _within(action, outer) if outer else []
    arguments = inner or [*_properties(action), *action.bags]
    close = nearest(last.replace("_", "").lower(), map(str.lower, arguments), alike=0.6)
    own = next((name for name in arguments if close and name.lower() == close[0] and name != last), None)
    taker = ".".join(outer) if inner else "It"
    return (f"Did you mean {own!r}? " if own else "") + f"{taker} takes: {', '.join(arguments)}."


def _within(action: type[Action], path: list[str]) -> list[str]:
    """Return the arguments of an action, or of a nested argument such as `position`."""
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


def named(name: str) -> str:
    """Quote an unknown name in an error, cut if it is long."""
    return name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}… ({len(name):,} characters)"


def meant(name: str, names: Mapping[str, object]) -> str:
    """Return in words which actions an unknown name may mean."""
    return " or ".join(nearest(name, names, most=3)) or "goto"


def kind(value: JsonValue) -> str:
    kinds = {str: "text", bool: "true or false", list: "a list", dict: "an object", type(None): "null"}
    return kinds.get(type(value), "a number")


def details(action: type[Action] | None, field: str, **context: JsonValue) -> dict[str, JsonValue]:
    found = of_field(field, **context) if field else {}
    return {"tool": action.name(), **found} if action else found
