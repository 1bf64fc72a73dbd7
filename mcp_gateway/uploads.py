"""Files of this machine that a chat uploads: those in the roots that its client names, and no others."""

import asyncio
import copy
import mimetypes
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit
from urllib.request import url2pathname

import structlog
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.types import CallToolRequestParams, InputRequiredResult, ListRootsRequest, ListRootsResult
from pydantic import JsonValue

from client.http import ServiceClient
from mcp_gateway.front import HANDSHAKE_VERSIONS
from shared.catalogue import NAMES
from shared.errors import Details, Forbidden, ValidationFailed
from shared.model import Json
from shared.wire import FILE_BYTES

_ROOTS: Final = "roots"
_ROOTS_WITHIN_S: Final = 10.0
_MOST_ROOTS: Final = 100
_CONTENTS: Final = frozenset({"text", "data", "artifactId", "artifact_id"})
_FIELD: Final[Details] = {"context": {"field": "files"}}

log = structlog.get_logger()


class Uploads:
    def __init__(self, service: ServiceClient) -> None:
        self._service = service

    async def sent(
        self, ctx: ServerRequestContext, params: CallToolRequestParams, tool: str, arguments: Json
    ) -> Json | InputRequiredResult:
        """The arguments, with what lies in the client's roots sent ahead and named as the service knows it. The client
        is asked for its roots each time, so that they are those of now. Raises BrowseError for what may not be sent."""
        if not any(_named(tool, arguments)) or not _has_roots(ctx):
            return arguments
        roots = await self._roots(ctx, params)
        if isinstance(roots, InputRequiredResult):
            return roots
        arguments, left = copy.deepcopy(arguments), FILE_BYTES
        for file in _named(tool, arguments):
            name = str(file.get("path") or file["name"])
            path = await asyncio.to_thread(_found, name, roots, self._service.autostart.data_dir)
            if path is not None:
                data = await asyncio.to_thread(_read, path, left)
                left -= len(data)
                given = str(file.get("name") or "") if file.get("path") else ""
                file |= {"name": given or path.name, "artifactId": await self._service.upload(data)}
                file.setdefault("mimeType", mimetypes.guess_type(path.name)[0] or "application/octet-stream")
                file.pop("path", None)
        return arguments

    async def _roots(
        self, ctx: ServerRequestContext, params: CallToolRequestParams
    ) -> list[Path] | InputRequiredResult:
        if ctx.protocol_version in HANDSHAKE_VERSIONS:
            try:
                async with asyncio.timeout(_ROOTS_WITHIN_S):
                    return _paths(await ctx.session.send_request(ListRootsRequest(), ListRootsResult))
            except (MCPError, TimeoutError) as error:
                log.info("the client named no roots", reason=type(error).__name__)
                return []
        if params.request_state != _ROOTS or params.input_responses is None:
            return InputRequiredResult(input_requests={_ROOTS: ListRootsRequest()}, request_state=_ROOTS)
        answer = params.input_responses.get(_ROOTS)
        return _paths(answer) if isinstance(answer, ListRootsResult) else []


def without_roots(params: CallToolRequestParams) -> CallToolRequestParams:
    """A call that came again with its client's roots, as any other call."""
    if params.request_state != _ROOTS:
        return params
    return params.model_copy(update={"request_state": None, "input_responses": None})


def _has_roots(ctx: ServerRequestContext) -> bool:
    capabilities = ctx.session.client_capabilities
    return capabilities is not None and capabilities.roots is not None


def _paths(listed: ListRootsResult) -> list[Path]:
    uris = [urlsplit(str(root.uri)) for root in listed.roots[:_MOST_ROOTS]]
    return [
        Path(url2pathname(uri.path)) for uri in uris if uri.scheme == "file" and uri.hostname in {None, "localhost"}
    ]


def _named(tool: str, arguments: Json) -> Iterator[Json]:
    """The files of a call, and of the calls in it, that come without content."""
    if tool not in NAMES:
        return
    action = NAMES[tool].action
    for each in (arguments, *(arguments.get(bag) for bag in action.bags)):
        if not isinstance(each, dict):
            continue
        files = each.get("files") if "files" in action.model_fields else None
        for file in files if isinstance(files, list) else []:
            if (
                isinstance(file, dict)
                and not _CONTENTS & file.keys()
                and _is_text(file.get("path") or file.get("name"))
            ):
                yield file
        for part in _parts(each, action.carries):
            yield from _named(str(part.get("action")), part)


def _parts(arguments: Json, names: Sequence[str]) -> Iterator[Json]:
    for value in (arguments.get(name) for name in names):
        yield from (part for part in (value if isinstance(value, list) else [value]) if isinstance(part, dict))


def _is_text(value: JsonValue) -> bool:
    return isinstance(value, str) and bool(value) and "\0" not in value


def _found(name: str, roots: list[Path], secrets: Path) -> Path | None:
    """The file in the roots, without links; none where it is in none of them. Raises Forbidden for a link that leads
    out of its root, and for the service's own data."""
    for root in roots:
        path = Path(os.path.normpath(root / name))
        if not path.is_relative_to(root) or not _is_there(path):
            continue
        real = path.resolve()
        if not real.is_relative_to(root.resolve()):
            raise Forbidden(f"{name!r} is a link, or behind one, that leads out of {root}: it is not followed.")
        if real.is_relative_to(secrets.resolve()):
            hint = 'A file that a reply named: {"name": "...", "artifactId": "..."}.'
            raise Forbidden(f"{name!r} is the browser service's own.", hint=hint)
        return real
    return None


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # a name that no system has, or a folder that is not ours to look into
        return False


def _read(path: Path, most: int) -> bytes:
    """Raises ValidationFailed for what is no file, or larger than `most`."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise ValidationFailed(f"{str(path)!r} is no file.", hint="Name a file.", details=_FIELD)
            data = file.read(most + 1)
    except OSError as error:
        raise ValidationFailed(
            f"{str(path)!r} cannot be read: {error.strerror or error}.", hint="Name another file.", details=_FIELD
        ) from None
    if len(data) > most:
        raise ValidationFailed(
            f"{str(path)!r} has more bytes than the {FILE_BYTES:,} that one call may upload.",
            hint="Give fewer at once.",
            details=_FIELD,
        )
    return data
