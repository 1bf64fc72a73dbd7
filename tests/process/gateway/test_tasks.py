"""Tests clients that take tasks: their long calls are followed, answered and stopped by id, across gateways. Real
service, real gateways."""

import asyncio
import sys
import threading
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from mcp import Client, StdioServerParameters

from examples.processes import ServiceProcess
from examples.processes import service as running_service
from mcp_gateway.tasks import EXTENSION
from tests.support.chat import Json, environment, text
from tests.support.following import DECISION, LATE, LONG, TAKES, Follower, following, result_of
from tests.support.gateways import environment as service_environment
from tests.support.gateways import service_process, text_of
from tests.support.sdk_tasks import Tasks
from tests.support.site import Answer, Site
from tests.support.waiting import PATIENCE_S

pytestmark = pytest.mark.anyio

ASKS: Json = {**TAKES, "elicitation": {"form": {}}}
INVALID, MISSING_CAPABILITY = -32602, -32021


async def test_a_long_wait_is_a_task_and_a_short_one_is_none(service: ServiceProcess, site: Site) -> None:
    url = site.page("/", LATE)
    async with following(service) as client:
        discovered = await client.done("server/discover")
        assert discovered["capabilities"]["extensions"] == {EXTENSION: {}}  # type: ignore[index,call-overload] # of this method
        await client.call("goto", pageId="waits", url=url)
        soon = await client.call("wait_for_selector", pageId="waits", selector="h1")
        assert soon["resultType"] == "complete"
        task_id = await client.begin("wait_for_selector", pageId="waits", **LONG)
        working = await client.done("tasks/get", taskId=task_id)
        assert str(working["statusMessage"]).startswith("wait_for_selector: running")
        assert (await client.call("click", pageId="waits", selector="button"))["resultType"] == "complete"
        result = result_of(await client.ended(task_id))
    assert not result["isError"]
    assert text(result).splitlines()[0] == text(soon).splitlines()[0].replace("h1", "#late")
    assert "[page waits · " in text(result)


async def test_a_task_that_fails_ends_with_the_error_of_its_tool(service: ServiceProcess, site: Site) -> None:
    async with following(service) as client:
        await client.call("goto", pageId="fails", url=site.page("/", LATE))
        task_id = await client.begin("wait_for_selector", pageId="fails", selector="#late", timeout=2_000)
        result = result_of(await client.ended(task_id))
    assert result["isError"]
    assert "not found after 2000ms" in text(result)


async def test_a_cancelled_task_ends(service: ServiceProcess, site: Site) -> None:
    async with following(service) as client:
        await client.call("goto", pageId="stops", url=site.page("/", LATE))
        task_id = await client.begin("wait_for_selector", pageId="stops", **LONG)
        assert (await client.done("tasks/cancel", taskId=task_id))["resultType"] == "complete"
        assert (await client.ended(task_id))["status"] == "cancelled"
        assert (await client.done("tasks/cancel", taskId=task_id))["resultType"] == "complete"


async def test_a_claim_tells_its_place_in_line_until_the_page_is_free(service: ServiceProcess, site: Site) -> None:
    async with following(service) as owner, following(service) as heir:
        await owner.call("goto", pageId="wanted", url=site.page("/", LATE))
        task_id = await heir.begin("claim_page", pageId="wanted", waitSeconds=60)
        working = await heir.done("tasks/get", taskId=task_id)
        assert str(working["statusMessage"]).startswith("claim_page: 1st in the queue"), working
        await owner.call("release_page", pageId="wanted")
        assert not result_of(await heir.ended(task_id))["isError"]


async def begun(client: Follower, site: Site, name: str, comes: threading.Event) -> str:
    """Save a flow, and begin it where its page is waited for. Returns its task."""
    listed = "<button onclick=\"document.body.append('Done')\">Go</button>"
    await client.call("goto", pageId=name, url=site.page(f"/{name}", listed))
    await client.call("click", pageId=name, selector="role=button[name=Go]")
    assert not (await client.call("save_flow", pageId=name, name=name))["isError"]
    site.page(f"/{name}", Answer(listed, hold=comes))
    return await client.begin("run_flow", name=name)


async def test_a_flow_is_followed_to_its_end(service: ServiceProcess, site: Site) -> None:
    comes = threading.Event()
    async with following(service) as client:
        task_id = await begun(client, site, "going", comes)
        comes.set()
        assert not result_of(await client.ended(task_id))["isError"]


async def test_a_cancelled_flow_does_not_wait_for_the_step_that_it_is_at(service: ServiceProcess, site: Site) -> None:
    comes = threading.Event()
    async with following(service) as client:
        task_id = await begun(client, site, "held", comes)
        await client.done("tasks/cancel", taskId=task_id)
        said = text(result_of(await client.ended(task_id)))
        comes.set()
    assert said.startswith("FLOW_STOPPED: Flow held stopped at step 1 of 2, goto"), said
    assert "was cancelled" in said, said


async def test_a_download_is_followed_until_its_file_is_here(service: ServiceProcess, site: Site) -> None:
    release, attached = threading.Event(), {"Content-Disposition": "attachment; filename=slow.bin"}
    site.page("/slow.bin", Answer(b"x" * 4_000, content_type="application/x-slow", headers=attached, pause=release))
    async with following(service) as client:
        await client.call("goto", pageId="loads", url=site.page("/", '<a href="/slow.bin">Slow</a>'))
        assert "'slow.bin' began" in text(await client.call("click", pageId="loads", selector="text=Slow"))
        task_id = await client.begin("list_downloads", wait=60_000)
        release.set()
        listed = text(result_of(await client.ended(task_id)))
    assert '"state":"finished"' in listed, listed


async def asked_for(client: Follower, task_id: str) -> tuple[str, Json]:
    """Return the question that a task waits for, and its key."""
    asked = (await client.until(task_id, lambda task: task["status"] == "input_required"))["inputRequests"]
    assert isinstance(asked, dict)
    ((key, question),) = asked.items()
    assert isinstance(question, dict)
    return key, question


async def test_the_person_in_the_chat_answers_a_task(service: ServiceProcess, site: Site) -> None:
    async with following(service, capabilities=ASKS) as client:
        await client.call("goto", pageId="asks", url=site.page("/", LATE))
        task_id = await client.begin("request_human", pageId="asks", **DECISION)
        key, question = await asked_for(client, task_id)
        assert question["method"] == "elicitation/create"
        assert "Red or blue?" in str(question["params"])
        wrong: Json = {key: {"action": "accept", "content": {"answer": "green"}}, "other": {"action": "decline"}}
        refusal = await client.refused("tasks/update", taskId=task_id, inputResponses=wrong)
        assert refusal["code"] == INVALID
        assert "one of: red, blue" in refusal["message"]
        assert await asked_for(client, task_id) == (key, question)
        right: Json = {key: {"action": "accept", "content": {"answer": "blue"}}}
        assert (await client.done("tasks/update", taskId=task_id, inputResponses=right))["resultType"] == "complete"
        said = text(result_of(await client.ended(task_id)))
    assert "decided. It says: blue" in said


async def test_a_task_outlives_the_gateway_that_gave_it(service: ServiceProcess, site: Site) -> None:
    async with following(service, "killed", ASKS) as client:
        await client.call("goto", pageId="lives", url=site.page("/", LATE))
        task_id = await client.begin("request_human", pageId="lives", **DECISION)
        client.chat.process.kill()
        await asyncio.wait_for(client.chat.process.wait(), PATIENCE_S)
    async with following(service, "killed", ASKS) as client, following(service, "another") as other:
        key, _ = await asked_for(client, task_id)
        for method in ("tasks/get", "tasks/cancel"):
            assert (await other.refused(method, taskId=task_id))["code"] == INVALID
        answer: Json = {key: {"action": "accept", "content": {"answer": "red"}}}
        await client.done("tasks/update", taskId=task_id, inputResponses=answer)
        assert "It says: red" in text(result_of(await client.ended(task_id)))


async def test_a_task_whose_service_is_killed_ends_with_what_its_gateway_knows(tmp_path: Path, site: Site) -> None:
    """What may be repeated is, once the service is back; nothing else says that there never was a task."""
    comes, data = threading.Event(), tmp_path / "data"
    async with service_process(data) as first, following(first, "same") as client:
        flow = await begun(client, site, "cut", comes)
        tasks = {}
        for name in ("again", "over"):
            await client.call("goto", pageId=name, url=site.page("/", LATE))
            tasks[name] = await client.begin("wait_for_selector", pageId=name, **LONG)
        first.process.kill()
        await asyncio.wait_for(first.process.wait(), PATIENCE_S)
        for task_id in (flow, *tasks.values()):
            state = await client.done("tasks/get", taskId=task_id)
            assert (state["status"], "waiting for the service" in str(state["statusMessage"])) == ("working", True)
        await client.done("tasks/cancel", taskId=tasks["over"])
        assert (await client.ended(tasks["over"]))["status"] == "cancelled"
        comes.set()
        async with running_service(data, service_environment(data), urlsplit(first.url).port or 0) as second:
            assert text(result_of(await client.ended(flow))).startswith("UNKNOWN_OUTCOME: run_flow was sent before")
            again = await client.until(tasks["again"], lambda task: "running" in str(task["statusMessage"]))
            assert again["status"] == "working"
            async with following(second, "same") as other:
                refusal = await other.refused("tasks/get", taskId=flow)
    assert refusal["code"] == INVALID
    assert "was started anew" in refusal["message"]


async def test_a_wait_goes_on_while_its_chat_has_no_gateway(service: ServiceProcess, site: Site) -> None:
    async with following(service, "away") as client:
        await client.call("goto", pageId="waited", url=site.page("/", LATE))
        task_id = await client.begin("wait_for_selector", pageId="waited", **LONG)
        client.chat.process.kill()
        await asyncio.wait_for(client.chat.process.wait(), PATIENCE_S)
    async with following(service, "another", {}) as other:  # the page is free once the chat counts as gone
        assert not (await other.call("claim_page", pageId="waited", waitSeconds=30))["isError"]
        assert not (await other.call("click", pageId="waited", selector="button"))["isError"]
    async with following(service, "away") as client:
        assert "#late" in text(result_of(await client.ended(task_id)))


async def test_a_client_that_takes_no_tasks_gets_none(service: ServiceProcess, site: Site) -> None:
    waits: Json = {"selector": "#late", "timeout": 2_000}
    async with following(service, capabilities={"elicitation": {}}) as client, following(service) as older:
        await client.call("goto", pageId="plain", url=site.page("/", LATE))
        assert (await client.call("wait_for_selector", pageId="plain", **waits))["resultType"] == "complete"
        assert (await client.refused("tasks/get", taskId="any"))["code"] == MISSING_CAPABILITY
        await older.chat.initialize()
        assert (await older.chat.call("wait", pageId="plain", duration=1_500))["content"]


async def test_the_sdks_client_with_the_extension_calls_as_ever(service: ServiceProcess, site: Site) -> None:
    env = environment(BROWSE_URL=service.url, BROWSE_DATA_DIR=str(service.data_dir))
    gateway = StdioServerParameters(command=sys.executable, args=["-m", "mcp_gateway"], env=env)
    async with (
        asyncio.timeout(PATIENCE_S),
        Client(gateway, mode="2026-07-28", extensions=[Tasks()], read_timeout_seconds=50) as client,
    ):
        await client.call_tool("goto", {"pageId": "sdk", "url": site.page("/", LATE)})
        waiting = asyncio.create_task(client.call_tool("wait_for_selector", {"pageId": "sdk", **LONG}))
        await client.call_tool("wait", {"pageId": "sdk", "duration": 1_500})
        await client.call_tool("click", {"pageId": "sdk", "selector": "button"})
        assert "#late" in text_of(await waiting)
