"""Fetches files of the service, of any size."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from urllib.parse import quote

import httpx
from pydantic import ValidationError

from browse_together.client import unavailable
from browse_together.client.http import ServiceClient
from browse_together.client.reply import Reply
from browse_together.contract import wire
from browse_together.contract.errors import BrowseError

Progress = Callable[[int | None], AbstractContextManager[Callable[[int], None]]]
"""Shows a progress bar within a block. Takes the file's size, if known, and yields what takes each piece's size."""


async def save(
    service: ServiceClient, artifact_id: str, path: Path, progress: Progress = lambda _: nullcontext(lambda _: None)
) -> int:
    """Write a file of this client's calls to a path, and return its size. Raises Relayed for the service's error,
    ServiceUnavailable and OSError; what was written until then stays."""
    url, size = f"{wire.FILES}/{quote(artifact_id, safe='')}", 0
    try:
        async with service.http.stream("GET", url, headers=service.credentials.headers()) as response:
            if not response.is_success:
                await response.aread()
                raise error_in(service, response)
            length = response.headers.get("content-length", "")
            with path.open("wb") as file, progress(int(length) if length.isdigit() else None) as advance:
                async for chunk in response.aiter_bytes():
                    size += file.write(chunk)
                    advance(len(chunk))
    except httpx.HTTPError as error:
        raise unavailable.not_running(service.url, str(error) or type(error).__name__) from None
    return size


def error_in(service: ServiceClient, response: httpx.Response) -> BrowseError:
    try:
        failure = Reply.model_validate_json(response.content).error
    except ValidationError:
        failure = None
    if failure is None:
        return unavailable.another_answers(service.url, response.status_code)
    return failure.relayed(response.status_code)
