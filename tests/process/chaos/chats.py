"""Runs a chat on its own gateway process, which has many calls in flight and can be killed at any moment."""

import asyncio
import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import psutil

from tests.support.json import AnyJson

NO_REPLY: Final = "NO_REPLY"
"""Code of a call whose gateway was killed."""
_PROTOCOLS: Final = {"No browser instance found. Call browser_launch first.": "PAGE_REQUIRED"}
"""The error codes for which errors of the protocol stand."""
_READY_WITHIN_S: Final = 60
_ENDS_WITHIN_S: Final = 30
_LONGEST_LINE: Final = 32 * 1024 * 1024


@dataclass(frozen=True)
class Answer:
    code: str
    """The error's code, or `ok`."""
    text: str
    """The text that a model gets."""
    result: dict[str, AnyJson] = field(default_factory=dict)

    @property
    def came_to(self) -> str:
        """Return the reply's code, or "begun" for an act whose request was sent and not yet answered."""
        return "begun" if self.code == "ok" and "no answer yet" in self.text else self.code


@dataclass(eq=False)
class Sent:
    """A running call."""

    action: str
    answer: "asyncio.Future[Answer]"


class Chat:
    """One client through the lives of all its gateways."""

    def __init__(self, name: str, env: dict[str, str], log: Path) -> None:
        self.name = name
        self._env = {**env, "BROWSE_CLIENT_ID": f"chaos-{name}", "BROWSE_STRUCTURED": "true"}
        self._log = log
        self._process: asyncio.subprocess.Process | None = None
        self._reading: asyncio.Task[None] | None = None
        self._sent: dict[int, Sent] = {}
        self._last_id = 0

    @property
    def process(self) -> psutil.Process:
        assert self._process is not None
        return psutil.Process(self._process.pid)

    @property
    def in_flight(self) -> set[str]:
        return {sent.action for sent in self._sent.values()}

    async def start(self) -> None:
        with self._log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "mcp_gateway"),
                env=self._env,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                limit=_LONGEST_LINE,
            )
        self._reading = asyncio.create_task(self._read(self._process))
        hello = {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": self.name, "version": "1"},
        }
        async with asyncio.timeout(_READY_WITHIN_S):
            await self._ask("initialize", "initialize", hello).answer
        self._write({"method": "notifications/initialized"})

    async def ended(self) -> None:
        """Let go of a gateway that was killed: what was in flight has no reply."""
        assert self._process is not None
        assert self._reading is not None
        async with asyncio.timeout(_ENDS_WITHIN_S):
            await self._process.wait()
            await self._reading

    async def close(self) -> None:
        """End the chat as its client does."""
        if self._process is None or self._process.stdin is None:
            return
        if self._process.returncode is None:
            self._process.stdin.close()
        await self.ended()

    def send(self, action: str, **arguments: AnyJson) -> Sent:
        return self._ask(action, "tools/call", {"name": action, "arguments": arguments})

    async def call(self, action: str, within_s: float = 60, **arguments: AnyJson) -> Answer:
        async with asyncio.timeout(within_s):
            return await self.send(action, **arguments).answer

    async def do(self, action: str, **arguments: AnyJson) -> dict[str, AnyJson]:
        """Return the result of a call that must succeed."""
        answer = await self.call(action, **arguments)
        assert answer.code == "ok", f"{self.name}: {action} {arguments}: {answer.text}"
        return answer.result

    def _ask(self, action: str, method: str, params: dict[str, AnyJson]) -> Sent:
        self._last_id += 1
        sent = self._sent[self._last_id] = Sent(action, asyncio.get_running_loop().create_future())
        self._write({"id": self._last_id, "method": method, "params": params})
        return sent

    def _write(self, message: dict[str, AnyJson]) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        while line := await process.stdout.readline():
            message = json.loads(line)
            if (sent := self._sent.pop(message.get("id", 0), None)) is not None:
                sent.answer.set_result(_answer(message))
        for sent in self._sent.values():
            sent.answer.set_result(Answer(NO_REPLY, "its gateway ended"))
        self._sent.clear()


def _answer(message: dict[str, AnyJson]) -> Answer:
    if error := message.get("error"):
        code = (error.get("data") or {}).get("code") or _PROTOCOLS.get(error["message"], error["message"])
        return Answer(str(code), json.dumps(error))
    result = message["result"]
    envelope = result.get("structuredContent") or {}
    text = "\n".join(block.get("text", "") for block in result.get("content", []))
    if result.get("isError"):
        return Answer(envelope["error"]["code"] if "error" in envelope else text.partition(":")[0], text)
    return Answer("ok", text, envelope.get("result") or {})
