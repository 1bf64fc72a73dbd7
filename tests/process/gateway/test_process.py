"""Tests the process: its protocol revisions, what its stdout carries, and how it ends.

It is longer than 300 lines because each revision, each fault and each way to end a process has a test, and all start
it in the same way.
"""

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import cast

import psutil
import pytest
from mcp import Client, StdioServerParameters
from mcp.types import TextContent
from pydantic import JsonValue
from starlette.responses import Response

from browse_together.client.credentials import mint
from browse_together.contract import catalogue, toolsets
from browse_together.contract.instructions import INSTRUCTIONS
from browse_together.contract.wire import MAX_MESSAGE_BYTES, TOKEN_LIMITS
from mcp_gateway.stdio.launcher import EXIT_WITHIN_S
from tests.support import frames
from tests.support.chat import CLIENT, MODERN, ROOT, Chat, chatting, environment, text
from tests.support.standin import Seen, StandIn, success
from tests.support.tab import closed_port
from tests.support.waiting import PATIENCE_S

pytestmark = pytest.mark.anyio

HANDSHAKE: dict[str, JsonValue] = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT}
BUSY_S = 3
UNUSED = {
    *("PIL", "av", "fastapi", "jsonschema", "keyring", "limits", "playwright", "prometheus_client", "psutil"),
    *("regex", "sqlite3", "tomlkit", "typer", "websockets"),
}
StartChat = Callable[..., AbstractAsyncContextManager[Chat]]


@pytest.fixture
async def client(chat: StartChat) -> AsyncIterator[Chat]:
    """Return a chat that has shaken hands, with a gateway that serves."""
    async with chat() as started:
        await started.initialize()
        yield started


LOADED_LATER = {
    "asyncio",
    "httpx",
    "mcp",
    "mcp_types",
    "pydantic",
    "browse_together.contract.catalogue",
    "structlog",
}
HELD_UP = f"""
import sys, time, types
from mcp_gateway.__main__ import main
def run(early, flags):
    print(*{LOADED_LATER} & sys.modules.keys(), file=sys.stderr, flush=True)
    time.sleep(60)
startup = sys.modules["mcp_gateway.startup"] = types.ModuleType("mcp_gateway.startup")
startup.run = run
main()
"""


async def test_the_first_two_replies_wait_for_nothing_that_takes_long_to_load(tmp_path: Path) -> None:
    async with chatting(environment(BROWSE_CONFIG=os.devnull), "-c", HELD_UP) as client:
        assert (await client.initialize())["result"]
        listed = (await client.ask("tools/list"))["result"]
        assert listed == {"tools": [tool.message() for tool in toolsets.tools()]}
        assert await asyncio.wait_for(client.stderr.readline(), PATIENCE_S) == b"\n"
    file = tmp_path / "config.toml"
    file.write_text("toolsets = ['help']\n", encoding="utf-8")
    async with chatting(environment(BROWSE_CONFIG=str(file)), "-c", HELD_UP) as client:
        await client.initialize()
        listed = (await client.ask("tools/list"))["result"]
        wanted = frozenset({"help"})
        made = toolsets.tools(wanted, extra=toolsets.listed_names(wanted))
        assert listed == {"tools": [tool.message() for tool in made]}
        assert await asyncio.wait_for(client.stderr.readline(), PATIENCE_S) == b"\n"
    limited = mint("s" * 32, "limited", claims={TOKEN_LIMITS: {"read_only": True}})
    async with chatting(environment(BROWSE_CONFIG=os.devnull, BROWSE_TOKEN=limited), "-c", HELD_UP) as client:
        await client.stderr.readline()
        assert (await client.ask("ping"))["result"] == {}
        await client.send("initialize", HANDSHAKE)  # the token decides, and what reads it is not there yet
        await client.send("tools/list")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(client.receive(), 0.5)


@pytest.mark.own_start
async def test_a_chat_loads_nothing_that_its_calls_do_not_need(chat: StartChat) -> None:
    async with chat(PYTHONPROFILEIMPORTTIME="1") as client:
        await client.initialize()
        await client.call("list_pages")
        client.process.terminate()
        said = (await client.stderr.read()).decode()
    loaded = {line.rpartition("|")[2].strip() for line in said.splitlines() if line.startswith("import time:")}
    assert {"mcp.server.lowlevel", "httpx", "browse_together.contract.catalogue"} <= loaded
    assert sorted(loaded & UNUSED) == []


@pytest.mark.parametrize("mode", ["legacy", "auto", "2026-07-28"])
async def test_the_sdks_own_client_lists_and_calls_in_every_mode(mode: str, standin: StandIn, data_dir: Path) -> None:
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "mcp_gateway"],
        env=environment(BROWSE_URL=standin.url, BROWSE_DATA_DIR=str(data_dir)),
        cwd=ROOT,
    )
    async with asyncio.timeout(PATIENCE_S), Client(parameters, mode=mode) as client:
        listing = await client.list_tools()
        assert [tool.name for tool in listing.tools] == [tool.name for tool in toolsets.tools()]
        result = await client.call_tool("goto", {"url": "http://x/"})
    assert isinstance(result.content[0], TextContent)
    assert json.loads(result.content[0].text) == {"heard": "goto"}


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
async def test_every_handshake_revision_is_spoken(chat: StartChat, version: str) -> None:
    async with chat() as client:
        reply = await client.initialize(version)
        assert isinstance(reply["result"], dict)
        assert reply["result"]["protocolVersion"] == version
        assert json.loads(text(await client.call("list_pages"))) == {"heard": "list_pages"}


@pytest.mark.parametrize(
    ("given", "listed", "told"),
    [
        ("help, dialogs", ["help", "dialogs"], None),
        (
            "medai",
            ["core"],
            "Tell the user: BROWSE_TOOLSETS: no toolset is called medai; listed is core. There are: core, ",
        ),
        ("medai,help", ["help"], "Tell the user: BROWSE_TOOLSETS: no toolset is called medai; listed is help. "),
    ],
)
async def test_a_misspelt_toolset_is_told_to_the_user_and_the_rest_is_listed(
    chat: StartChat, given: str, listed: list[str], told: str | None
) -> None:
    async with chat(BROWSE_TOOLSETS=given) as client:
        instructions = str(cast("dict[str, JsonValue]", (await client.initialize())["result"])["instructions"])
        tools = cast("dict[str, list[dict[str, str]]]", (await client.ask("tools/list"))["result"])["tools"]
        assert json.loads(text(await client.call("hover"))) == {"heard": "hover"}
        client.process.terminate()
        said = (await client.stderr.read()).decode()
    assert [tool["name"] for tool in tools] == [tool.name for tool in toolsets.tools(listed)]
    assert instructions.endswith(INSTRUCTIONS)
    assert instructions.startswith(told or "One real")
    assert (told or "").removeprefix("Tell the user: ") in said


async def test_the_revision_without_a_handshake_is_spoken(chat: StartChat) -> None:
    async with chat() as client:
        reply = await client.ask("tools/call", {"name": "list_pages", "arguments": {}, "_meta": MODERN})
        assert json.loads(text(reply["result"])) == {"heard": "list_pages"}
        envelope = {key: value for key, value in MODERN.items() if not key.endswith("clientCapabilities")}
        error = (await client.ask("tools/list", {"_meta": envelope}))["error"]
        assert isinstance(error, dict)
        assert (error["code"], str(error["message"])[:15]) == (-32602, "Invalid params:")
        assert "clientCapabilities" in str(error["message"])


async def test_each_fault_of_the_protocol_has_its_code_and_the_connection_goes_on(client: Chat) -> None:
    async def code(method: str, params: dict[str, JsonValue] | None = None) -> JsonValue:
        error = (await client.ask(method, params))["error"]
        assert isinstance(error, dict)
        return error["code"]

    async def code_of(line: bytes) -> JsonValue:
        await client.write(line + b"\n")
        error = (await client.receive())["error"]
        assert isinstance(error, dict)
        return error["code"]

    assert await code_of(b"{bad") == -32700
    assert await code_of(b"[]") == -32600
    assert await code_of(b'{"jsonrpc":"2.0","id":1e400,"method":"ping"}') == -32700, "no number of JSON is endless"
    assert await code_of(b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}') == -32600
    assert await code("no/such/method") == -32601
    assert await code("tools/call", {"name": "no_such_tool"}) == -32601
    wrong: list[tuple[str, dict[str, JsonValue], str]] = [
        ("tools/call", {"arguments": {}}, "name"),
        ("tools/call", {"name": "goto", "arguments": ["x"]}, "arguments"),
        ("tools/list", {"cursor": "elsewhere"}, "cursor"),
        ("resources/read", {"_meta": {}}, "uri"),
        ("prompts/get", {"name": "no_such_prompt"}, "no_such_prompt"),
    ]
    for method, params, field in wrong:
        error = (await client.ask(method, params))["error"]
        assert isinstance(error, dict)
        assert (error["code"], str(error["message"])[:15]) == (-32602, "Invalid params:")
        assert field in str(error["message"])
    assert json.loads(text(await client.call("list_pages"))) == {"heard": "list_pages"}


async def test_an_unknown_tool_is_told_the_names_that_exist(client: Chat) -> None:
    reply = await client.ask("tools/call", {"name": "browser_invalid", "arguments": {}})
    assert reply["error"] == {
        "code": -32601,
        "message": "Tool not found: browser_invalid",
        "data": {"availableTools": list(catalogue.ACTIONS)},
    }


async def test_a_name_that_is_none_is_repeated_in_one_legible_line(client: Chat) -> None:
    odd = "x\x1b[31m\u202e\nNotice: obey"
    for error in (
        (await client.ask("tools/call", {"name": odd}))["error"],
        (await client.ask("resources/read", {"uri": f"browse://{odd}"}))["error"],
    ):
        assert isinstance(error, dict)
        message = str(error["message"])
        assert "Notice: obey" in message.replace("%20", " ")
        assert message.isprintable()


@pytest.mark.own_start
async def test_a_burst_during_the_start_is_answered_once_each(chat: StartChat) -> None:
    async with chat() as client:
        await client.send("initialize", HANDSHAKE)
        replies = [await client.receive()]
        for _ in range(60):  # paced by the replies, so that they span the handing over
            await client.send("ping")
            await client.send("tools/list")
            replies += [await client.receive(), await client.receive()]
        last = await client.ask("tools/call", {"name": "list_pages", "arguments": {}})
    assert sorted(int(str(reply["id"])) for reply in replies) == list(range(1, 122))
    assert last["id"] == 122


async def test_progress_and_cancelling_cross_the_wire(client: Chat, standin: StandIn) -> None:
    never = asyncio.Event()

    async def wait(seen: Seen) -> Response:
        if seen.body["action"] == "goto":
            await never.wait()
        return success({"heard": seen.body["action"]})

    standin.answer = wait
    await client.call("list_pages")
    await standin.call()
    arguments: JsonValue = {"name": "goto", "arguments": {}, "_meta": {"progressToken": "p"}}
    assert isinstance(arguments, dict)
    request_id = await client.send("tools/call", arguments)
    call_id = (await standin.call()).headers["x-browse-call"]
    moved: dict[str, JsonValue] = {"callId": call_id, "clientId": "c", "state": "queued", "position": 1}
    standin.emit("call", moved)
    assert (await client.receive())["params"] == {"progressToken": "p", "progress": 1, "message": "1st in the queue"}
    await client.notify("notifications/cancelled", {"requestId": request_id})
    assert await standin.cancelled() == call_id
    assert "heard" in text(await client.call("list_pages"))  # and nothing more came for the cancelled one
    never.set()


async def test_ten_megabytes_go_in_and_come_out(client: Chat, standin: StandIn) -> None:
    async def mirror(seen: Seen) -> Response:
        return success({"value": seen.body["expression"]})

    standin.answer = mirror
    frame = len(json.dumps({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {}})) + 80
    script = "x" * (MAX_MESSAGE_BYTES - frame)
    result = await client.call("evaluate_script", expression=script)
    assert frames.read(text(result)).foreign == [script]


async def test_whatever_prints_reaches_stderr_and_stdout_carries_the_protocol_alone(
    standin: StandIn, data_dir: Path, tmp_path: Path
) -> None:
    noisy = tmp_path / "noisy.py"
    noisy.write_text(
        "import os, subprocess, threading\n"
        "import mcp_gateway.startup as startup\n"
        "from mcp_gateway.__main__ import main\n"
        "run = startup.run\n"
        "def loud(front, flags):\n"
        "    print('printed', flush=True)\n"
        "    os.write(1, b'written\\n')\n"
        "    subprocess.run(['sh', '-c', 'echo child; cat'], check=True)\n"
        "    run(front, flags)\n"
        "startup.run = loud\n"
        "main()\n",
        encoding="utf-8",
    )
    env = environment(BROWSE_URL=standin.url, BROWSE_DATA_DIR=str(data_dir))
    async with chatting(env, str(noisy)) as client:
        await client.initialize()
        await client.call("list_pages")
        client.stdin.close()
        assert await asyncio.wait_for(client.stdout.read(), PATIENCE_S) == b""
        printed = await asyncio.wait_for(client.stderr.read(), PATIENCE_S)
    assert set(printed.split()) == {b"printed", b"written", b"child"}


async def ends_soon(process: asyncio.subprocess.Process) -> None:
    """Check that the process ends, by itself or by its last resort. A busy machine may take a while to notice
    either."""
    assert await asyncio.wait_for(process.wait(), EXIT_WITHIN_S + BUSY_S) == 0


async def test_closing_stdin_ends_an_idle_gateway_within_a_second(chat: StartChat) -> None:
    """Unless the machine is busy, which it is not five times in a row."""
    seconds = [60.0]
    while min(seconds) >= 1 and len(seconds) <= 5:
        async with chat() as client:
            await client.initialize()
            await client.call("list_pages")
            began = time.monotonic()
            client.stdin.close()
            await ends_soon(client.process)
            seconds.append(time.monotonic() - began)
    assert min(seconds) < 1


async def test_what_holds_on_when_stdin_is_closed_is_left_behind(
    standin: StandIn, data_dir: Path, tmp_path: Path
) -> None:
    holding = tmp_path / "holding.py"
    holding.write_text(
        "import time\n"
        "import mcp_gateway.startup as startup\n"
        "from mcp_gateway.__main__ import main\n"
        "startup.run = lambda front, flags: time.sleep(60)\n"
        "main()\n",
        encoding="utf-8",
    )
    env = environment(BROWSE_URL=standin.url, BROWSE_DATA_DIR=str(data_dir))
    async with chatting(env, str(holding)) as client:
        await client.initialize()  # its start may take longer than its end
        client.stdin.close()
        await ends_soon(client.process)


@pytest.mark.own_start
async def test_closing_stdin_ends_a_gateway_that_is_still_importing(chat: StartChat) -> None:
    async with chat() as client:
        await client.send("initialize", HANDSHAKE)
        client.stdin.close()
        reply = await client.receive()
        assert reply["id"] == 1
        await ends_soon(client.process)


async def test_closing_stdin_ends_a_gateway_with_calls_in_flight_and_cancels_them(
    client: Chat, standin: StandIn
) -> None:
    never = asyncio.Event()

    async def wait(seen: Seen) -> Response:
        await never.wait()
        return success({"heard": seen.path})

    standin.answer = wait
    await client.send("tools/call", {"name": "goto", "arguments": {"url": "http://x/"}})
    await client.send("tools/call", {"name": "goto", "arguments": {"url": "http://y/"}})
    calls = {(await standin.call()).headers["x-browse-call"] for _ in range(2)}
    children = psutil.Process(client.process.pid).children(recursive=True)
    client.stdin.close()
    await ends_soon(client.process)
    assert {await standin.cancelled() for _ in range(2)} == calls
    assert children == []
    never.set()


async def test_closing_stdin_ends_a_gateway_whose_client_does_not_read(standin: StandIn, data_dir: Path) -> None:
    async def much(_: Seen) -> Response:
        return success({"value": "x" * 1_000_000})

    standin.answer = much
    unread, outgoing = os.pipe()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "mcp_gateway"),
        env=environment(BROWSE_URL=standin.url, BROWSE_DATA_DIR=str(data_dir)),
        stdin=asyncio.subprocess.PIPE,
        stdout=outgoing,
    )
    os.close(outgoing)
    assert process.stdin
    for message in (
        {"id": 1, "method": "initialize", "params": HANDSHAKE},
        {"id": 2, "method": "tools/call", "params": {"name": "evaluate_script", "arguments": {}}},
    ):
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    await standin.call()
    process.stdin.close()
    await ends_soon(process)
    os.close(unread)


async def test_what_was_piped_in_is_answered_before_the_end(chat: StartChat) -> None:
    """Unless the machine is busy, which it is not five times in a row."""
    for _ in range(5):
        async with chat() as client:
            await client.initialize()
            await client.call("list_pages")
            await client.send("tools/call", {"name": "list_pages", "arguments": {}})
            client.stdin.close()
            answer = await asyncio.wait_for(client.stdout.readline(), BUSY_S)
            assert await client.ended() == 0
            if answer:
                assert "result" in json.loads(answer)
                return
    pytest.fail("nothing was answered")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_it(client: Chat, number: signal.Signals) -> None:
    await client.call("list_pages")
    client.process.send_signal(number)
    assert await client.ended() == -number


@pytest.mark.parametrize(("name", "value"), [("BROWSE_AUTOSTART", "perhaps"), ("PORT", "abc")])
async def test_a_wrong_setting_is_named_on_stderr(chat: StartChat, name: str, value: str) -> None:
    async with chat(**{name: value}) as client:
        assert await client.ended() == 1
        said = (await client.stderr.read()).decode()
    assert said.startswith(f"mcp-gateway: {name}: ")
    assert said.count("\n") == 1


async def test_a_fault_is_told_and_logged_without_what_was_typed(
    standin: StandIn, data_dir: Path, tmp_path: Path
) -> None:
    faulty = tmp_path / "faulty.py"
    faulty.write_text(
        "from browse_together.client import http\nfrom mcp_gateway.__main__ import main\nhttp.json = None\nmain()\n",
        encoding="utf-8",
    )
    env = environment(BROWSE_URL=standin.url, BROWSE_DATA_DIR=str(data_dir))
    async with chatting(env, str(faulty)) as client:
        await client.initialize()
        result = await client.call("fill", selector="#pin", text="open-sesame")
        client.stdin.close()
        logged = await asyncio.wait_for(client.stderr.read(), PATIENCE_S)
    assert text(result).startswith("INTERNAL_ERROR: AttributeError: ")
    assert b"Traceback" in logged
    assert b"open-sesame" not in logged


async def test_a_service_that_cannot_be_reached_is_on_stderr_once_before_any_call_and_whatever_is_called(
    chat: StartChat,
) -> None:
    url = f"http://127.0.0.1:{closed_port()}"
    async with chat(BROWSE_URL=url) as client:
        await client.initialize()
        first = await asyncio.wait_for(client.stderr.readline(), PATIENCE_S)
        for _ in range(3):
            assert f"The browser service is not running at {url}." in text(await client.call("list_pages"))
        client.stdin.close()
        rest = await asyncio.wait_for(client.stderr.read(), PATIENCE_S)
    assert f"The browser service is not running at {url}.".encode() in first
    assert f"browse-together up --detach --port {url.rpartition(':')[2]}".encode() in first
    assert rest == b""
