"""The resources: listed from the contract, read by the action that each names."""

import base64
import json
import re
from typing import Final

from mcp import types as protocol
from mcp.shared.exceptions import MCPError

from client.http import ServiceClient
from client.reply import Failure, Reply
from mcp_gateway.convert import host_error
from mcp_gateway.settings import Settings
from shared.errors import BrowseError
from shared.model import Json
from shared.replies import Contents
from shared.resources import JSON, RESOURCES, TEMPLATES, Request, request
from shared.wire import FILE_URI

NOT_FOUND: Final = -32002
"""The code of a resource that is not there, in the revisions with a handshake; later ones have INVALID_PARAMS."""
_MISSING: Final = frozenset(
    {"PAGE_NOT_FOUND", "PAGE_REQUIRED", "SESSION_NOT_FOUND", "SESSION_EXPIRED", "VALIDATION_ERROR", "INVALID_REQUEST"}
)
"""The errors of a call that mean that there is no such resource."""
_MOST_VALUES: Final = 100


class Resources:
    """What this gateway offers, by its settings."""

    def __init__(self, settings: Settings) -> None:
        ages: dict[str, int] = {
            "pages": settings.pages_ttl_ms,
            "elements": settings.elements_ttl_ms,
            "screenshots": settings.screenshots_ttl_ms,
            "sessions": 0,
        }
        self._ages: dict[str, int] = {kind: age for kind, age in ages.items() if kind in settings.resources}
        templates = [one for one in TEMPLATES if one.kind in self._ages]
        self._known = [one.uri for one in (*RESOURCES, *templates)]
        self.listed = protocol.ListResourcesResult(
            resources=[protocol.Resource.model_validate(one._asdict()) for one in RESOURCES]
        )
        self.templates = protocol.ListResourceTemplatesResult(
            resource_templates=[
                protocol.ResourceTemplate.model_validate({**one._asdict(), "uri_template": one.uri})
                for one in templates
            ]
        )

    def request(self, uri: str) -> Request:
        """Return the call that answers a URI. Raises MCPError where there is none."""
        found = request(uri, ages=self._ages)
        if found is None:
            raise self._not_found(uri)
        return found

    async def contents(self, uri: str, reply: Reply, service: ServiceClient) -> protocol.ReadResourceResult:
        """Return what the service made of the reply. Raises MCPError for a failure: there is no other way to tell."""
        if reply.error and reply.error.code in _MISSING:
            raise self._not_found(uri, reply.error)
        if reply.error:
            raise host_error("resources/read", reply.error)
        whole: Json = {"mimeType": JSON, "text": json.dumps(reply.result, ensure_ascii=False)}
        found = Contents.model_validate(whole if reply.rendered is None else reply.rendered)
        if found.artifact_id is not None:
            return await self.file(found.artifact_id, service, uri)
        if found.blob is not None:
            return _blob(uri, found.mime_type, found.blob)
        return _text(uri, found.mime_type, found.text or "")

    async def file(self, artifact_id: str, service: ServiceClient, uri: str) -> protocol.ReadResourceResult:
        """Return a file that a call made: as text where it is text. Raises MCPError."""
        try:
            found = await service.file(artifact_id)
        except BrowseError as error:
            raise host_error("resources/read", Failure.of(error)) from None
        if found is None:
            raise self._not_found(uri)
        mime_type, data = found
        if mime_type.startswith(("text/", "application/json")):
            return _text(uri, mime_type, data.decode("utf-8", "replace"))
        return _blob(uri, mime_type, base64.b64encode(data).decode())

    def _not_found(self, uri: str, why: Failure | None = None) -> MCPError:
        because = {"error": why.message, "hint": why.hint} if why else {}
        said = " ".join(filter(None, because.values())) if why else f"There are: {', '.join(self._known)}."
        data = {"uri": uri, **because, "availableResources": self._known}
        return MCPError(NOT_FOUND, f"Resource not found: {uri}. {said}", data)


def file_of(uri: str) -> str | None:
    """Return the id of the artifact that a link of a reply leads to."""
    name = uri.removeprefix(FILE_URI)
    return name if name != uri and re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name) else None


def completed(variable: str, begun: str, ids: list[str]) -> list[str]:
    """Return the values that a variable of a template can have and that begin so; `ids` are of pages and sessions."""
    found = {"screenshotId": ["current"], "sessionId": ids}
    values = dict.fromkeys(value for value in found.get(variable, []) if value.startswith(begun))
    return [*values][:_MOST_VALUES]


def _text(uri: str, mime_type: str, text: str) -> protocol.ReadResourceResult:
    return protocol.ReadResourceResult(
        contents=[protocol.TextResourceContents(uri=uri, mime_type=mime_type, text=text)]
    )


def _blob(uri: str, mime_type: str, data: str) -> protocol.ReadResourceResult:
    return protocol.ReadResourceResult(
        contents=[protocol.BlobResourceContents(uri=uri, mime_type=mime_type, blob=data)]
    )
