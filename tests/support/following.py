"""Follows tasks as a client of the newest revision does, by raw lines to a gateway."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from pydantic import JsonValue

from examples.processes import ServiceProcess
from mcp_gateway.tasks import EXTENSION
from tests.support.chat import CLIENT, Chat, Json, chatting, environment
from tests.support.json import AnyJson
from tests.support.waiting import PATIENCE_S

LATE = "<h1>Here</h1><button onclick=\"document.body.append(document.getElementById('t').content)\">Go</button>"
LATE += "<template id=t><p id=late>Late</p></template>"
LONG: Json = {"selector": "#late", "timeout": 60_000}
DECISION: Json = {"kind": "decision", "message": "Red or blue?", "choices": ["red", "blue"]}
TAKES: Json = {"extensions": {EXTENSION: {}}}


class Follower:
    """A client of the newest revision, which says of each request what it takes."""

    def __init__(self, chat: Chat, capabilities: Json) -> None:
        self.chat = chat
        self.meta: Json = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": capabilities,
            "io.modelcontextprotocol/clientInfo": CLIENT,
        }

    async def ask(self, method: str, **params: JsonValue) -> Json:
        return await self.chat.ask(method, {**params, "_meta": self.meta})

    async def done(self, method: str, **params: JsonValue) -> Json:
        result = (reply := await self.ask(method, **params)).get("result")
        assert isinstance(result, dict), reply
        return result

    async def call(self, tool: str, **arguments: JsonValue) -> Json:
        return await self.done("tools/call", name=tool, arguments=arguments)

    async def begin(self, tool: str, **arguments: JsonValue) -> str:
        """Begin a call that becomes a task. Returns its id."""
        task = await self.call(tool, **arguments)
        assert (task["resultType"], task["status"], task["ttlMs"]) == ("task", "working", None), task
        return str(task["taskId"])

    async def until(self, task_id: str, fits: Callable[[Json], bool]) -> Json:
        """Follow a task until it fits."""
        async with asyncio.timeout(PATIENCE_S):
            while not fits(task := await self.done("tasks/get", taskId=task_id)):
                assert (task["resultType"], task["taskId"]) == ("complete", task_id)
        return task

    async def ended(self, task_id: str) -> Json:
        return await self.until(task_id, lambda task: task["status"] not in {"working", "input_required"})

    async def refused(self, method: str, **params: JsonValue) -> AnyJson:
        return (await self.ask(method, **params))["error"]


@asynccontextmanager
async def following(service: ServiceProcess, chat_id: str = "", capabilities: Json = TAKES) -> AsyncIterator[Follower]:
    """Start a gateway for a client with these capabilities."""
    named = {"CLAUDE_CODE_SESSION_ID": chat_id} if chat_id else {}
    env = environment(BROWSE_URL=service.url, BROWSE_DATA_DIR=str(service.data_dir), **named)
    async with chatting(env) as chat:
        yield Follower(chat, capabilities)


def result_of(task: Json) -> Json:
    assert task["status"] == "completed", task
    assert isinstance(task["ttlMs"], int)
    result = task["result"]
    assert isinstance(result, dict)
    return result
