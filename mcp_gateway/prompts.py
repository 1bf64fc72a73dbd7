"""Prompts are listed, rendered and completed as the protocol spells them."""

from typing import Final

from mcp import types as protocol
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError

from shared.errors import ValidationFailed
from shared.prompts import PROMPTS, named

LISTED: Final = protocol.ListPromptsResult(
    prompts=[
        protocol.Prompt.model_validate({**one._asdict(), "arguments": [each._asdict() for each in one.arguments]})
        for one in PROMPTS.values()
    ]
)


async def rendered(_: ServerRequestContext, params: protocol.GetPromptRequestParams) -> protocol.GetPromptResult:
    """Return the text of a prompt. Raises MCPError for an unknown one and for a wrong argument."""
    try:
        prompt = named(params.name)
        text = prompt.text(params.arguments or {})
    except ValidationFailed as error:
        raise MCPError(protocol.INVALID_PARAMS, error.message, error.details) from None
    message = protocol.PromptMessage(role="user", content=protocol.TextContent(type="text", text=text))
    return protocol.GetPromptResult(description=prompt.description, messages=[message])


def completed(name: str, argument: str, begun: str) -> list[str]:
    """Return the values that an argument can have and that begin so, where they are known."""
    found = (each for each in PROMPTS[name].arguments if each.name == argument) if name in PROMPTS else ()
    return [value for each in found for value in each.values if value.startswith(begun.lower())]
