"""Trials: Node programs that talk to a gateway, with the output and exit code that they must have."""

import asyncio
import contextlib
import json
import re
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, cast

from browse_together.contract.model import Json
from conformance.gateways import Tried
from conformance.packages import FOLDER, MODULES, node

EXPECTED_FAILURES: Final = FOLDER / "expected_failures.yaml"
_WITHIN_S: Final = 120
_REVISIONS: Final = ("2025-11-25", "2026-07-28")
_ERAS: Final = ("legacy", "modern")
"""The Inspector's names for the two generations of the protocol."""
_REACHING: Final = frozenset({"BROWSE_DATA_DIR", "BROWSE_URL", "BROWSE_AUTOSTART"})
_TOTAL: Final = re.compile(r"^Total: .*", re.MULTILINE)
_COLOUR: Final = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True)
class Trial:
    name: str
    command: list[str]
    judge: Callable[[str], str] = field(default=lambda _: "")
    """Returns what is wrong with the output; empty if nothing is."""


@dataclass(frozen=True)
class Outcome:
    trial: Trial
    problem: str
    seconds: float
    output: str

    @property
    def summary(self) -> str:
        """Return the suite's own count, if the output has one."""
        found = _TOTAL.search(self.output)
        return found[0].removeprefix("Total: ") if found else ""


async def run(trial: Trial) -> Outcome:
    """Run a trial to its end, or kill it when its time is over."""
    began = time.monotonic()
    process = await asyncio.create_subprocess_exec(
        node(), *trial.command, cwd=FOLDER, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    out, err = b"", b""
    try:
        async with asyncio.timeout(_WITHIN_S):
            out, err = await process.communicate()
        code = process.returncode
        problem = f"exit code {code}" if code else trial.judge(out.decode())
    except TimeoutError:
        problem = f"not done within {_WITHIN_S} s"
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
    output = _COLOUR.sub("", (out + err).decode(errors="replace"))
    return Outcome(trial, problem, time.monotonic() - began, output)


def suites(tried: Tried) -> list[Trial]:
    """Return the conformance suites. A suite fails on an unexpected failure, and also if an expected one does not
    occur."""
    common = ["server", "--url", tried.url, "--expected-failures", str(EXPECTED_FAILURES)]
    old, new = (str(MODULES / f"conformance-of-{year}" / "dist" / "index.js") for year in (2025, 2026))
    return [
        Trial("conformance suite of 2025", [old, *common, "--suite", "active"]),
        *(
            Trial(
                f"conformance suite of 2026 at {revision}", [new, *common, "--suite", "all", "--spec-version", revision]
            )
            for revision in _REVISIONS
        ),
    ]


def clients(tried: Tried) -> list[Trial]:
    """Return the TypeScript clients, which work on pages of a real browser."""
    return [
        Trial(
            f"TypeScript client at {revision}",
            [
                str(FOLDER / "client.mjs"),
                json.dumps(
                    {
                        "revision": revision,
                        "url": tried.url,
                        "command": tried.command,
                        "args": tried.args,
                        "env": dict(tried.env),
                    }
                ),
            ],
        )
        for revision in _REVISIONS
    ]


def inspections(tried: Tried) -> list[Trial]:
    """Return calls of the Inspector's command line, each to its own gateway on stdio, which lists all tools."""
    program = MODULES / "@modelcontextprotocol" / "inspector" / "clients" / "launcher" / "build" / "index.js"
    env = {name: value for name, value in tried.env.items() if name in {"PYTHONPATH", *_REACHING}}
    settings = [
        word for name, value in (env | {"BROWSE_TOOLSETS": "all"}).items() for word in ("-e", f"{name}={value}")
    ]
    gateway = ["--", tried.command, *tried.args]
    return [
        Trial(
            f"Inspector, {era}: {' '.join(asked)}",
            [str(program), "--cli", *settings, "--protocol-era", era, "--method", *asked, *gateway],
            judge,
        )
        for asked, judge in _INSPECTED.items()
        for era in _ERAS
    ]


def _has(key: str, wanted: str) -> Callable[[str], str]:
    """Return a judge of a JSON output, which must have a list under this key, with this text in it."""

    def judge(output: str) -> str:
        try:
            found = cast("Json", json.loads(output)).get(key)  # the program prints an object
        except ValueError:
            return "it printed no JSON"
        if not isinstance(found, list) or not found:
            return f"it has no {key}"
        return "" if wanted in json.dumps(found) else f"its {key} lack {wanted!r}"

    return judge


_INSPECTED: Final = {
    ("tools/list", "--strict"): _has("tools", "handle_dialog"),
    ("resources/list",): _has("resources", "pages://"),
    ("prompts/list",): _has("prompts", "fill_form"),
    ("tools/call", "--tool-name", "help", "--tool-arg", "name=click"): _has("content", "selector"),
    ("resources/read", "--uri", "pages://"): _has("contents", "yours"),
}
