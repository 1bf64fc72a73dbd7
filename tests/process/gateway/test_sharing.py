"""Tests chats that one process serves: each is by itself, and goes on when that process dies."""

import asyncio
import contextlib
import json
import random
import secrets
import shutil
import signal
import socket
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from pathlib import Path

import jwt
import psutil
import pytest
from pydantic import JsonValue
from starlette.responses import Response

from browse_together.client.credentials import mint
from browse_together.contract import toolsets, wire
from browse_together.contract.wire import MAX_MESSAGE_BYTES
from mcp_gateway.sharing.shared_socket import SharedSocket
from tests.support.chat import Chat, chatting, environment, text
from tests.support.standin import SECRET, Seen, StandIn, success
from tests.support.waiting import PATIENCE_S

pytestmark = [pytest.mark.anyio, pytest.mark.own_start]

Start = Callable[..., Awaitable[Chat]]


class Account:
    """Has chats that one process serves, and nobody else's."""

    def __init__(self, standin: StandIn, folder: Path) -> None:
        (folder / wire.SECRET_FILE).write_text(f"{SECRET}\n", encoding="ascii")
        self.runtime = folder
        self.environment = environment(
            BROWSE_URL=standin.url,
            BROWSE_DATA_DIR=str(folder),
            BROWSE_SHARED="true",
            XDG_RUNTIME_DIR=str(folder),
        )
        self.place = SharedSocket.of(self.environment)

    def chat(self, **settings: str) -> AbstractAsyncContextManager[Chat]:
        return chatting(self.environment | settings)

    def processes(self) -> list[psutil.Process]:
        """Return the shared processes of this account, the oldest first."""
        found = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                if "mcp_gateway.sharing" in process.cmdline() and self.place.path in process.cmdline():
                    found.append(process)
        return sorted(found, key=lambda process: process.create_time())

    def process(self) -> psutil.Process:
        (only,) = self.processes()
        return only


@pytest.fixture
def account(standin: StandIn) -> Iterator[Account]:
    folder = Path(tempfile.mkdtemp(prefix="bt"))  # short enough for a socket's path
    account = Account(standin, folder)
    yield account
    for process in account.processes():
        process.kill()
    shutil.rmtree(folder)


@pytest.fixture
async def chats(account: Account) -> AsyncIterator[Start]:
    """Starts chats that have shaken hands, and ends them after the test."""
    async with AsyncExitStack() as stack:

        async def start(**settings: str) -> Chat:
            chat = await stack.enter_async_context(account.chat(**settings))
            await chat.initialize()
            return chat

        yield start


def client_of(seen: Seen) -> str:
    token = seen.headers["authorization"].removeprefix("Bearer ")
    return str(jwt.decode(token, options={"verify_signature": False})["sub"])


async def mirror(seen: Seen) -> Response:
    return success({"heard": seen.body.get("expression"), "client": client_of(seen)})


async def test_chats_share_a_process_and_nothing_else(account: Account, chats: Start, standin: StandIn) -> None:
    standin.answer = mirror
    folder = Path(account.place.path).parent
    one, two = await chats(), await chats(BROWSE_TOOLSETS="help", CLAUDE_CODE_SESSION_ID="abc", LOG_LEVEL="debug")
    assert json.loads(text(await one.call("list_pages")))["client"].startswith("gw-")
    assert json.loads(text(await two.call("list_pages")))["client"] == "claude-code:abc"
    listed = (await two.ask("tools/list"))["result"]
    assert listed == {"tools": [tool.message() for tool in toolsets.tools(["help"])]}
    assert (await one.ask("tools/list"))["result"] == {"tools": [tool.message() for tool in toolsets.tools()]}
    reads = mint(
        SECRET, "token:reads", "reads", claims={wire.TOKEN_NAME: "reads", wire.TOKEN_LIMITS: {"readOnly": True}}
    )
    limited = await chats(BROWSE_TOKEN=reads)
    assert json.loads(text(await limited.call("list_pages")))["client"] == "token:reads"
    readable = json.dumps((await limited.ask("tools/list"))["result"])
    assert ('"name": "snapshot"' in readable, '"name": "click"' in readable) == (True, False)
    assert json.loads(text(await one.call("list_pages")))["client"].startswith("gw-")
    assert b"list_pages" in await asyncio.wait_for(two.stderr.readline(), PATIENCE_S)
    shared = account.process()
    for chat in (one, two, limited):
        assert psutil.Process(chat.process.pid).children() == []
    one.process.send_signal(signal.SIGTERM)
    assert await one.ended() == -signal.SIGTERM
    assert json.loads(text(await two.call("list_pages")))["client"] == "claude-code:abc"
    limited.stdin.close()
    two.stdin.close()
    assert await two.ended() == await limited.ended() == 0
    assert await two.stdout.read() == await one.stdout.read() == b""
    await asyncio.to_thread(shared.wait, PATIENCE_S)  # a second after the last chat
    assert [*folder.iterdir()] == []


async def test_whatever_chats_say_at_a_time_each_gets_its_own_answers(chats: Start, standin: StandIn) -> None:
    standin.answer = mirror
    started = [await chats(LOG_LEVEL="debug") for _ in range(4)]
    seed = secrets.randbelow(10**6)

    async def talk(number: int, chat: Chat) -> None:
        dice = random.Random(seed + number)  # noqa: S311 - a seed that a failure names
        asked, broken = dict[int, str](), 0
        for step in range(40):
            kind = dice.choice(["call", "call", "call", "ping", "broken", "unknown", "large"])
            if kind == "broken":
                await chat.write(b'{"jsonrpc": broken' + f"chat-{number}".encode() + b"\n")
                broken += 1
                continue
            mark = f"chat-{number}-{step}-" + "x" * (300_000 if kind == "large" else 3)
            call: dict[str, JsonValue] = {"name": "evaluate_script", "arguments": {"expression": mark}}
            method, params = ("ping", None) if kind == "ping" else (f"no/{mark}", None)
            if kind in {"call", "large"}:
                method, params = "tools/call", call
            asked[await chat.send(method, params)] = mark if kind != "ping" else ""
        while asked or broken:
            reply = await chat.receive()
            assert all(f"chat-{other}" not in json.dumps(reply) for other in range(4) if other != number), seed
            if reply["id"] is None:
                broken -= 1
            else:
                assert asked.pop(int(str(reply["id"])))[:10] in json.dumps(reply), seed

    async with asyncio.timeout(PATIENCE_S):
        await asyncio.gather(*(talk(*each) for each in enumerate(started)))
    for chat in started:
        chat.stdin.close()
        assert await chat.stdout.read() == b""
        assert b"chat-" not in await chat.stderr.read()


@pytest.mark.parametrize("fault", [signal.SIGKILL, signal.SIGSTOP])
async def test_a_chat_goes_on_when_the_shared_process_dies_or_hangs(
    fault: signal.Signals, account: Account, chats: Start, standin: StandIn
) -> None:
    never, one, two = asyncio.Event(), await chats(), await chats()

    async def wait_once(seen: Seen) -> Response:
        if seen.headers[wire.ATTEMPT.lower()] == "1" and seen.body["action"] == "goto":
            await never.wait()
        return await mirror(seen)

    standin.answer = wait_once
    client = json.loads(text(await one.call("list_pages")))["client"]
    await one.call("help", toolset="storage")
    listed = (await one.ask("tools/list"))["result"]
    await standin.call()
    await standin.call()
    request = await one.send("tools/call", {"name": "goto", "arguments": {"url": "http://x/"}})
    sent = await standin.call()
    shared = account.process()
    shared.send_signal(fault)
    assert await two.ask("ping")
    again = await standin.call()
    assert (again.headers[wire.CALL_ID.lower()], again.body) == (sent.headers[wire.CALL_ID.lower()], sent.body)
    assert client_of(again) == client_of(sent) == client
    reply = await one.receive()
    assert (reply["id"], "result" in reply) == (request, True)
    assert (await one.ask("tools/list"))["result"] == listed
    assert len(account.processes()) == (2 if fault is signal.SIGSTOP else 1)
    for chat in (one, two):
        chat.stdin.close()
        assert await chat.stdout.read() == b""
    never.set()


async def test_what_ends_the_shared_process_twice_is_an_error_that_says_how_to_ask(
    account: Account, chats: Start, standin: StandIn
) -> None:
    never, chat = asyncio.Event(), await chats()

    async def wait(seen: Seen) -> Response:
        if seen.body["action"] == "goto":
            await never.wait()
        return await mirror(seen)

    standin.answer = wait
    request = await chat.send("tools/call", {"name": "goto", "arguments": {"url": "http://x/"}})
    for _ in range(2):
        call_id = (await standin.call()).headers[wire.CALL_ID.lower()]
        account.processes()[-1].kill()
    reply = await chat.receive()
    assert reply["id"] == request
    assert call_id in str(reply["error"])
    assert "It may have happened" in str(reply["error"])
    assert json.loads(text(await chat.call("list_pages")))
    never.set()


async def test_a_chat_that_breaks_its_input_or_floods_is_its_own_affair(chats: Start, standin: StandIn) -> None:
    standin.answer = mirror
    loud, quiet = await chats(), await chats()
    await loud.write(b"x" * (MAX_MESSAGE_BYTES + 9) + b"\n")
    await loud.write(b'{"jsonrpc": "2.0", "id": [], "result": {}}\n')
    await loud.notify("notifications/cancelled", {"requestId": {}})
    asked = [await loud.send("ping") for _ in range(300)]
    assert json.loads(text(await quiet.call("list_pages")))
    replies = [await loud.receive() for _ in range(301)]
    assert sorted(int(str(reply["id"])) for reply in replies if "result" in reply) == asked


async def test_a_place_that_cannot_be_used_is_told_and_the_chat_is_served_all_the_same(account: Account) -> None:
    (account.runtime / wire.APP_NAME).mkdir(mode=0o755)
    async with account.chat() as chat:
        await chat.initialize()
        assert json.loads(text(await chat.call("list_pages"))) == {"heard": "list_pages"}
        assert b"this chat has a process of its own: " in await asyncio.wait_for(chat.stderr.readline(), PATIENCE_S)


async def test_a_stale_socket_is_replaced(account: Account, chats: Start) -> None:
    place = account.place
    place.prepare()
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(place.path)
    chat = await chats()
    assert json.loads(text(await chat.call("list_pages"))) == {"heard": "list_pages"}
    assert account.process().is_running()


async def test_what_a_process_of_its_own_must_say_or_do_it_does(account: Account) -> None:
    async with account.chat(BROWSE_AUTOSTART="perhaps") as chat:
        assert await chat.ended() == 1
        assert (await chat.stderr.read()).startswith(b"mcp-gateway: BROWSE_AUTOSTART: ")
    file = account.runtime / "config.toml"
    file.write_text("shared = false\n", encoding="utf-8")
    async with account.chat(BROWSE_CONFIG=str(file), BROWSE_SHARED="") as chat:
        await chat.initialize()
        assert json.loads(text(await chat.call("list_pages"))) == {"heard": "list_pages"}
        assert "mcp_gateway" in psutil.Process(chat.process.pid).cmdline()


async def test_a_chat_with_a_large_message_goes_on_in_a_process_of_its_own(chats: Start, standin: StandIn) -> None:
    never, chat = asyncio.Event(), await chats()

    async def wait_once(seen: Seen) -> Response:
        if seen.headers[wire.ATTEMPT.lower()] == "1" and seen.body["action"] == "goto":
            await never.wait()
        return await mirror(seen)

    standin.answer = wait_once
    client = json.loads(text(await chat.call("list_pages")))["client"]
    await chat.call("help", toolset="storage")
    listed = (await chat.ask("tools/list"))["result"]
    waiting = await chat.send("tools/call", {"name": "goto", "arguments": {"url": "http://x/"}})
    large = "x" * 5_000_000
    sent = await chat.send("tools/call", {"name": "evaluate_script", "arguments": {"expression": large}})
    after = await chat.send("tools/list")
    replies = {reply["id"]: reply["result"] for reply in [await chat.receive() for _ in range(3)]}
    assert json.loads(text(replies[waiting]))["client"] == client
    assert large in text(replies[sent])
    assert replies[after] == listed
    assert psutil.Process(chat.process.pid).memory_info().rss > 50_000_000
    never.set()
