"""Tests the programs that speak JSON lines, as processes: what their stdout carries, and how they end."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.chat import ROOT, environment
from tests.support.tab import closed_port

WITHIN_S = 30
BROKEN = "'utf-8' codec can't decode byte 0xff in position 63: invalid start byte"
SESSION = """\
{"type":"call","id":1,"tool":"set_light_state","args":{"name":"salon","on":true}}
{"type":"call","id":2,"tool":"set_light_state","args":{"name":"inexistente","on":true}}
{"type":"call","id":3,"tool":"set_light_state","args":{"name":"\xff"}}
{"type":"quit"}
"""


def said_by(module: str, *flags: str, to: bytes, **env: str) -> tuple[list[str], str]:
    """Return what a program writes to stdout and stderr until it ends."""
    done = subprocess.run(
        [sys.executable, "-m", module, *flags],
        cwd=ROOT,
        env=environment(**env),
        input=to,
        capture_output=True,
        timeout=WITHIN_S,
        check=True,
    )
    return done.stdout.decode().splitlines(), done.stderr.decode()


@pytest.mark.parametrize(
    ("module", "flags"),
    [("mcp_home_simulator", ()), ("mcp_home_simulator", ("--mcp",)), ("examples.smart_home", ("--mcp",))],
)
def test_the_house_answers_a_session_and_ends(module: str, flags: tuple[str, ...]) -> None:
    (ready, *replies), said = said_by(module, *flags, to=SESSION.encode("latin-1"))
    assert ready.startswith('{"type":"ready","version":"0.1.0","tools":[{"name":"get_presence",')
    assert sorted(replies)[::-1] == [
        '{"type":"result","id":1,"ok":true,"result":{"ok":true}}',
        f'{{"type":"error","id":null,"ok":false,"error":"Error al parsear JSON: {BROKEN}"}}',
        '{"type":"error","id":2,"ok":false,"error":"Luz \'inexistente\' no encontrada"}',
    ]
    assert said == ""


def test_a_gateway_is_ready_before_it_looks_for_the_service_and_says_so_if_there_is_none(tmp_path: Path) -> None:
    call = b'{"type":"call","id":1,"tool":"list_pages"}\n'
    env = {"BROWSE_DATA_DIR": str(tmp_path), "PORT": str(closed_port())}
    (ready, reply), _ = said_by("mcp_gateway", "--transport", "jsonl", to=call, **env)
    announced = json.loads(ready)
    assert (announced["type"], announced["version"]) == ("ready", "0.1.0")
    assert "goto" in {tool["name"] for tool in announced["tools"]}
    assert json.loads(reply)["error"].startswith("SERVICE_UNAVAILABLE: ")
