"""What there is to call, and how."""

import json
from typing import Annotated

from pydantic import AliasChoices, BeforeValidator, Field, JsonValue

from shared.actions.base import Action
from shared.actions.traits import Effect, Lane


class Help(Action):
    """Describe a tool in full: what it does, every argument, an example. Without arguments: all tools by category."""

    lane = Lane.BESIDE
    unmetered = True
    adds_toolset = True
    text_key = "help"

    tool: str | None = Field(
        default=None,
        validation_alias=AliasChoices("name", "tool"),
        alias="name",
        min_length=1,
        max_length=100,
        description="The tool, such as click.",
    )
    toolset: str | None = Field(
        default=None, min_length=1, max_length=100, description="A category, such as files, to add to your tools."
    )


def _decoded(given: object) -> object:
    """Return the object that a JSON text holds, because some hosts send arguments as text."""
    if not isinstance(given, str):
        return given
    try:
        return json.loads(given, parse_constant=_no_json)
    except (ValueError, RecursionError):
        return given  # which the validation refuses


def _no_json(literal: str) -> None:
    raise ValueError(f"{literal} is not JSON")


class CallTool(Action):
    """Call any tool, listed or not, by name. `help` describes each."""

    effect = Effect.DESTROYS

    tool: str = Field(alias="name", min_length=1, description="Such as hover.")
    arguments: Annotated[dict[str, JsonValue], BeforeValidator(_decoded)] = Field(
        default_factory=dict, description="The tool's own."
    )
