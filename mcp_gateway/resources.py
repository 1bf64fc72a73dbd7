"""Resources are listed from the contract, and read by the action that each names."""

import base64
import json
import re
from collections.abc import Awaitable, Callable
from typing import Final

from mcp import types as protocol
from mcp.shared.exceptions import MCPError

from client.http import ServiceClient
from client.reply import Failure, Reply
from mcp_gateway.convert import host_error
from mcp_gateway.settings import Settings
from shared.errors import BrowseError, every_error
from shared.model import Json
from shared.replies import Completions, Contents, ForCompletion, ForReader, ReplyForm
from shared.resources import JSON, RESOURCES, TEMPLATES, Request, request
from shared.wire import FILE_URI

NOT_FOUND: Final = -32002
"""The code of a resource that is not there, in the revisions with a handshake; later ones have INVALID_PARAMS."""
_MISSING: Final = frozenset(error.code for error in every_error() if error.subject_missing)
_MOST_VALUES: Final = 100

Called = tuple[str, Json]
"""A tool's name and the arguments of a call of it."""
Call = Callable[[Called, ReplyForm], Awaitable[Reply]]


class Resources:
    """A gateway offers the kinds of resources that its settings name."""

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

    async def read(self, uri: str, service: ServiceClient, call: Call) -> protocol.ReadResourceResult:
        """Return what a URI leads to. Raises MCPError for a failure: there is no other way to tell."""
        if artifact_id := _file_of(uri):
            return await self._file(artifact_id, service, uri)
        asked = self.request(uri)
        reply = await call((asked.resource.action, asked.arguments), ForReader(mime_type=asked.resource.mime_type))
        if reply.error and reply.error.code in _MISSING:
            raise self._not_found(uri, reply.error)
        if reply.error:
            raise host_error("resources/read", reply.error)
        whole: Json = {"mimeType": JSON, "text": json.dumps(reply.result, ensure_ascii=False)}
        found = Contents.model_validate(whole if reply.rendered is None else reply.rendered)
        if found.artifact_id is not None:
            return await self._file(found.artifact_id, service, uri)
        return _contents(uri, found)

    async def _file(self, artifact_id: str, service: ServiceClient, uri: str) -> protocol.ReadResourceResult:
        """Return a file that a call made: as text where it is text. Raises MCPError."""
        try:
            found = await service.file(artifact_id)
        except BrowseError as error:
            raise host_error("resources/read", Failure.of(error)) from None
        if found is None:
            raise self._not_found(uri)
        mime_type, data = found
        if mime_type.startswith(("text/", "application/json")):
            return _contents(uri, Contents(mime_type=mime_type, text=data.decode("utf-8", "replace")))
        return _contents(uri, Contents(mime_type=mime_type, blob=base64.b64encode(data).decode()))

    def _not_found(self, uri: str, why: Failure | None = None) -> MCPError:
        because = {"error": why.message, "hint": why.hint} if why else {}
        said = " ".join(filter(None, because.values())) if why else f"There are: {', '.join(self._known)}."
        data = {"uri": uri, **because, "availableResources": self._known}
        return MCPError(NOT_FOUND, f"Resource not found: {uri}. {said}", data)


def _file_of(uri: str) -> str | None:
    """Return the id of the artifact that a link of a reply leads to."""
    name = uri.removeprefix(FILE_URI)
    return name if name != uri and re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name) else None


def _contents(uri: str, found: Contents) -> protocol.ReadResourceResult:
    body = {"text": found.text or ""} if found.blob is None else {"blob": found.blob}
    return protocol.ReadResourceResult.model_validate({"contents": [{"uri": uri, "mimeType": found.mime_type, **body}]})


async def completed(variable: protocol.CompletionArgument, call: Call) -> list[str]:
    """Return the values that a variable of a template can have and that begin as it does. Raises MCPError."""
    pages = await _ids(call, ("list_pages", {"all": True}), "pageId")
    sessions = await _ids(call, ("list_sessions", {}), "sessionId")
    found = {"screenshotId": ["current"], "sessionId": [*pages, *sessions]}.get(variable.name, [])
    return [*dict.fromkeys(value for value in found if value.startswith(variable.value))][:_MOST_VALUES]


async def _ids(call: Call, listing: Called, key: str) -> list[str]:
    reply = await call(listing, ForCompletion(key=key))
    if reply.error:
        raise host_error("completion/complete", reply.error)
    return Completions.model_validate(reply.rendered or {}).values
