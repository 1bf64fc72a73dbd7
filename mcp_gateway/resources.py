"""Lists the resources, and reads each by its action."""

import base64
import json
import re
from collections.abc import Awaitable, Callable
from typing import Final

from mcp import types as protocol
from mcp.shared.exceptions import MCPError

from browse_together.client.http import ServiceClient
from browse_together.client.reply import Failure, Reply
from browse_together.contract.catalogue import ACTIONS
from browse_together.contract.errors import BrowseError, every_error
from browse_together.contract.limits import UNLIMITED, Limits
from browse_together.contract.model import Json
from browse_together.contract.quoting import address, of_file
from browse_together.contract.replies import Completions, Contents, ForCompletion, ForReader, ReplyForm
from browse_together.contract.resources import JSON, RESOURCES, TEMPLATES, Request, request
from browse_together.contract.wire import FILE_URI
from mcp_gateway.results import NOT_FOUND, host_error
from mcp_gateway.settings import Settings

_MISSING: Final = frozenset(error.code for error in every_error() if error.subject_missing)
_MAX_COMPLETIONS: Final = 100
_FILE: Final = re.compile(re.escape(FILE_URI) + r"([A-Za-z0-9_-]{1,64})")

Call = Callable[[Json, ReplyForm], Awaitable[Reply]]
"""Makes a call with this body. Returns its reply in the given form."""


class Resources:
    """The kinds of resources that the settings select and a token allows."""

    def __init__(self, settings: Settings, limits: Limits = UNLIMITED) -> None:
        self._ages: dict[str, int] = {kind: getattr(settings, f"{kind}_ttl_ms", 0) for kind in settings.resources}
        templates = [each for each in TEMPLATES if each.kind in self._ages and limits.lists(ACTIONS[each.action])]
        resources = [each for each in RESOURCES if limits.lists(ACTIONS[each.action])]
        self._known_uris = [resource.uri for resource in (*resources, *templates)]
        self.resources = protocol.ListResourcesResult(
            resources=[protocol.Resource.model_validate(resource._asdict()) for resource in resources]
        )
        self.templates = protocol.ListResourceTemplatesResult(
            resource_templates=[
                protocol.ResourceTemplate.model_validate({**template._asdict(), "uri_template": template.uri})
                for template in templates
            ]
        )

    def request(self, uri: str) -> Request:
        """Return the call that reads a URI. Raises MCPError for an unknown one."""
        found = request(uri, ages=self._ages)
        if found is None:
            raise self._not_found(uri)
        return found

    async def read(self, uri: str, service: ServiceClient, call: Call) -> protocol.ReadResourceResult:
        """Read a URI. Raises MCPError if that fails, because the result cannot contain an error."""
        if link := _FILE.fullmatch(uri):
            return await self._file(link[1], service, uri)
        resource, arguments = self.request(uri)
        reply = await call({**arguments, "action": resource.action}, ForReader(mime_type=resource.mime_type))
        if reply.error and reply.error.code in _MISSING:
            raise self._not_found(uri, reply.error)
        if reply.error:
            raise host_error("resources/read", reply.error)
        result: Json = {"mimeType": JSON, "text": json.dumps(reply.result)}
        contents = Contents.model_validate(result if reply.rendered is None else reply.rendered)
        if contents.artifact_id is not None:
            return await self._file(contents.artifact_id, service, uri)
        return _read_result(uri, contents)

    async def _file(self, artifact_id: str, service: ServiceClient, uri: str) -> protocol.ReadResourceResult:
        """Return a file that a call made, as text if possible. Raises MCPError."""
        try:
            file = await service.file(artifact_id)
        except BrowseError as error:
            raise host_error("resources/read", Failure.from_error(error)) from None
        if file is None:
            raise self._not_found(uri)
        mime_type, data = file
        if mime_type.startswith(("text/", "application/json")):
            text = of_file(data.decode("utf-8", "replace"), mime_type)
            return _read_result(uri, Contents(mime_type=mime_type, text=text))
        return _read_result(uri, Contents(mime_type=mime_type, blob=base64.b64encode(data).decode()))

    def _not_found(self, uri: str, failure: Failure | None = None) -> MCPError:
        cause = {"error": failure.message, "hint": failure.hint} if failure else {}
        reason = " ".join(filter(None, cause.values())) or f"There are: {', '.join(self._known_uris)}."
        data = {"uri": uri, **cause, "availableResources": self._known_uris}
        return MCPError(NOT_FOUND, f"Resource not found: {address(uri)}. {reason}", data)


def _read_result(uri: str, contents: Contents) -> protocol.ReadResourceResult:
    body = {"text": contents.text or ""} if contents.blob is None else {"blob": contents.blob}
    contents_of_uri = {"uri": uri, "mimeType": contents.mime_type, **body}
    return protocol.ReadResourceResult.model_validate({"contents": [contents_of_uri]})


async def complete(argument: protocol.CompletionArgument, call: Call, limits: Limits = UNLIMITED) -> list[str]:
    """Return the possible values of a template's variable that begin as typed. Raises MCPError."""
    lists = {name for name in ("list_pages", "list_sessions") if limits.lists(ACTIONS[name])}
    pages = await _ids(call, {"action": "list_pages", "all": True}, "pageId") if "list_pages" in lists else []
    sessions = await _ids(call, {"action": "list_sessions"}, "sessionId") if "list_sessions" in lists else []
    values = {"screenshotId": ["current"], "sessionId": [*pages, *sessions]}.get(argument.name, [])
    return [*dict.fromkeys(value for value in values if value.startswith(argument.value))][:_MAX_COMPLETIONS]


async def _ids(call: Call, body: Json, key: str) -> list[str]:
    reply = await call(body, ForCompletion(key=key))
    if reply.error:
        raise host_error("completion/complete", reply.error)
    return Completions.model_validate(reply.rendered or {}).values
