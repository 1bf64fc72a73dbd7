"""Makes command line options from JSON Schemas, for settings and for the arguments of actions."""

import contextlib
import functools
import inspect
import keyword
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, Literal, NamedTuple, cast

import typer
from pydantic import JsonValue

from browse_together.contract.actions.base import Action
from browse_together.contract.json_lines import strict
from browse_together.contract.model import Json
from browse_together.contract.schema import Schema, full_schema, kebab, properties_of, required_of, second_names

_SCALARS: Final[Mapping[str, type]] = {"boolean": bool, "integer": int, "number": float, "string": str}
_VALUE_NAMES: Final[Mapping[str, str]] = {"integer": "INT", "number": "NUMBER", "string": "TEXT", "boolean": "BOOL"}
_JSON_TYPES: Final[Mapping[type, frozenset[str]]] = {
    bool: frozenset({"boolean"}),
    int: frozenset({"integer", "number"}),
    float: frozenset({"number"}),
    str: frozenset(),
    list: frozenset({"array"}),
    dict: frozenset({"object"}),
    type(None): frozenset({"null"}),
}
"""The JSON types that a typed JSON text may have. A JSON string is taken literally, with its quotes."""


def new_app() -> typer.Typer:
    """Make a typer app with plain text help: brackets are no markup, and nothing is cut to fit a box."""
    return typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


class Option(NamedTuple):
    """A command line option. Its `spellings` have no dashes; the canonical one is first."""

    name: str
    schema: Schema
    spellings: tuple[str, ...]
    help: str

    @property
    def identifier(self) -> str:
        return f"{self.name}_" if keyword.iskeyword(self.name) else self.name


def parameter(option: Option, complete: Callable[[str], list[str]] | None = None) -> inspect.Parameter:
    """Make the parameter from which typer makes the option. Without a value it is None, and nothing is sent. `complete`
    completes values in a shell."""
    annotation, metavar = _annotation(option.schema)
    spellings = dict.fromkeys(option.spellings)
    flags = [switch(name) for name in spellings] if annotation is bool else [f"--{name}" for name in spellings]
    info = typer.Option(None, *flags, help=option.help, metavar=metavar, show_default=False, autocompletion=complete)
    return inspect.Parameter(
        option.identifier, inspect.Parameter.KEYWORD_ONLY, default=info, annotation=annotation | None
    )


def to_json(option: Option, value: object) -> JsonValue:
    """Convert a typed value to JSON. Raises typer.BadParameter if it must be JSON but is not."""
    if not isinstance(value, list):
        return _value(option, option.schema, value)
    if option.schema.get("type") == "array":
        return [item for text in value for item in _items(option, text)]
    items = next(each for each in _alternatives(option.schema) if each.get("type") == "array").get("items", {})
    schema = cast("Schema", items) if len(value) > 1 else option.schema  # the form that pydantic writes
    values = [_value(option, schema, text) for text in value]
    return values if len(values) > 1 else values[0]


def action_options(action: type[Action]) -> list[Option]:
    """Return an option for each argument."""
    properties = properties_of(full_schema(action))
    return [Option(name, schema, tuple(_spellings(action, name)), _help(schema)) for name, schema in properties.items()]


def positional_options(action: type[Action]) -> list[Option]:
    """Return the options that may also be given by position: the required ones, lists last, then the everyday ones of
    one word."""
    needed, by_name = required_of(full_schema(action)), {option.name: option for option in action_options(action)}
    required = sorted((by_name[name] for name in by_name if name in needed), key=_is_list)
    everyday = [by_name[name] for name in action.everyday or () if name in by_name and name not in needed]
    return [*required, *filter(_is_one_word, everyday)]


def _is_list(option: Option) -> bool:
    return option.schema.get("type") == "array"


def _is_one_word(option: Option) -> bool:
    kinds = {each.get("type") for each in _alternatives(option.schema)}
    return not kinds.isdisjoint({"string", "integer", "number"})


def action_body(name: str, action: type[Action], positions: list[str], typed: Mapping[str, object]) -> Json:
    """Return the call's body with only the typed arguments. Raises typer.BadParameter if they are wrong."""
    by_name = {
        option.name: to_json(option, value)
        for option in action_options(action)
        if (value := typed[option.identifier]) not in (None, [])
    }
    open_places = [option for option in positional_options(action) if option.name not in by_name]
    if len(positions) > len(open_places):
        raise typer.BadParameter(f"What is {positions[len(open_places)]!r}? Arguments have names: see --help.")
    by_position = {
        option.name: to_json(option, [text] if _is_list(option) else text)
        for option, text in zip(open_places, positions, strict=False)
    }
    return {"action": name, **by_position, **by_name}


def parameters_of(function: Callable[..., None]) -> list[inspect.Parameter]:
    """Return a function's named parameters, without the catch-all for added ones."""
    parameters = inspect.signature(function).parameters.values()
    return [parameter for parameter in parameters if parameter.kind is not inspect.Parameter.VAR_KEYWORD]


def with_signature(function: Callable[..., None], parameters: Iterable[inspect.Parameter]) -> Callable[..., None]:
    """Give `function` a signature, from which typer makes its options."""

    @functools.wraps(function)
    def command(**options: Any) -> None:  # Any: typer's value of each option
        function(**options)

    command.__signature__ = inspect.Signature([*parameters])  # type: ignore[attr-defined] # inspect reads it there
    return command


def _annotation(schema: Schema) -> tuple[Any, str | None]:  # Any: a type made at run time
    """Return the type to which typer converts, and the value's name in the help."""
    types = _types(schema)
    choices = _choices(schema)
    if "array" in types:
        items = cast("Schema", schema.get("items", {}))  # the form that pydantic writes
        return list[str], "|".join(_choices(items)) or _value_name(_types(items) | types - {"array"})
    if choices:
        return Literal[*choices], "|".join(choices)
    kind = _SCALARS.get(*types) if len(types) == 1 else None
    return kind or str, None if kind is bool else _value_name(types)


def _value_name(types: frozenset[str]) -> str:
    return "|".join(sorted({_VALUE_NAMES.get(name, "JSON") for name in types}, reverse=True)) or "JSON"


def _choices(schema: Schema) -> list[str]:
    choices = schema.get("enum")
    return [choice for choice in choices if isinstance(choice, str)] if isinstance(choices, list) else []


def _alternatives(schema: Schema) -> list[Schema]:
    options = schema.get("anyOf")
    return [option for option in options if isinstance(option, dict)] if isinstance(options, list) else [schema]


def _types(schema: Schema) -> frozenset[str]:
    """Return the JSON types that the schema allows; empty if it allows any."""
    return frozenset(str(option["type"]) for option in _alternatives(schema) if "type" in option)


def switch(name: str) -> str:
    return f"--{name}/--{name[3:]}" if name.startswith("no-") else f"--{name}/--no-{name}"


def _items(option: Option, text: object) -> list[JsonValue]:
    """Convert one use of a repeated option. Unless its items are only texts, it may be a whole JSON list."""
    schema = cast("Schema", option.schema.get("items", {}))  # as there
    types = _types(schema)
    if isinstance(text, str) and types != {"string"} and "array" not in types:
        with contextlib.suppress(ValueError):
            if isinstance(listed := cast("JsonValue", strict.loads(text.encode())), list):
                return listed
    return [_value(option, schema, text)]


def _value(option: Option, schema: Schema, text: object) -> JsonValue:
    types = _types(schema)
    if not isinstance(text, str) or types == {"string"}:
        return cast("JsonValue", text)  # a text or a list of texts is JSON
    try:
        value = cast("JsonValue", strict.loads(text.encode()))
    except ValueError as error:
        if "string" in types:
            return text
        raise typer.BadParameter(f"{text!r} is no JSON: {error}", param_hint=f"--{kebab(option.name)}") from None
    return value if _JSON_TYPES[type(value)] & types or "string" not in types else text


def _spellings(action: type[Action], name: str) -> Iterator[str]:
    """Yield the spellings of an argument, such as `page-id` and `pageId`, and its other names."""
    for spelling in (name, *_second_names(action, name)):
        yield kebab(spelling)
        yield spelling
    if name == "pageId":
        yield "page"


def _second_names(action: type[Action], name: str) -> Iterator[str]:
    for alias in action.aliases:
        yield from (old for old, new in alias.renames.items() if new == name)
    yield from second_names(action).get(name, [])


def _help(schema: Schema) -> str:
    notes = {"default": schema.get("default"), "at least": schema.get("minimum"), "at most": schema.get("maximum")}
    limits = ", ".join(f"{note} {str(value).lower()}" for note, value in notes.items() if value is not None)
    description = str(schema.get("description", ""))
    return f"{description} ({limits})" if limits else description
