"""The prompts, as the protocol spells them."""

from typing import Final

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    PaginatedRequestParams,
    Prompt,
    PromptArgument,
    PromptMessage,
    TextContent,
)

from shared.errors import ValidationFailed
from shared.prompts import PROMPTS, named

LISTED: Final = ListPromptsResult(
    prompts=[
        Prompt(
            name=one.name,
            title=one.title,
            description=one.description,
            arguments=[
                PromptArgument(name=each.name, description=each.description, required=each.required)
                for each in one.arguments
            ],
        )
        for one in PROMPTS.values()
    ]
)


async def listed(_: ServerRequestContext, __: PaginatedRequestParams | None) -> ListPromptsResult:
    return LISTED


async def rendered(_: ServerRequestContext, params: GetPromptRequestParams) -> GetPromptResult:
    """Raises MCPError for a prompt that there is not, and for an argument that is wrong."""
    try:
        prompt = named(params.name)
        text = prompt.text(params.arguments or {})
    except ValidationFailed as error:
        raise MCPError(INVALID_PARAMS, error.message, error.details) from None
    message = PromptMessage(role="user", content=TextContent(type="text", text=text))
    return GetPromptResult(description=prompt.description, messages=[message])


def completed(name: str, argument: str, begun: str) -> list[str]:
    """The values that an argument can have, where they are known."""
    found = next((each for each in PROMPTS[name].arguments if each.name == argument), None) if name in PROMPTS else None
    if found is None:
        return []
    choices = found.choices or (("true", "false") if found.kind == "boolean" else ())
    return [choice for choice in choices if choice.startswith(begun.lower())]
