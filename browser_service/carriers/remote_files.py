"""The files of a host elsewhere: they are kept by the front, and streamed there and back over HTTP."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Final, Protocol
from urllib.parse import quote

import httpx

from browse_together.contract.calls import Artifact
from browse_together.contract.errors import ServiceUnavailable
from browse_together.contract.frames import ActPicture
from browse_together.contract.model import Model
from browse_together.contract.wire import HOSTS_FILES
from browser_service.carriers.dialling import refused
from browser_service.carriers.messages import FILE, GivenFile, WantedFile
from browser_service.carriers.wire import LinkLost
from browser_service.security.concealment import Concealment
from browser_service.security.known_secrets import KnownSecrets

_CHUNK_BYTES: Final = 256_000
_AT_A_TIME: Final = 8
_CONNECTS: Final = 3
_WITHIN: Final = httpx.Timeout(60.0, connect=10.0)


class Tell(Protocol):
    """Asks the front for something over the link. Raises LinkLost."""

    def __call__(self, name: str, **arguments: object) -> Awaitable[object]: ...


class RemoteFiles:
    """An ArtifactPort whose files are elsewhere."""

    def __init__(
        self,
        url: str,
        proof: Callable[[], dict[str, str]],
        tls: ssl.SSLContext | None,
        tell: Tell,
        secrets: KnownSecrets,
    ) -> None:
        """`proof` returns the headers that say whose the files are."""
        self._proof, self._tell, self._secrets = proof, tell, secrets
        transport = httpx.AsyncHTTPTransport(verify=tls or True, retries=_CONNECTS)
        self._http = httpx.AsyncClient(base_url=url, transport=transport, timeout=_WITHIN)
        self._slots = asyncio.Semaphore(_AT_A_TIME)

    async def close(self) -> None:
        await self._http.aclose()

    async def put(
        self, data: bytes, mime_type: str, client_id: str, *, inline: bool = True, name: str = "", searched: bool = True
    ) -> Artifact:
        given = GivenFile(client_id=client_id, mime_type=mime_type, name=name, inline=inline, searched=searched)
        return await self._give(given, data, len(data))

    async def take(self, path: Path, mime_type: str, client_id: str, *, name: str = "") -> Artifact:
        size = (await asyncio.to_thread(path.stat)).st_size
        given = GivenFile(client_id=client_id, mime_type=mime_type, name=name, moved=True)
        artifact = await self._give(given, _chunks(path), size)
        await asyncio.to_thread(path.unlink, missing_ok=True)
        return artifact

    async def data(self, artifact_id: str, client_id: str | None) -> tuple[bytes, str]:
        return await self._want(WantedFile(artifact_id=artifact_id, client_id=client_id))

    async def text(self, artifact_id: str, client_id: str | None) -> str:
        data, _ = await self._want(WantedFile(artifact_id=artifact_id, client_id=client_id, as_text=True))
        return data.decode()

    async def upload(self, name: str, most: int) -> bytes:
        return (await self._want(WantedFile(upload=name, most=most)))[0]

    async def describe(self, artifact_id: str, client_id: str | None) -> Artifact:
        told = await self._told("describe_file", artifact_id=artifact_id, client_id=client_id)
        assert isinstance(told, Artifact)  # noqa: S101 - the method's result, as its table says
        return told

    async def conceal(self, text: str) -> str:
        """Return a text without the secrets that this host was given. The front removes the others, without a message
        while a page waits."""
        return await self._secrets.apart(Concealment.in_time, text)

    async def keep_picture(self, client_id: str, call_id: str, picture: ActPicture) -> None:
        await self._told("keep_picture", client_id=client_id, call_id=call_id, picture=picture)

    async def _told(self, name: str, **arguments: object) -> object:
        try:
            return await self._tell(name, **arguments)
        except LinkLost:
            raise _unreached() from None

    async def _give(self, given: GivenFile, content: bytes | AsyncIterator[bytes], size: int) -> Artifact:
        headers = {"Content-Type": "application/octet-stream", "Content-Length": str(size)}
        async with self._slots:
            reply = await self._asked("PUT", given, headers, content)
        return Artifact.model_validate_json(reply.content)

    async def _want(self, wanted: WantedFile) -> tuple[bytes, str]:
        async with self._slots:
            reply = await self._asked("GET", wanted, {}, None)
        return reply.content, reply.headers.get("content-type", "")

    async def _asked(
        self, method: str, about: Model, headers: dict[str, str], content: bytes | AsyncIterator[bytes] | None
    ) -> httpx.Response:
        said = {FILE: quote(about.model_dump_json(exclude_defaults=True)), **headers, **self._proof()}
        try:
            reply = await self._http.request(method, HOSTS_FILES, headers=said, content=content)
        except httpx.HTTPError:
            raise _unreached() from None
        if reply.is_success:
            return reply
        raise refused(reply.content, reply.status_code) or _unreached()


async def _chunks(path: Path) -> AsyncIterator[bytes]:
    with path.open("rb") as file:
        while chunk := await asyncio.to_thread(file.read, _CHUNK_BYTES):
            yield chunk


def _unreached() -> ServiceUnavailable:
    return ServiceUnavailable("The service did not take or give the file.", hint="Repeat the call in a moment.")
