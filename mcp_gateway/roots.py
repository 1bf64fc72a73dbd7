"""Uploads files that a call names in its client's roots, which are folders of this machine.

Clients are giving roots up, so that the service's own upload folders go before them.
"""

import asyncio
import copy
import mimetypes
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit
from urllib.request import url2pathname

import structlog
from mcp.server.context import ServerRequestContext as Context
from mcp.shared.exceptions import MCPError
from mcp.types import CallToolRequestParams, InputRequiredResult, ListRootsRequest, ListRootsResult
from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic import JsonValue

from browse_together.client.http import UNREACHED, ServiceClient
from browse_together.contract.catalogue import NAMES, unwrap
from browse_together.contract.errors import BrowseError, Details, Forbidden, ValidationFailed, field_details
from browse_together.contract.model import Json
from browse_together.contract.wire import FILE_BYTES, FILES

_CONTENTS: Final = frozenset({"text", "data", "artifactId", "artifact_id"})
_FIELD: Final[Details] = field_details("files")


async def _send_ahead(service: ServiceClient, files: Iterable[Json], folders: Sequence[Path]) -> None:
    """Upload the files in the folders, and name them by references. Files elsewhere stay as they are. Raises
    BrowseError for a file that may not be sent."""
    bytes_left = FILE_BYTES
    for file in files:
        name = str(_name(file))
        path = await asyncio.to_thread(_find, name, folders, service.autostart.data_dir)
        if path is not None:
            data = await asyncio.to_thread(_read, path, bytes_left)
            bytes_left -= len(data)
            shown_name = str(file.get("name") or "") if file.get("path") else ""
            file |= {"name": shown_name or path.name, "artifactId": await service.upload(data)}
            file.setdefault("mimeType", mimetypes.guess_type(path.name)[0] or "application/octet-stream")
            file.pop("path", None)


def _named_files(body: Json) -> Iterator[Json]:
    """Yield the files without content in a call and in the calls inside it, which become calls of ours."""
    if (tool := NAMES.get(str(body.get("action")))) is None:
        return
    action = tool.action
    for arguments in _objects([body, *(body.get(bag) for bag in action.option_bags)]):
        if "files" in action.model_fields and isinstance(files := arguments.get("files"), list):
            yield from (file for file in _objects(files) if _has_name_alone(file))
        for name in action.part_fields:
            for part in _objects(arguments.get(name)):
                with suppress(BrowseError):  # the service says what is wrong with a part, and with which
                    ours = unwrap(part)
                    part.clear()
                    part.update(ours)
                yield from _named_files(part)


def _objects(value: JsonValue) -> Iterator[Json]:
    return (item for item in (value if isinstance(value, list) else [value]) if isinstance(item, dict))


def _has_name_alone(file: Json) -> bool:
    name = _name(file)
    return not _CONTENTS & file.keys() and isinstance(name, str) and bool(name) and "\0" not in name


def _name(file: Json) -> JsonValue:
    return file.get("path") or file.get("name")


async def _is_in_upload_folder(service: ServiceClient, file: Json) -> bool:
    """Return whether the service finds a file in its own folders. An older one does not tell, and one that cannot be
    reached lets the call say so."""
    with suppress(*UNREACHED, BrowseError):
        await service.started()
        reply = await service.request("GET", FILES, params={"path": str(_name(file))})
        return reply.result.get("found") is True
    return False


def _find(name: str, folders: Sequence[Path], data_dir: Path) -> Path | None:
    """Return the file in one of the folders, with links resolved; None if there is none. Raises Forbidden for a link
    that leads out of its folder, and for the service's own data."""
    for folder in folders:
        path = Path(os.path.normpath(folder / name))
        if not path.is_relative_to(folder) or not _exists(path):
            continue
        real = path.resolve()
        if not real.is_relative_to(folder.resolve()):
            raise Forbidden(f"{name!r} is a link, or behind one, that leads out of {folder}: it is not followed.")
        if real.is_relative_to(data_dir.resolve()):
            hint = 'A file that a reply named: {"name": "...", "artifactId": "..."}.'
            raise Forbidden(f"{name!r} is the browser service's own.", hint=hint)
        return real
    return None


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # an invalid name, or a folder that we may not read
        return False


def _read(path: Path, max_bytes: int) -> bytes:
    """Return the bytes of a file. Raises ValidationFailed if it is no regular file, or larger than `max_bytes`."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise ValidationFailed(f"{str(path)!r} is no file.", hint="Name a file.", details=_FIELD)
            data = file.read(max_bytes + 1)
    except OSError as error:
        raise ValidationFailed(
            f"{str(path)!r} cannot be read: {error.strerror or error}.", hint="Name another file.", details=_FIELD
        ) from None
    if len(data) > max_bytes:
        raise ValidationFailed(
            f"{str(path)!r} has more bytes than the {FILE_BYTES:,} that one call may upload.",
            hint="Give fewer at once.",
            details=_FIELD,
        )
    return data


_STATE: Final = "roots"
_ANSWER_WITHIN_S: Final = 10.0
_MAX_ROOTS: Final = 100

log = structlog.get_logger()


async def with_files(
    ctx: Context, params: CallToolRequestParams, service: ServiceClient, body: Json
) -> Json | InputRequiredResult:
    """Upload the files that are only in the roots and return the body with references to them, or return a request for
    the roots, which may change from call to call. Raises BrowseError for a file that may not be sent."""
    capabilities = ctx.session.client_capabilities
    if capabilities is None or capabilities.roots is None:
        return body
    complete_body = copy.deepcopy(body)
    files = [file for file in _named_files(complete_body) if not await _is_in_upload_folder(service, file)]
    if not files:
        return body
    roots = await _roots(ctx, params)
    if isinstance(roots, InputRequiredResult):
        return roots
    await _send_ahead(service, files, roots)
    return complete_body


async def _roots(ctx: Context, params: CallToolRequestParams) -> list[Path] | InputRequiredResult:
    if ctx.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS:
        try:
            async with asyncio.timeout(_ANSWER_WITHIN_S):
                return _folders(await ctx.session.send_request(ListRootsRequest(), ListRootsResult))
        except (MCPError, TimeoutError) as error:
            log.info("the client named no roots", reason=type(error).__name__)
            return []
    if params.request_state != _STATE or params.input_responses is None:
        return InputRequiredResult(input_requests={_STATE: ListRootsRequest()}, request_state=_STATE)
    answer = params.input_responses.get(_STATE)
    return _folders(answer) if isinstance(answer, ListRootsResult) else []


def _folders(result: ListRootsResult) -> list[Path]:
    urls = [urlsplit(str(root.uri)) for root in result.roots[:_MAX_ROOTS]]
    return [
        Path(url2pathname(url.path)) for url in urls if url.scheme == "file" and url.hostname in {None, "localhost"}
    ]
