"""Tests clients that listen to their tasks: they are told of each change, and of nobody else's. Real service, real
gateways."""

import asyncio
import sys
import time
from collections.abc import AsyncIterator
from itertools import pairwise

import pytest
from mcp import Client, StdioServerParameters
from mcp.types import SubscriptionsListenResult
from pydantic import JsonValue

from examples.processes import ServiceProcess
from tests.support.chat import Json, environment, text
from tests.support.following import LATE, LONG, Follower, following, result_of
from tests.support.json import AnyJson
from tests.support.sdk_tasks import Tasks, listening
from tests.support.site import Site
from tests.support.waiting import PATIENCE_S

pytestmark = pytest.mark.anyio

AT_MOST_EVERY_S = 0.9
INVALID, MISSING_CAPABILITY = -32602, -32021


async def news(client: Follower, **wanted: AnyJson) -> AsyncIterator[Json]:
    """Listen, and yield the parameters of what comes, which names the listening request."""
    request_id = await client.chat.send("subscriptions/listen", {"notifications": wanted, "_meta": client.meta})
    while True:
        message = await client.chat.receive()
        assert message.get("method") in {"notifications/subscriptions/acknowledged", "notifications/tasks"}, message
        params = message["params"]
        assert isinstance(params, dict)
        assert params.pop("_meta") == {"io.modelcontextprotocol/subscriptionId": request_id}
        yield params


async def test_a_client_that_listens_is_told_of_each_change_once_a_second_at_most(
    service: ServiceProcess, site: Site
) -> None:
    async with following(service) as owner, following(service) as next_one, following(service) as last:
        await owner.call("goto", pageId="wanted", url=site.page("/", LATE))
        first_id = await next_one.begin("claim_page", pageId="wanted", waitSeconds=60)
        task_id = await last.begin("claim_page", pageId="wanted", waitSeconds=60)
        told = news(last, taskIds=[task_id, first_id, "no-such-task", "not an id"], toolsListChanged=True)
        assert await anext(told) == {"notifications": {"taskIds": [task_id], "toolsListChanged": True}}
        seen, times = [await anext(told)], [time.monotonic()]
        await owner.call("release_page", pageId="wanted")
        result_of(await next_one.ended(first_id))
        await next_one.call("release_page", pageId="wanted")
        while seen[-1]["status"] == "working":
            seen.append(await anext(told))
            times.append(time.monotonic())
        state = await last.done("tasks/get", taskId=task_id)
    assert str(seen[0]["statusMessage"]).startswith("claim_page: 2nd in the queue")
    assert seen[-1].items() <= state.items()
    assert not result_of(seen[-1])["isError"]
    assert all(later - earlier >= AT_MOST_EVERY_S for earlier, later in pairwise(times))


async def test_only_a_client_that_takes_tasks_may_listen_to_them(service: ServiceProcess) -> None:
    async with following(service, capabilities={}) as plain, following(service) as client:
        refusal = await plain.refused("subscriptions/listen", notifications={"taskIds": ["any"]})
        assert refusal["code"] == MISSING_CAPABILITY
        wrongs: list[JsonValue] = ["any", [1], ["any"] * 201]
        for wrong in wrongs:
            refusal = await client.refused("subscriptions/listen", notifications={"taskIds": wrong})
            assert refusal["code"] == INVALID


async def test_the_sdks_client_hears_how_its_task_ends(service: ServiceProcess, site: Site) -> None:
    named = {"CLAUDE_CODE_SESSION_ID": "hears"}
    env = environment(BROWSE_URL=service.url, BROWSE_DATA_DIR=str(service.data_dir), **named)
    gateway, hears = StdioServerParameters(command=sys.executable, args=["-m", "mcp_gateway"], env=env), Tasks()
    async with (
        asyncio.timeout(PATIENCE_S),
        following(service, "hears") as beginner,
        Client(gateway, mode="2026-07-28", extensions=[hears], read_timeout_seconds=50) as client,
        asyncio.TaskGroup() as group,
    ):
        await beginner.call("goto", pageId="heard", url=site.page("/", LATE))
        task_id = await beginner.begin("wait_for_selector", pageId="heard", **LONG)
        stream = group.create_task(client.session.send_request(listening(task_id), SubscriptionsListenResult))
        assert (await hears.told.get()).status == "working"
        await beginner.call("click", pageId="heard", selector="button")
        ended = await hears.told.get()
        stream.cancel()
    assert ended.status == "completed"
    assert "#late" in text(ended.result)
