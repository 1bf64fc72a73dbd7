"""Measures how soon a chat's server answers, and how much memory it takes.

Compares `python -m mcp_gateway`, without and with a running service at its address, with `node cli.js --headless` of
@playwright/mcp, which has not started a browser yet at that point. Each round starts all three, one after another.
Units: milliseconds from the process's start to its answer, at the median; MB of proportional memory (PSS).
Targets: `initialize` and `tools/list` answered no later than by the peer.

Our gateway answers these two before it is fully imported. So each server also gets a call of an unknown tool, which
only a complete server can refuse. Its time is for information, and memory is measured after it.
"""

import json
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import AsyncExitStack, closing
from statistics import median
from typing import IO, Final

import psutil

from benchmarks import peer
from benchmarks.figures import Figure, Report, Target
from benchmarks.processes import CLIENT, PROTOCOL, ROOT, Failed, children, environment, service
from tests.support.json import AnyJson

NO_LATER: Final = Target(1.0)
GATEWAY: Final = [sys.executable, "-m", "mcp_gateway"]

_HELLO: Final = {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": CLIENT}
_ASKED: Final[list[tuple[str, dict[str, AnyJson]]]] = [
    ("initialize", _HELLO),
    ("tools/list", {}),
    ("tools/call", {"name": "no_such_tool", "arguments": {}}),
]
_SHOWN: Final = {"tools/call": "first call refused"}
_MEMORY: Final = "memory, complete"
_LEAST_ROUNDS: Final = 2
_ANSWERS_WITHIN_S: Final = 30
_ENDS_WITHIN_S: Final = 10
_MB = 1024 * 1024

Variant = tuple[list[str], dict[str, str]]
"""A command and its environment."""
Start = dict[str, float]
"""The milliseconds until the answer to each request, and the MB."""


async def run(*, quick: bool) -> Report:
    rounds, within_s = (3, 8) if quick else (12, 45)
    node = peer.command()
    async with AsyncExitStack() as stack:
        data = stack.enter_context(tempfile.TemporaryDirectory(prefix="browse-together-bench-"))
        url = f"http://127.0.0.1:{stack.enter_context(closing(_nobody_home())).getsockname()[1]}"
        alone = environment(BROWSE_URL=url, BROWSE_AUTOSTART="false", BROWSE_DATA_DIR=data)
        served = await stack.enter_async_context(service())
        variants = {
            "alone": (GATEWAY, alone),
            "with a service": (GATEWAY, served.gateway_settings("bench-startup")),
            "peer": (node, environment()),
        }
        seen = _starts(variants, rounds, within_s)
    return Report("startup", f"{peer.NAME} {peer.VERSION}", _figures(seen), _notes(seen))


def _starts(variants: dict[str, Variant], rounds: int, within_s: float) -> dict[str, list[Start]]:
    """Run `rounds` rounds, or as many as there is time for; at least two, after one that fills the disk cache."""
    seen: dict[str, list[Start]] = {name: [] for name in variants}
    give_up_at = time.monotonic() + within_s
    for number in range(rounds + 1):
        if number > _LEAST_ROUNDS and time.monotonic() > give_up_at:
            break
        for name, (command, env) in variants.items():
            start = _start(command, env)
            seen[name] += [start] if number else []
    return seen


def _nobody_home() -> socket.socket:
    """Bind a port that refuses connections."""
    taken = socket.socket()
    taken.bind(("127.0.0.1", 0))
    return taken


def _figures(seen: dict[str, list[Start]]) -> list[Figure]:
    found = []
    for variant in ("alone", "with a service"):
        for what in seen[variant][0]:
            ours, theirs = (median(start[what] for start in seen[side]) for side in (variant, "peer"))
            target = NO_LATER if what in {"initialize", "tools/list"} else None
            unit = "MB" if what == _MEMORY else "ms"
            found.append(Figure(f"{_SHOWN.get(what, what)}, {variant}", ours, theirs, unit, "ratio", target))
    return found


def _notes(seen: dict[str, list[Start]]) -> list[str]:
    return [
        f"{name}: {len(starts)} starts; soonest "
        + ", ".join(f"{_SHOWN.get(what, what)} {min(s[what] for s in starts):.0f} ms" for what, _ in _ASKED)
        for name, starts in seen.items()
    ]


def _start(command: list[str], env: dict[str, str]) -> Start:
    """Run one process from its start to its end."""
    began = time.perf_counter()
    process = subprocess.Popen(
        command, env=env, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    too_long = threading.Timer(_ANSWERS_WITHIN_S, process.kill)
    too_long.start()
    try:
        return {**_answers(process, began), _MEMORY: _memory(process.pid)}
    finally:
        too_long.cancel()
        _end(process)


def _answers(process: subprocess.Popen[bytes], began: float) -> Start:
    if process.stdin is None or process.stdout is None:
        raise Failed("the server has no pipes")
    found: Start = {}
    for number, (method, params) in enumerate(_ASKED):
        _tell(process.stdin, {"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        _await_answer(process.stdout, number)
        found[method] = (time.perf_counter() - began) * 1000
        if method == "initialize":
            _tell(process.stdin, {"jsonrpc": "2.0", "method": "notifications/initialized"})
    return found


def _tell(pipe: IO[bytes], message: dict[str, AnyJson]) -> None:
    pipe.write(json.dumps(message).encode() + b"\n")
    pipe.flush()


def _await_answer(pipe: IO[bytes], number: int) -> None:
    while line := pipe.readline():
        if json.loads(line).get("id") == number:
            return
    raise Failed(f"the server ended before it answered {_ASKED[number][0]}")


def _memory(pid: int) -> float:
    """Return the memory of the process and its children; where the system knows no proportional share, only their
    own."""
    found = 0.0
    for process in [psutil.Process(pid), *children(pid)]:
        info = process.memory_full_info()
        found += getattr(info, "pss", info.uss)
    return found / _MB


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process as a client does: close stdin, and wait."""
    family = children(process.pid)
    try:
        process.communicate(timeout=_ENDS_WITHIN_S)
    except subprocess.TimeoutExpired:
        for left in family:
            left.kill()
        process.kill()
        process.communicate()
