"""What there is to call, and how."""

from typing import Annotated

from pydantic import AliasChoices, BeforeValidator, Field

from browse_together.contract.actions.arguments import AnyJson
from browse_together.contract.actions.base import Action, ServiceAction
from browse_together.contract.actions.traits import Effect
from browse_together.contract.json_lines import strict
from browse_together.contract.json_lines.strict import MOST_VALUES
from browse_together.contract.wire import MAX_MESSAGE_BYTES


class Help(ServiceAction):
    """Describe a tool in full, with an example. Without a name: list all tools.

    They are listed by category."""

    everyday = ("name",)
    unmetered = True
    text_key = "help"

    tool: str | None = Field(
        default=None,
        validation_alias=AliasChoices("name", "tool"),
        alias="name",
        min_length=1,
        max_length=100,
        description="Such as click.",
    )
    toolset: str | None = Field(default=None, min_length=1, max_length=100, description="Category to add to your list.")


def decoded(given: object) -> object:
    """Return the object or list that a JSON text holds, because some hosts send arguments as text."""
    if not isinstance(given, str):
        return given
    try:
        return strict.loads(given.encode())
    except ValueError:
        return given  # which the validation refuses


class CallTool(Action):
    """Call any tool by name, listed or not.

    `help` describes each."""

    effect = Effect.DESTROYS

    tool: str = Field(alias="name", min_length=1, max_length=MAX_MESSAGE_BYTES, description="Such as focus.")
    arguments: Annotated[dict[str, AnyJson], BeforeValidator(decoded)] = Field(
        default_factory=dict, max_length=MOST_VALUES, description="The tool's own."
    )
