"""Lists, renders and completes prompts in the protocol's form."""

from mcp import types as protocol
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError

from browse_together.contract.catalogue import ACTIONS
from browse_together.contract.errors import ValidationFailed
from browse_together.contract.limits import Limits
from browse_together.contract.prompts import PROMPTS, named


def listed(limits: Limits) -> protocol.ListPromptsResult:
    """List the prompts whose tools the limits all allow."""
    possible = (prompt for prompt in PROMPTS.values() if all(limits.lists(ACTIONS[name]) for name in prompt.needs))
    described = [
        {**prompt._asdict(), "arguments": [argument._asdict() for argument in prompt.arguments]} for prompt in possible
    ]
    return protocol.ListPromptsResult.model_validate({"prompts": described})


async def get(_: ServerRequestContext, params: protocol.GetPromptRequestParams) -> protocol.GetPromptResult:
    """Return a prompt's text. Raises MCPError for an unknown prompt or a wrong argument."""
    try:
        prompt = named(params.name)
        text = prompt.text(params.arguments or {})
    except ValidationFailed as error:
        raise MCPError(protocol.INVALID_PARAMS, error.message, error.details) from None
    message = protocol.PromptMessage(role="user", content=protocol.TextContent(type="text", text=text))
    return protocol.GetPromptResult(description=prompt.description, messages=[message])


def complete(name: str, typed: protocol.CompletionArgument) -> list[str]:
    """Return the known values of a prompt's argument that begin as typed."""
    arguments = PROMPTS[name].arguments if name in PROMPTS else ()
    values = (value for argument in arguments if argument.name == typed.name for value in argument.values)
    return [value for value in values if value.startswith(typed.value.lower())]
