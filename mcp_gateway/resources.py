"""The resources: listed from the contract, read by the action that each names."""

import json
from typing import Final

from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ReadResourceResult,
    Resource,
    TextResourceContents,
)

from mcp_gateway.convert import Reply, host_error
from shared.catalogue import ACTIONS
from shared.resources import RESOURCES
from shared.resources import Resource as Named

_NOT_FOUND: Final = -32002
"""Its code in the revisions with a handshake; later ones have INVALID_PARAMS."""

LISTED: Final = ListResourcesResult(
    resources=[
        Resource(uri=one.uri, name=one.name, title=one.title, description=one.description, mime_type=one.mime_type)
        for one in RESOURCES
    ]
)
TEMPLATES: Final = ListResourceTemplatesResult(resource_templates=[])


def named(uri: str, *, shakes_hands: bool) -> Named:
    """The resource of a URI. Raises MCPError where there is none."""
    found = next((one for one in RESOURCES if one.uri == uri), None)
    if found is None:
        known = [one.uri for one in RESOURCES]
        code = _NOT_FOUND if shakes_hands else INVALID_PARAMS
        raise MCPError(code, f"Resource not found: {uri}", {"uri": uri, "availableResources": known})
    return found


def contents(resource: Named, reply: Reply) -> ReadResourceResult:
    """What its action shows, or all of its result. Raises MCPError for a failure: a resource cannot tell it else."""
    if reply.error:
        raise host_error(resource.action, reply.error)
    value = reply.result.get(ACTIONS[resource.action].shown, reply.result)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return ReadResourceResult(
        contents=[TextResourceContents(uri=resource.uri, mime_type=resource.mime_type, text=text)]
    )
