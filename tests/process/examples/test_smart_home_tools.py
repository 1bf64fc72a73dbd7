"""Tests the tool server of the smart home, spoken to line by line: a real process where the process is the point."""

import io
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from anyio.streams.buffered import BufferedByteReceiveStream

from examples.smart_home.state import Home
from examples.smart_home.tools import serve_json_lines

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[3]
LONGEST_LINE = 100_000


class ToolServer:
    """Represents a running `--mcp` process, to which a test speaks line by line."""

    def __init__(self, process: anyio.abc.Process) -> None:
        assert process.stdin
        assert process.stdout
        self.process = process
        self._input = process.stdin
        self._output = BufferedByteReceiveStream(process.stdout)

    async def send(self, line: str) -> None:
        await self._input.send(line.encode() + b"\n")

    async def reply(self) -> str:
        with anyio.fail_after(10):
            return (await self._output.receive_until(b"\n", LONGEST_LINE)).decode()

    async def ask(self, line: str) -> str:
        await self.send(line)
        return await self.reply()


@asynccontextmanager
async def tool_server() -> AsyncIterator[ToolServer]:
    command = [sys.executable, "-m", "examples.smart_home", "--mcp"]
    async with await anyio.open_process(command, cwd=ROOT, stderr=None) as process:
        try:
            yield ToolServer(process)
        finally:
            if process.returncode is None:
                process.kill()


@pytest.fixture
async def tools() -> AsyncIterator[ToolServer]:
    """Return a tool server that has said that it is ready."""
    async with tool_server() as server:
        await server.reply()
        yield server


async def test_the_server_says_that_it_is_ready_before_it_is_asked() -> None:
    async with tool_server() as server:
        ready = json.loads(await server.reply())
    assert {**ready, "tools": len(ready["tools"])} == {"type": "ready", "version": "0.1.0", "tools": 6}
    assert ready["tools"][0] == {
        "name": "get_presence",
        "description": "Obtiene el estado del detector de presencia",
        "input_schema": {"type": "object", "properties": {}, "required": []},
        "output_schema": {
            "type": "object",
            "properties": {
                "present": {"type": "boolean"},
                "known_people": {"type": "array", "items": {"type": "string"}},
            },
        },
    }


async def test_a_whole_session_gets_a_reply_to_each_line(tools: ToolServer) -> None:
    assert (
        await tools.ask('{"type":"call","id":1,"tool":"set_light_state","args":{"name":"salon","on":true}}')
        == '{"type":"result","id":1,"ok":true,"result":{"ok":true}}'
    )
    assert (
        await tools.ask('{"type":"call","id":2,"tool":"get_all_states","args":{}}')
        == '{"type":"result","id":2,"ok":true,"result":{"lights":{"salon":true,"cocina":false,"dormitorio":false,'
        '"bano":false,"garage":false},"alarm":false,"presence":{"present":false,"known_people":[]}}}'
    )
    assert (
        await tools.ask('{"type":"call","id":3,"tool":"set_light_state","args":{"name":"inexistente","on":true}}')
        == '{"type":"error","id":3,"ok":false,"error":"Luz \'inexistente\' no encontrada"}'
    )


def replies(home: Home, *lines: str) -> list[str]:
    """Return what a server in this process answers to these lines, without what it says first."""
    said = io.StringIO()
    serve_json_lines(home, io.StringIO("".join(f"{line}\n" for line in lines)), said)
    return said.getvalue().splitlines()[1:]


@pytest.mark.parametrize(
    ("tool", "args", "result"),
    [
        ("get_presence", "{}", '{"present":true,"known_people":["Carlos","Ana"]}'),
        ("get_alarm_status", "{}", '{"armed":true}'),
        ("list_lights_on", "{}", '{"on":["salon","garage"]}'),
        ("set_light_state", '{"name":"salon","on":true}', '{"ok":true}'),
        ("set_alarm_state", '{"armed":true}', '{"ok":true}'),
    ],
)
def test_each_tool_answers_with_its_result(tool: str, args: str, result: str) -> None:
    line = f'{{"type":"call","id":"a-1","tool":"{tool}","args":{args}}}'
    assert replies(Home(), line) == [f'{{"type":"result","id":"a-1","ok":true,"result":{result}}}']


def test_what_a_tool_sets_the_next_call_reads() -> None:
    *_, lights, alarm = replies(
        Home(),
        '{"type":"call","id":1,"tool":"set_light_state","args":{"name":"cocina","on":true}}',
        '{"type":"call","id":2,"tool":"set_light_state","args":{"name":"garage","on":false}}',
        '{"type":"call","id":3,"tool":"set_alarm_state","args":{"armed":false}}',
        '{"type":"call","id":4,"tool":"list_lights_on","args":{}}',
        '{"type":"call","id":5,"tool":"get_alarm_status","args":{}}',
    )
    assert lights == '{"type":"result","id":4,"ok":true,"result":{"on":["salon","cocina"]}}'
    assert alarm == '{"type":"result","id":5,"ok":true,"result":{"armed":false}}'


@pytest.mark.parametrize(
    ("line", "call_id", "error"),
    [
        ('{"type":"call","id":1,"tool":"tool_inexistente","args":{}}', "1", "Tool 'tool_inexistente' no encontrada"),
        (
            '{"type":"call","id":2,"tool":"set_light_state","args":{"name":"dormitorio2","on":true}}',
            "2",
            "Luz 'dormitorio2' no encontrada",
        ),
        ("esto no es JSON", "null", "Error al parsear JSON: Expecting value: line 1 column 1 (char 0)"),
        (
            '{"type":"call","id":3,"tool":"set_light_state","args":{}}',
            "3",
            "Faltan parámetros requeridos: name, on",
        ),
        (
            '{"type":"call","id":4,"tool":"set_light_state","args":{"name":"salon"}}',
            "4",
            "Faltan parámetros requeridos: on",
        ),
        (
            '{"type":"call","id":5,"tool":"set_alarm_state","args":{"armed":"no"}}',
            "5",
            "Parámetro 'armed' no válido: se esperaba boolean",
        ),
        ('{"type":"call","id":6,"tool":"get_presence","args":[]}', "6", None),
        ('{"type":"hola","id":7}', "7", "Tipo de mensaje 'hola' no soportado"),
        ("[]", "null", "Mensaje no válido: se esperaba un objeto JSON"),
        ("[" * 100_000, "null", None),
    ],
)
def test_a_bad_line_gets_an_error_and_the_next_one_is_answered(line: str, call_id: str, error: str | None) -> None:
    reply, following = replies(Home(), line, '{"type":"call","id":9,"tool":"get_presence","args":{}}')
    assert reply.startswith(f'{{"type":"error","id":{call_id},"ok":false,"error":"')
    assert error is None or json.loads(reply)["error"] == error
    assert '"ok":true' in following


async def test_half_a_surrogate_pair_in_an_id_comes_back_as_it_was_sent(tools: ToolServer) -> None:
    reply = await tools.ask('{"type":"call","id":"\\ud83d","tool":"get_alarm_status"}')
    assert reply == '{"type":"result","id":"\\ud83d","ok":true,"result":{"armed":false}}'


@pytest.mark.parametrize("ending", ['{"type":"quit"}', None])
async def test_the_server_ends_with_quit_or_with_its_input(tools: ToolServer, ending: str | None) -> None:
    if ending:
        await tools.send(ending)
    else:
        assert tools.process.stdin
        await tools.process.stdin.aclose()
    with anyio.fail_after(10):
        assert await tools.process.wait() == 0
