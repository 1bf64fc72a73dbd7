"""The resources: listed from the contract, read by the action that each names."""

import base64
import json
from typing import Final

from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    BlobResourceContents,
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
        raise not_found(uri, shakes_hands=shakes_hands)
    return found


def not_found(uri: str, *, shakes_hands: bool) -> MCPError:
    known = [one.uri for one in RESOURCES]
    code = _NOT_FOUND if shakes_hands else INVALID_PARAMS
    return MCPError(code, f"Resource not found: {uri}", {"uri": uri, "availableResources": known})


def file_contents(uri: str, mime_type: str, data: bytes) -> ReadResourceResult:
    """A file that a call made: as text where it is text."""
    if mime_type.startswith(("text/", "application/json")):
        text = data.decode("utf-8", "replace")
        return ReadResourceResult(contents=[TextResourceContents(uri=uri, mime_type=mime_type, text=text)])
    blob = base64.b64encode(data).decode()
    return ReadResourceResult(contents=[BlobResourceContents(uri=uri, mime_type=mime_type, blob=blob)])


def contents(resource: Named, reply: Reply) -> ReadResourceResult:
    """What its action shows, or all of its result. Raises MCPError for a failure: a resource cannot tell it else."""
    if reply.error:
        raise host_error(resource.action, reply.error)
    value = reply.result.get(ACTIONS[resource.action].shown, reply.result)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return ReadResourceResult(
        contents=[TextResourceContents(uri=resource.uri, mime_type=resource.mime_type, text=text)]
    )
