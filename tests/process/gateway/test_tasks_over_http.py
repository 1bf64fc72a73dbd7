"""Tests tasks over streamable HTTP: a chat finds its task again by another connection, and no other chat does. A real
service, a real gateway that listens."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.types import RequestParamsMeta, Result, SubscriptionsListenResult
from pydantic import JsonValue

from examples.processes import ServiceProcess
from tests.support.following import LATE, LONG
from tests.support.gateways import text_of
from tests.support.listening_gateway import addresses, gateway_process
from tests.support.sdk_tasks import POLL_S, ById, CancelTask, GetTask, Tasks, TaskSeen, TaskState, listening
from tests.support.site import Site
from tests.support.waiting import PATIENCE_S

pytestmark = pytest.mark.anyio

KEY = "a-key-of-sufficiently-many-characters"
OTHER_KEY = KEY.upper()
INVALID = -32602


class HttpChat:
    """One chat of a client, as its host names it."""

    def __init__(self, client: Client, tasks: Tasks, chat_id: str) -> None:
        self.client, self.tasks = client, tasks
        self._meta = cast("RequestParamsMeta", {"threadId": chat_id} if chat_id else {})

    async def call(self, tool: str, **arguments: JsonValue) -> str:
        return text_of(await self.client.call_tool(tool, arguments, meta=self._meta))

    async def begin(self, tool: str, **arguments: JsonValue) -> str:
        task = await self.client.session.call_tool(tool, arguments, meta=self._meta, allow_claimed=True)
        assert isinstance(task, TaskSeen), task
        return task.task_id

    async def state(self, task_id: str) -> TaskState:
        return await self.client.session.send_request(GetTask(params=self._about(task_id)), TaskState)

    async def cancel(self, task_id: str) -> None:
        await self.client.session.send_request(CancelTask(params=self._about(task_id)), Result)

    async def ended(self, task_id: str) -> TaskState:
        while (state := await self.state(task_id)).status == "working":  # noqa: ASYNC110 - as clients that do not listen
            await asyncio.sleep(POLL_S)
        return state

    def _about(self, task_id: str) -> ById:
        return ById(task_id=task_id, meta=self._meta)


@pytest.fixture
async def url(service: ServiceProcess, tmp_path: Path) -> AsyncIterator[str]:
    """Run a gateway that listens for two keys."""
    keys = tmp_path / "keys"
    keys.write_text(f"{KEY}\n{OTHER_KEY}\n", encoding="ascii")
    flags = ("--transport", "http", "--port", "0", "--url", service.url, "--auth-file", str(keys))
    async with gateway_process(*flags, BROWSE_DATA_DIR=str(service.data_dir)) as process:
        (found,) = await asyncio.wait_for(addresses(process, "http"), PATIENCE_S)
        yield found


@asynccontextmanager
async def chatting(url: str, key: str = KEY, chat_id: str = "") -> AsyncIterator[HttpChat]:
    tasks = Tasks()
    async with (
        asyncio.timeout(PATIENCE_S),
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}, timeout=30, trust_env=False) as http,
        Client(streamable_http_client(url, http_client=http), mode="2026-07-28", extensions=[tasks]) as client,
    ):
        yield HttpChat(client, tasks, chat_id)


async def refused(chat: HttpChat, task_id: str) -> None:
    for asking in (chat.state, chat.cancel):
        with pytest.raises(MCPError) as caught:
            await asking(task_id)
        assert caught.value.error.code == INVALID


async def test_a_chat_finds_its_task_again_by_another_connection_and_no_other_chat_does(url: str, site: Site) -> None:
    async with chatting(url, chat_id="one") as chat:
        await chat.call("goto", pageId="http", url=site.page("/", LATE))
        task_id = await chat.begin("wait_for_selector", pageId="http", **LONG)
        assert (await chat.state(task_id)).status == "working"
    async with (
        chatting(url, chat_id="one") as again,
        chatting(url, chat_id="two") as other,
        chatting(url, OTHER_KEY, "one") as stranger,
    ):
        await refused(other, task_id)
        await refused(stranger, task_id)
        assert (await again.state(task_id)).status == "working"
        await again.call("click", pageId="http", selector="button")
        ended = await again.ended(task_id)
        await again.call("close_page", pageId="http")
    assert ended.result is not None
    assert "#late" in text_of(ended.result)


async def test_a_task_is_cancelled_by_another_connection(url: str, site: Site) -> None:
    async with chatting(url) as chat:
        await chat.call("goto", pageId="stops", url=site.page("/", LATE))
        task_id = await chat.begin("wait_for_selector", pageId="stops", **LONG)
    async with chatting(url) as again:
        await again.cancel(task_id)
        assert (await again.ended(task_id)).status == "cancelled"
        await again.call("close_page", pageId="stops")


async def test_a_client_hears_over_http_how_its_task_ends(url: str, site: Site) -> None:
    async with chatting(url) as chat, asyncio.TaskGroup() as group:
        await chat.call("goto", pageId="heard", url=site.page("/", LATE))
        task_id = await chat.begin("wait_for_selector", pageId="heard", **LONG)
        stream = group.create_task(chat.client.session.send_request(listening(task_id), SubscriptionsListenResult))
        assert (await chat.tasks.told.get()).status == "working"
        await chat.call("click", pageId="heard", selector="button")
        ended = await chat.tasks.told.get()
        stream.cancel()
        await chat.call("close_page", pageId="heard")
    assert ended.status == "completed"
