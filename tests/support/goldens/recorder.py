"""Records, for each test, what it sent and what it was answered, over HTTP and over MCP."""

import asyncio
import json
import os
import re
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Generator
from pathlib import Path
from types import FrameType
from typing import Final

import httpx
import pytest
from mcp.client.session import ClientSession
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel

from tests.support.json import AnyJson

ROOT: Final = str(Path(__file__).parents[3])
VARIABLE: Final = "BROWSE_GOLDENS"
PRODUCT: Final = {"browser_service", "mcp_gateway"}
CLIENT: Final = "browse_together.client"
FAKES: Final = "tests.support.fakes"
LONGEST_TEXT: Final = 20_000
ENCODED: Final = re.compile(r"[A-Za-z0-9+/_-]{200,}=*")

NO_NEWS: Final = {"date", "content-length"}

Exchange = dict[str, AnyJson]


def record_if_asked(config: pytest.Config) -> None:
    """Record the run where BROWSE_GOLDENS is record:<folder>."""
    asked, _, folder = os.environ.get(VARIABLE, "").partition(":")
    if asked == "record" and folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        config.pluginmanager.register(Recorder(Path(folder)), "goldens")


class Recorder:
    """A pytest plugin that adds a line of JSON for each test to a file of this process."""

    def __init__(self, folder: Path) -> None:
        worker = os.environ.get("PYTEST_XDIST_WORKER", "alone")
        self._file = folder / f"{worker}-{os.getpid()}.jsonl"
        self._exchanges: list[Exchange] | None = None
        patches = pytest.MonkeyPatch()  # for as long as the process lasts
        patches.setattr(httpx.AsyncClient, "send", self._async_send(httpx.AsyncClient.send))
        patches.setattr(httpx.Client, "send", self._send(httpx.Client.send))
        patches.setattr(ClientSession, "send_request", self._ask(ClientSession.send_request))
        patches.setattr(asyncio.StreamWriter, "write", self._write_line(asyncio.StreamWriter.write))
        patches.setattr(asyncio.StreamReader, "readline", self._read_line(asyncio.StreamReader.readline))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        """Record only what the test itself does, because tests share what their fixtures set up."""
        exchanges = self._exchanges = []
        passed = False
        try:
            result = yield
            passed = True
            return result
        finally:
            self._exchanges = None
            line = json.dumps({"test": item.nodeid, "passed": passed, "exchanges": exchanges}, ensure_ascii=False)
            with self._file.open("a", encoding="utf-8") as file:
                file.write(line.replace(ROOT, "<root>") + "\n")

    def _begin(self, **begun: AnyJson) -> Exchange:
        """Begin an exchange. It is kept only if a test is running and makes the exchange itself."""
        exchange = {name: plain(value) for name, value in begun.items()}
        if self._exchanges is not None and not _in_the_product():
            self._exchanges.append(exchange)
        return exchange

    def _async_send(self, send: Callable[..., Awaitable[httpx.Response]]) -> Callable[..., Awaitable[httpx.Response]]:
        async def recorded(client: httpx.AsyncClient, request: httpx.Request, **options: AnyJson) -> httpx.Response:
            exchange = self._begin(**_request(request))
            response = await send(client, request, **options)
            exchange |= _response(response)
            if options.get("stream"):
                assert isinstance(response.stream, httpx.AsyncByteStream)
                response.stream = _Heard(response.stream, exchange)
            return response

        return recorded

    def _send(self, send: Callable[..., httpx.Response]) -> Callable[..., httpx.Response]:
        def recorded(client: httpx.Client, request: httpx.Request, **options: AnyJson) -> httpx.Response:
            exchange = self._begin(**_request(request))
            response = send(client, request, **options)
            exchange |= _response(response)
            return response

        return recorded

    def _ask(self, ask: Callable[..., Awaitable[BaseModel]]) -> Callable[..., Awaitable[BaseModel]]:
        async def recorded(
            session: ClientSession, request: BaseModel, *others: AnyJson, **options: AnyJson
        ) -> BaseModel:
            exchange = self._begin(asked=_json_of(request))
            try:
                result = await ask(session, request, *others, **options)
            except MCPError as error:
                exchange["refused"] = plain(_json_of(error.error))
                raise
            exchange["result"] = plain(_json_of(result))
            return result

        return recorded

    def _write_line(self, write: Callable[..., None]) -> Callable[..., None]:
        def recorded(writer: asyncio.StreamWriter, data: bytes) -> None:
            if b'"jsonrpc"' in data:
                self._begin(wrote=_body(data))
            write(writer, data)

        return recorded

    def _read_line(self, read: Callable[..., Awaitable[bytes]]) -> Callable[..., Awaitable[bytes]]:
        async def recorded(reader: asyncio.StreamReader) -> bytes:
            line = await read(reader)
            if b'"jsonrpc"' in line:
                self._begin(read=_body(line))
            return line

        return recorded


class _Heard(httpx.AsyncByteStream):
    """A recorder of a reply that comes in pieces."""

    def __init__(self, stream: httpx.AsyncByteStream, exchange: Exchange) -> None:
        self._stream = stream
        self._exchange = exchange
        exchange["body"] = ""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._stream:
            heard = self._exchange["body"] + piece.decode(errors="replace")
            self._exchange["body"] = heard[:LONGEST_TEXT]
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()


def _in_the_product() -> bool:
    """The requests of the product itself and of a stand-in browser are not what a user meets. Those that a test makes
    through the product's client are."""
    callers: set[str] = set()
    frame: FrameType | None = sys._getframe(2)  # noqa: SLF001 - there is no other way to the frame of who calls
    while frame is not None:
        if frame.f_globals is not globals():
            callers.add(str(frame.f_globals.get("__name__")))
        frame = frame.f_back
    packages = {name.partition(".")[0] for name in callers}
    faked = any(name.startswith(FAKES) for name in callers)
    by_client = any(name.startswith(CLIENT) for name in callers)
    return faked or bool(packages & PRODUCT) or (by_client and "tests" not in packages)


def _request(request: httpx.Request) -> Exchange:
    body = _body(request.content) if hasattr(request, "_content") else "<pieces>"
    return {"sent": f"{request.method} {request.url}", "with": body}


def _response(response: httpx.Response) -> Exchange:
    headers = {name: value for name, value in response.headers.items() if name not in NO_NEWS}
    body = _body(response.content) if response.is_closed else "<pieces>"
    return {"status": response.status_code, "headers": headers, "body": body}


def _json_of(value: BaseModel) -> AnyJson:
    return value.model_dump(by_alias=True, mode="json", exclude_none=True)


def _body(data: bytes) -> AnyJson:
    """Return JSON and text as they are; of anything else, say only that it is there."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return f"<bytes that begin with {data[:8]!r}>"
    try:
        return plain(json.loads(text))
    except (ValueError, RecursionError):  # a test sends JSON that is nested too deep
        return plain(text)


def plain(value: AnyJson) -> AnyJson:
    """Return the value with long texts and encoded bytes cut."""
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, list):
        return [plain(each) for each in value]
    if isinstance(value, str) and ENCODED.fullmatch(value):
        return f"{value[:8]}<encoded>"
    return value[:LONGEST_TEXT] if isinstance(value, str) else value
