"""Tests that the simulated house says literally what its protocol's document shows."""

import json
from collections.abc import AsyncIterator
from functools import partial

import pytest

from browse_together.contract.json_lines import messages
from browse_together.contract.json_lines.lines import Lines
from browse_together.contract.json_lines.server import Server
from mcp_home_simulator.state import HomeState
from mcp_home_simulator.tools import HomeTools, listed
from tests.support.json_lines import Speaker, speaking

pytestmark = pytest.mark.anyio

GET_PRESENCE = '{"type":"call","id":9,"tool":"get_presence","args":{}}'
NOT_JSON = "Error al parsear JSON: Expecting value: line 1 column 1 (char 0)"
ALL_BUT_ONE_OFF = (
    '{"lights":{"salon":true,"cocina":false,"dormitorio":false,"bano":false,"garage":false},"alarm":false,'
    '"presence":{"present":false,"known_people":[]}}'
)
SESSION = [
    (
        '{"type":"call","id":1,"tool":"set_light_state","args":{"name":"salon","on":true}}',
        '{"type":"result","id":1,"ok":true,"result":{"ok":true}}',
    ),
    (
        '{"type":"call","id":2,"tool":"get_all_states","args":{}}',
        f'{{"type":"result","id":2,"ok":true,"result":{ALL_BUT_ONE_OFF}}}',
    ),
    (
        '{"type":"call","id":3,"tool":"set_light_state","args":{"name":"inexistente","on":true}}',
        '{"type":"error","id":3,"ok":false,"error":"Luz \'inexistente\' no encontrada"}',
    ),
]


async def serve(home: HomeState, lines: Lines) -> None:
    lines.write(messages.ready(listed()))
    await Server(lines, HomeTools(home).run).serve()


def lived_in() -> HomeState:
    """Return the house of the document's outputs."""
    home = HomeState()
    home.set_presence(present=True)
    home.set_alarm_state(armed=True)
    home.set_light_state("salon", on=True)
    return home


@pytest.fixture
async def client() -> AsyncIterator[Speaker]:
    async with speaking(partial(serve, HomeState())) as speaker:
        await speaker.line()
        yield speaker


async def test_the_simulator_says_ready_before_any_call() -> None:
    async with speaking(partial(serve, HomeState())) as client:
        line = await client.line()
    assert line.startswith(
        '{"type":"ready","version":"0.1.0","tools":[{"name":"get_presence","description":"Obtiene el estado del '
        'detector de presencia","input_schema":{"type":"object","properties":{},"required":[]},"output_schema":'
        '{"type":"object","properties":{"present":{"type":"boolean"},"known_people":{"type":"array","items":'
        '{"type":"string"}}}}},'
    )
    tools = json.loads(line)["tools"]
    names = ["get_presence", "get_alarm_status", "list_lights_on", "set_light_state", "set_alarm_state"]
    assert [tool["name"] for tool in tools] == [*names, "get_all_states"]
    assert tools[3]["input_schema"]["required"] == ["name", "on"]
    assert all([*tool] == ["name", "description", "input_schema", "output_schema"] for tool in tools)


async def test_the_documents_session_gets_the_answers_that_it_shows(client: Speaker) -> None:
    for said, answer in SESSION:
        assert await client.ask(said) == answer


async def test_a_session_that_is_piped_in_whole_is_answered_in_order_before_the_end(client: Speaker) -> None:
    await client.write(*(said for said, _ in SESSION))
    client.stop_writing()
    assert [await client.line() for _ in SESSION] == [answer for _, answer in SESSION]
    assert await client.line() == ""
    await client.ended()


@pytest.mark.parametrize(
    ("tool", "args", "result"),
    [
        ("get_presence", "{}", '{"present":true,"known_people":["Carlos","Ana"]}'),
        ("get_alarm_status", "{}", '{"armed":true}'),
        ("list_lights_on", "{}", '{"on":["salon","cocina"]}'),
        ("set_light_state", '{"name":"salon","on":true}', '{"ok":true}'),
        ("set_alarm_state", '{"armed":true}', '{"ok":true}'),
    ],
)
async def test_each_tool_answers_as_the_document_has_it(tool: str, args: str, result: str) -> None:
    home = lived_in()
    home.set_light_state("cocina", on=True)
    async with speaking(partial(serve, home)) as client:
        await client.line()
        answer = await client.ask(f'{{"type":"call","id":"a-1","tool":"{tool}","args":{args}}}')
    assert answer == f'{{"type":"result","id":"a-1","ok":true,"result":{result}}}'


async def test_all_states_are_as_the_document_has_them() -> None:
    home = lived_in()
    home.set_light_state("garage", on=True)
    async with speaking(partial(serve, home)) as client:
        await client.line()
        answer = await client.ask('{"type":"call","id":1,"tool":"get_all_states"}')
    assert answer == (
        '{"type":"result","id":1,"ok":true,"result":{"lights":{"salon":true,"cocina":false,"dormitorio":false,'
        '"bano":false,"garage":true},"alarm":true,"presence":{"present":true,"known_people":["Carlos","Ana"]}}}'
    )


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        (
            '{"type":"call","id":1,"tool":"tool_inexistente","args":{}}',
            '{"type":"error","id":1,"ok":false,"error":"Tool \'tool_inexistente\' no encontrada"}',
        ),
        (
            '{"type":"call","id":2,"tool":"set_light_state","args":{"name":"dormitorio2","on":true}}',
            '{"type":"error","id":2,"ok":false,"error":"Luz \'dormitorio2\' no encontrada"}',
        ),
        (
            "esto no es JSON",
            f'{{"type":"error","id":null,"ok":false,"error":"{NOT_JSON}"}}',
        ),
        (
            '{"type":"call","id":3,"tool":"set_light_state","args":{}}',
            '{"type":"error","id":3,"ok":false,"error":"Faltan parámetros requeridos: name, on"}',
        ),
        (
            '{"type":"call","id":4,"tool":"set_light_state"}',
            '{"type":"error","id":4,"ok":false,"error":"Faltan parámetros requeridos: name, on"}',
        ),
        (
            '{"type":"call","id":5,"tool":"set_alarm_state","args":{"armed":"no"}}',
            '{"type":"error","id":5,"ok":false,"error":"Parámetro \'armed\' no válido: se esperaba boolean"}',
        ),
    ],
)
async def test_an_error_is_worded_as_the_document_has_it(client: Speaker, line: str, answer: str) -> None:
    assert await client.ask(line) == answer
    assert await client.ask(GET_PRESENCE) == (
        '{"type":"result","id":9,"ok":true,"result":{"present":false,"known_people":[]}}'
    )


async def test_quit_ends_it_after_the_calls_before(client: Speaker) -> None:
    await client.write(GET_PRESENCE, '{"type":"quit"}', GET_PRESENCE)
    assert (await client.reply())["id"] == 9
    await client.ended()
