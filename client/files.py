"""Fetches files of the service, of any size."""

from pathlib import Path
from urllib.parse import quote

import httpx
from pydantic import ValidationError

from client import unavailable
from client.http import ServiceClient
from client.reply import Reply
from shared import wire
from shared.errors import BrowseError


async def save(service: ServiceClient, artifact_id: str, path: Path) -> None:
    """Write a file of this client's calls to a path. Raises Relayed for the service's error, ServiceUnavailable and
    OSError; what was written until then stays."""
    url = f"{wire.FILES}/{quote(artifact_id, safe='')}"
    try:
        async with service.http.stream("GET", url, headers=service.credentials.headers()) as response:
            if response.is_success:
                with path.open("wb") as file:
                    async for chunk in response.aiter_bytes():
                        file.write(chunk)
                return
            await response.aread()
            raise _error(service, response)
    except httpx.HTTPError as error:
        raise unavailable.not_running(service.url, str(error) or type(error).__name__) from None


def _error(service: ServiceClient, response: httpx.Response) -> BrowseError:
    try:
        failure = Reply.model_validate_json(response.content).error
    except ValidationError:
        failure = None
    if failure is None:
        return unavailable.another_answers(service.url, response.status_code)
    return failure.relayed(response.status_code)
