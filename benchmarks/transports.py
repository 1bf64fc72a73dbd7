"""Measures what a call costs by each transport, and what a chat weighs in a gateway that serves many.

One gateway process serves stdio, HTTP and websockets at once, and the three take turns. They are spoken to in raw
messages, because a client's own work would be added to every call.

- `http`, `websocket`: milliseconds of one call at the median, beside the same call by stdio. Target: at most 2 ms more.
- `memory of a chat`: MB (PSS) that the gateway grows by with each of 50 chats over HTTP. Target: at most 3.
"""

import asyncio
import json
import socket
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from statistics import median
from typing import Final

import httpx
import psutil
from websockets.asyncio.client import connect

from benchmarks.figures import Figure, Report, Target
from benchmarks.processes import CLIENT, PROTOCOL, Failed, Service, environment, mcp_server, service
from tests.support.json import AnyJson

ADDED: Final = Target(2.0)
WEIGHT: Final = Target(3.0)
CHATS: Final = 50
KEY: Final = "a-key-of-the-benchmark-alone"  # of a gateway that lives as long as this
_WARM: Final = 20
_LISTENS_WITHIN_S: Final = 20.0
_MB: Final = 1_048_576
_HEADERS: Final = {
    "Authorization": f"Bearer {KEY}",
    "Accept": "application/json, text/event-stream",
    "MCP-Protocol-Version": PROTOCOL,
}
_HELLO: Final = {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": CLIENT}
Call = Callable[[], Awaitable[object]]


async def run(*, quick: bool) -> Report:
    async with AsyncExitStack() as stack:
        served = await stack.enter_async_context(service())
        ports = [_free_port() for _ in range(2)]
        flags = ("--port", str(ports[0]), "--ws-port", str(ports[1]), "--rate-limit-max", "0")
        command = (sys.executable, "-m", "mcp_gateway", "--transport", "stdio,http,websocket", *flags)
        gate = await stack.enter_async_context(mcp_server(*command, env=_settings(served)))
        await _listen(ports)
        url = f"http://127.0.0.1:{ports[0]}/mcp"
        ways: dict[str, Call] = {
            "stdio": lambda: gate.call("list_pages"),
            "http": await _by_http(stack, url),
            "websocket": await _by_websocket(stack, f"ws://127.0.0.1:{ports[1]}/ws"),
        }
        took = await _took(ways, 50 if quick else 400)
        chats = CHATS // 5 if quick else CHATS
        weight = await _weight(stack, gate.pid, url, chats)
    figures = [Figure(name, took[name], took["stdio"], "ms", "difference", ADDED) for name in ("http", "websocket")]
    figures.append(Figure(f"memory of a chat, {chats} chats", weight, 0.0, "MB", "difference", WEIGHT))
    return Report("transports", "stdio; nothing", figures)


def _settings(served: Service) -> dict[str, str]:
    service_of = {"BROWSE_URL": served.url, "BROWSE_DATA_DIR": str(served.data_dir), "BROWSE_AUTOSTART": "false"}
    return environment(**service_of, AUTH_SECRET=KEY)


async def _took(ways: dict[str, Call], rounds: int) -> dict[str, float]:
    """Return the median of each way's calls in milliseconds; they take turns."""
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(_WARM + rounds):
        for name, call in ways.items():
            began = time.perf_counter()
            await call()
            times[name].append((time.perf_counter() - began) * 1_000)
    return {name: median(each[_WARM:]) for name, each in times.items()}


async def _by_http(stack: AsyncExitStack, url: str) -> Call:
    """Open a session over HTTP."""
    http = await stack.enter_async_context(httpx.AsyncClient(headers=_HEADERS, trust_env=False, timeout=60))
    opened = await http.post(url, json=_request("initialize", _HELLO))
    if not opened.is_success:
        raise Failed(f"initialize over HTTP: {opened.text}")
    http.headers["Mcp-Session-Id"] = opened.headers["mcp-session-id"]
    await http.post(url, json={"jsonrpc": "2.0", "method": "notifications/initialized"})
    body = _request("tools/call", {"name": "list_pages", "arguments": {}})

    async def call() -> None:
        _check((await http.post(url, json=body)).text)

    return call


async def _by_websocket(stack: AsyncExitStack, url: str) -> Call:
    websocket = await stack.enter_async_context(
        connect(url, additional_headers=_HEADERS, compression=None, proxy=None, max_size=None)
    )
    await websocket.send(json.dumps(_request("initialize", _HELLO)))
    await websocket.recv()
    await websocket.send(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}))
    body = json.dumps(_request("tools/call", {"name": "list_pages", "arguments": {}}))

    async def call() -> None:
        await websocket.send(body)
        _check(str(await websocket.recv()))

    return call


async def _weight(stack: AsyncExitStack, pid: int, url: str, chats: int) -> float:
    """Return by how many MB the gateway grows with each chat that lists the tools, calls and stays."""
    before = psutil.Process(pid).memory_full_info().pss
    calls = [await _by_http(stack, url) for _ in range(chats)]
    for _ in range(3):
        for call in calls:
            await call()
    return float(psutil.Process(pid).memory_full_info().pss - before) / _MB / chats


def _request(method: str, params: AnyJson) -> dict[str, AnyJson]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def _check(reply: str) -> None:
    if '"result"' not in reply or '"isError":true' in reply:
        raise Failed(f"a call failed: {reply[:200]}")


async def _listen(ports: list[int]) -> None:
    """Wait until the gateway listens, which answers stdio before it does."""
    async with asyncio.timeout(_LISTENS_WITHIN_S):
        for port in ports:
            while True:
                try:
                    _, writer = await asyncio.open_connection("127.0.0.1", port)
                except ConnectionRefusedError:
                    await asyncio.sleep(0.05)  # no event reports it to another process
                else:
                    writer.close()
                    break


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
