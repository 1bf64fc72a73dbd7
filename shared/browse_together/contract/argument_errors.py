"""Explains what is wrong with an argument, by name, and what to do."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, cast

from pydantic import JsonValue, ValidationError

from browse_together.contract.actions.base import Action
from browse_together.contract.errors import ValidationFailed, field_details
from browse_together.contract.next_calls import next_call
from browse_together.contract.schema import Schema, full_schema, inherited_names, properties_of, second_names
from browse_together.contract.similarity import nearest
from browse_together.contract.wire import ID_PATTERN, RESERVED_IDS, is_page_id, nearest_valid_id

_LONGEST_NAME: Final = 100
Body = Mapping[str, JsonValue]

_HINTS: Final = MappingProxyType(
    {
        "signal": "A signal cannot travel as JSON: bound the request with `timeout` (ms), or stop it with cancel_call.",
        "path": "The service names the files that calls make; the reply says where they are.",
    }
)
_REFS: Final = frozenset({"ref", "uid"})
"""Names of refs in other products."""
_FIRST: Final = frozenset({"extra_forbidden", "too_long", "string_too_long"})
_WORDS: Final = MappingProxyType(
    {
        "model_type": "Input should be an object",
        "dict_type": "Input should be an object",
        "none_required": "Input should be null",
        "is_instance_of": "Input should be an object",
    }
)
"""Replacements for pydantic's messages that mention Python."""


def explain(action: type[Action], arguments: Body, error: ValidationError) -> ValidationFailed:
    """Return an error for the first problem. It names the argument and says what to do."""
    problems = error.errors(include_url=False, include_context=False, include_input=False)
    # a misspelt argument is also a missing one, and the caller recognises what it wrote
    problem = next((p for p in problems if p["type"] in _FIRST), problems[0])
    field = _path(problem["loc"], arguments, missing=problem["type"] == "missing")
    if problem["type"] == "extra_forbidden" and (listed_name := _listed_name(action, field)):
        message = f"{listed_name} and {field} of {action.name()} are the same argument."
        hint = f"Give {listed_name} alone."
    elif problem["type"] == "extra_forbidden":
        message = f"Unknown argument {field!r} for {action.name()}."
        hint = _hint(action, field) or _suggest(action, field)
    elif problem["type"] == "missing":
        message = f"{action.name()} needs {field!r}."
        hint = f"Add it: {_describe(action, field)}"
    elif field in {"pageId", "sessionId"} and problem["type"] in {"string_pattern_mismatch", "value_error"}:
        return bad_id(action, field, arguments.get(field))
    else:
        reason = _WORDS.get(problem["type"]) or problem["msg"].removeprefix("Value error, ")
        message = f"{field} of {action.name()}: {reason}" if field else f"{action.name()}: {reason}"
        hint = _describe(action, field)
    return ValidationFailed(message, hint=hint, details=error_details(action, field))


def _hint(action: type[Action], field: str) -> str | None:
    if field == "path" and "files" in action.model_fields:
        return 'Files are a list: "files": [{"path": "..."}].'
    return _HINTS.get(field)


def _path(location: tuple[int | str, ...], arguments: Body, *, missing: bool) -> str:
    """Return the place of a problem in the arguments, such as `modifiers.0`, without pydantic's names for union
    branches."""
    path: list[str] = []
    value: object = arguments
    for number, part in enumerate(location, 1):
        if isinstance(value, dict) and (part in value or (missing and number == len(location))):
            path.append(str(part))
            value = value.get(part)
        elif isinstance(value, list) and isinstance(part, int):
            path.append(str(part))
            value = value[part]
    return ".".join(path)


def _listed_name(action: type[Action], name: str) -> str | None:
    """Return the listed name of an argument whose second name is `name`."""
    return next((listed for listed, others in second_names(action).items() if name in others), None)


def bad_id(action: type[Action] | None, field: str, value: JsonValue) -> ValidationFailed:
    """Return the error for an id that no page or session can have, with the nearest valid one as an example."""
    example = nearest_valid_id(str(value))
    problem = (
        "is a path of the service"
        if value in RESERVED_IDS
        else "is not a valid id: letters, digits, '.', '_' and '-', at most 48, a letter or digit first"
    )
    return ValidationFailed(
        f"{field} {value!r} {problem}.",
        hint=f'For example {{"{field}": "{example}"}}.',
        details=error_details(action, field, pattern=ID_PATTERN, example=example),
    )


def check_page_id(page_id: str) -> str:
    """Check a page id from a path, and return it. Raises the same error as for an id in a body."""
    if not is_page_id(page_id):
        raise bad_id(None, "pageId", page_id)
    return page_id


def _suggest(action: type[Action], field: str) -> str:
    *outer, last = field.split(".")
    nested = _nested_arguments(action, outer) if outer else []
    arguments = nested or [*_properties(action), *action.option_bags]
    if last in _REFS and "selector" in arguments:
        return 'A ref is a selector too: {"selector": "e12"}.'
    close = nearest(last.replace("_", "").lower(), map(str.lower, arguments), similarity=0.65)
    similar = next((name for name in arguments if close and name.lower() == close[0] and name != last), None)
    subject = ".".join(outer) if nested else "It"
    if similar:
        return f"Did you mean {similar!r}? All that it takes: {next_call('help', name=action.name())}."
    own = [name for name in arguments if nested or name not in inherited_names(action)]
    return f"{subject} takes: {', '.join(own) or 'nothing'}."


def _nested_arguments(action: type[Action], path: list[str]) -> list[str]:
    """Return the arguments of an action, or of a nested argument such as `position`."""
    node = full_schema(action)
    for part in path:
        named = properties_of(node).get(part)
        inner = node.get("items") if part.isdigit() else named or node.get("additionalProperties")
        node = inner if isinstance(inner, dict) else {}
        branches = cast("list[Schema]", node.get("anyOf", []))  # pydantic writes nothing else
        node = next(filter(properties_of, branches), node)
    return [*properties_of(node)]


def _describe(action: type[Action], field: str) -> str:
    first = field.split(".", maxsplit=1)[0]
    name = _listed_name(action, first) or first
    described = _properties(action).get(name, {}).get("description")
    return f"{name}: {described}" if described else action.description()


def _properties(action: type[Action]) -> dict[str, Schema]:
    return properties_of(full_schema(action))


def quoted_name(name: str) -> str:
    """Quote an unknown name in an error, cut if it is long."""
    return name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}… ({len(name):,} characters)"


def suggestions(name: str, names: Mapping[str, object]) -> str:
    """Return the names that an unknown one may mean, such as "click or fill"."""
    return " or ".join(nearest(name, names, most=3)) or "goto"


def json_kind(value: JsonValue) -> str:
    kinds = {str: "text", bool: "true or false", list: "a list", dict: "an object", type(None): "null"}
    return kinds.get(type(value), "a number")


def error_details(action: type[Action] | None, field: str, **context: JsonValue) -> dict[str, JsonValue]:
    facts = field_details(field, **context) if field else {}
    return {"tool": action.name(), **facts} if action else facts
