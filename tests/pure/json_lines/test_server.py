"""Tests what the server of JSON lines does with lines that are no messages, with many, and with a client that goes."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from functools import partial

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from browse_together.contract.json_lines.lines import Lines
from browse_together.contract.json_lines.messages import Call, InvalidMessage, Json, Refused, parse
from browse_together.contract.json_lines.server import Server
from tests.support.json_lines import Speaker, speaking
from tests.support.waiting import become

pytestmark = pytest.mark.anyio

CALL = '{"type":"call","id":9,"tool":"say"}'
MOST_CALLS = 64
PIPE_BYTES = 65_536


class Tools:
    """A server that does what a test asks for, and remembers it."""

    def __init__(self) -> None:
        self.began: list[object] = []
        self.done: list[object] = []
        self.cancelled: list[object] = []
        self.go_on = asyncio.Event()

    async def run(self, call: Call) -> Json:
        self.began.append(call.id)
        try:
            if call.tool == "wait":
                await self.go_on.wait()
        except asyncio.CancelledError:
            self.cancelled.append(call.id)
            raise
        self.done.append(call.id)
        if call.tool == "refuse":
            raise Refused("no\nand no again")
        if call.tool == "fail":
            raise RuntimeError("a defect")
        return {"said": "x" * PIPE_BYTES} if call.tool == "shout" else {"said": call.args.get("text")}


@pytest.fixture
def tools() -> Tools:
    return Tools()


async def serve(tools: Tools, lines: Lines) -> None:
    await Server(lines, tools.run, lambda call: str(call.args["on"]) if "on" in call.args else None).serve()


@pytest.fixture
async def client(tools: Tools) -> AsyncIterator[Speaker]:
    async with speaking(partial(serve, tools), most_bytes=1_000) as speaker:
        yield speaker


@pytest.mark.parametrize(
    ("line", "call_id", "error"),
    [
        (b"{", None, "Error al parsear JSON: Expecting property name"),
        (b'{"type":"call","id":1,"tool":"\xff"}', None, "Error al parsear JSON: 'utf-8' codec can't decode"),
        (b'{"type":"call","id":1,"tool":"say","args":{"text":"\\ud83d"}}', 1, 'Error al parsear JSON: "\\ud83d" is'),
        (b'{"type":"call","id":"\\ud83d","tool":"say"}', "\ud83d", 'Error al parsear JSON: "\\ud83d" is'),
        (b'{"type":"call","id":1,"tool":"say","args":{"text":NaN}}', None, "Error al parsear JSON: NaN is not JSON"),
        (b'{"type":"call","id":1e999,"tool":"say"}', None, "Error al parsear JSON: 1e999 is too large"),
        (
            b'{"type":"call","id":1,"tool":"say","tool":"shout"}',
            None,
            "Error al parsear JSON: an object has the key 'tool' twice",
        ),
        (b"[" * 900, None, "Error al parsear JSON: "),
        (b"[]", None, "Mensaje no válido: se esperaba un objeto JSON"),
        (b"[" + CALL.encode() + b"]", None, "Mensaje no válido: se esperaba un objeto JSON"),
        (b'"quit"', None, "Mensaje no válido: se esperaba un objeto JSON"),
        (b"null", None, "Mensaje no válido: se esperaba un objeto JSON"),
        (b'{"type":"hola","id":7}', 7, "Tipo de mensaje 'hola' no soportado"),
        (b'{"type":"result","id":7,"ok":true,"result":{}}', 7, "Tipo de mensaje 'result' no soportado"),
        (b'{"type":3,"id":"a"}', "a", "Tipo de mensaje '3' no soportado"),
        (b'{"id":7,"tool":"say"}', 7, "Mensaje no válido: falta 'type'"),
        (b'{"type":"call","tool":"say"}', None, "Mensaje no válido: 'id' debe ser un número o un string"),
        (b'{"type":"call","id":true,"tool":"say"}', None, "Mensaje no válido: 'id' debe ser un número o un string"),
        (b'{"type":"call","id":{},"tool":"say"}', None, "Mensaje no válido: 'id' debe ser un número o un string"),
        (b'{"type":"call","id":7}', 7, "Mensaje no válido: 'tool' debe ser un string"),
        (b'{"type":"call","id":7,"tool":"say","args":[]}', 7, "Parámetro 'args' no válido: se esperaba object"),
        (b'{"type":"call","id":7,"tool":"' + b"x" * 1_000, 7, "Mensaje demasiado grande: como máximo 1000 bytes"),
        (b'{"tool":"' + b"x" * 2_000 + b'","id":"z"}', "z", "Mensaje demasiado grande: como máximo 1000 bytes"),
        (b"x" * 200_000, None, "Mensaje demasiado grande: como máximo 1000 bytes"),
    ],
)
async def test_an_invalid_line_gets_an_error_and_the_next_is_answered(
    client: Speaker, line: bytes, call_id: object, error: str
) -> None:
    await client.write(line)
    refused = await client.reply()
    assert refused | {"error": ""} == {"type": "error", "id": call_id, "ok": False, "error": ""}
    assert refused["error"].startswith(error)
    assert (await client.call("say", 9, text="é"))["result"] == {"said": "é"}


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.binary(max_size=100) | st.from_regex(rb'\{"type":"call","\w*":.{0,40}\}', fullmatch=True))
def test_every_line_is_a_call_the_end_or_no_message(line: bytes) -> None:
    with contextlib.suppress(InvalidMessage):
        said = parse(line)
        assert said is None or isinstance(said, Call)


async def test_empty_lines_are_nothing_and_ends_of_lines_may_be_dos(client: Speaker) -> None:
    await client.write("", "  ", CALL + "\r")
    assert (await client.reply())["id"] == 9


async def test_an_id_may_be_any_number_or_text(client: Speaker) -> None:
    for call_id in (0, -1, 1.5, 10**30, "", "ñ"):
        await client.write(json.dumps({"type": "call", "id": call_id, "tool": "say"}))
        assert (await client.reply())["id"] == call_id


async def test_an_error_is_one_line_of_text_and_a_defect_is_one_too(
    client: Speaker, caplog: pytest.LogCaptureFixture
) -> None:
    assert (await client.call("refuse"))["error"] == "no and no again"
    assert (await client.call("fail"))["error"] == "Error interno: RuntimeError: a defect"
    assert "the tool fail failed" in caplog.text
    assert (await client.call("say", text="on"))["ok"]


async def test_calls_on_one_thing_keep_their_order_and_others_pass_them(client: Speaker, tools: Tools) -> None:
    def call(call_id: str, tool: str, **args: str) -> str:
        return json.dumps({"type": "call", "id": call_id, "tool": tool, "args": args})

    await client.write(call("a1", "wait", on="a"), call("a2", "say", on="a"), call("b1", "say", on="b"))
    assert (await client.reply())["id"] == "b1"
    assert tools.began == ["a1", "b1"]
    await client.write(call("all", "say"), call("b2", "say", on="b"), call("c1", "say", on="c"))
    tools.go_on.set()
    assert [(await client.reply())["id"] for _ in range(3)] == ["a1", "a2", "all"]
    assert {(await client.reply())["id"], (await client.reply())["id"]} == {"b2", "c1"}
    assert tools.began[:4] == ["a1", "b1", "a2", "all"], "one on nothing waits for all, and all later ones wait for it"


async def test_an_error_without_an_id_keeps_its_place_among_the_replies(client: Speaker, tools: Tools) -> None:
    await client.write('{"type":"call","id":1,"tool":"wait"}', "{", '{"type":"call","id":2,"tool":"say"}')
    await become(lambda: tools.began)
    tools.go_on.set()
    assert [(await client.reply())["id"] for _ in range(3)] == [1, None, 2]


async def test_a_client_that_sends_without_end_and_reads_nothing_is_not_read_any_more(tools: Tools) -> None:
    flood = [json.dumps({"type": "call", "id": n, "tool": "shout", "args": {"on": str(n)}}) for n in range(1_500)]
    async with speaking(partial(serve, tools)) as client:
        writing = asyncio.create_task(client.write(*flood))
        await become(lambda: len(tools.done) == MOST_CALLS)
        most = 0
        for received in range(len(flood)):
            most = max(most, len(tools.began) - received)
            assert (await client.reply())["ok"]
        await writing
    assert most in {MOST_CALLS, MOST_CALLS + 1}, "one may be written, and not yet read"


async def test_the_total_size_of_long_lines_is_bounded(tools: Tools) -> None:
    async with speaking(partial(serve, tools), most_bytes=1_000) as client:
        line = json.dumps({"type": "call", "id": 1, "tool": "wait", "args": {"text": "x" * 900}})
        await client.write(*[line] * 5)
        await become(lambda: tools.began)
        tools.go_on.set()
        assert [(await client.reply())["id"] for _ in range(5)] == [1] * 5


async def test_a_client_that_goes_with_answers_unread_is_not_waited_for(tools: Tools) -> None:
    async with speaking(partial(serve, tools)) as client:
        await client.write(*['{"type":"call","id":1,"tool":"shout"}'] * 3)
        client.stop_writing()
        await become(lambda: len(tools.done) == 3)
        assert not client.serving.done()
        client.stop_reading()
        await client.ended()


async def test_a_client_that_goes_takes_its_calls_along(tools: Tools) -> None:
    async with speaking(partial(serve, tools)) as client:
        await client.write('{"type":"call","id":1,"tool":"wait"}')
        await become(lambda: tools.began)
        client.stop_reading()
        client.stop_writing()
        await client.ended()
    assert tools.cancelled == [1]
