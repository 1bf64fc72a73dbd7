"""Makes options for the arguments of an action from its schema."""

from collections.abc import Iterator, Mapping
from typing import cast

import typer

from browser_service.cli.parameters import Option, kebab, to_json
from shared.actions.base import Action
from shared.model import Json
from shared.schema import Schema, full_schema, second_names


def options(action: type[Action]) -> list[Option]:
    """Return an option for each argument."""
    properties = cast("dict[str, Schema]", full_schema(action)["properties"])
    return [Option(name, schema, tuple(_spellings(action, name)), _help(schema)) for name, schema in properties.items()]


def positional(action: type[Action]) -> list[Option]:
    """Return the required options, which may be given by position as well."""
    required = cast("list[str]", full_schema(action).get("required", []))
    return [option for option in options(action) if option.name in required and option.schema.get("type") != "array"]


def body(name: str, action: type[Action], positions: list[str], typed: Mapping[str, object]) -> Json:
    """Return the call's body, with only what was typed. Raises typer.BadParameter if that makes no sense."""
    by_name = {
        option.name: to_json(option, value)
        for option in options(action)
        if (value := typed[option.identifier]) not in (None, [])
    }
    open_places = [option for option in positional(action) if option.name not in by_name]
    if len(positions) > len(open_places):
        raise typer.BadParameter(f"What is {positions[len(open_places)]!r}? Arguments have names: see --help.")
    by_position = {option.name: to_json(option, text) for option, text in zip(open_places, positions, strict=False)}
    return {"action": name, **by_position, **by_name}


def _spellings(action: type[Action], name: str) -> Iterator[str]:
    """Yield the ways to write an argument: `page-id`, `pageId`, and its second names."""
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
