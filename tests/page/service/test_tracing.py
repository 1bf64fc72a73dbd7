"""Tests traces: what is in the file, and whose pages are never in it."""

import asyncio
import io
import json
import secrets
import zipfile
from collections.abc import Awaitable

import pytest

from browse_together.contract import wire
from browser_service.host.background import bounded
from browser_service.host.record import traces
from browser_service.host.sessions import windows
from tests.support.json import AnyJson
from tests.support.listening import sent
from tests.support.service import Agent, RunningService
from tests.support.site import Answer, Site
from tests.support.waiting import become

pytestmark = [pytest.mark.anyio, pytest.mark.thorough]


@pytest.fixture
async def own(agent: Agent, site: Site) -> str:
    """Make a session of the agent's own, with a page in it."""
    session_id = (await agent.call("create_session"))["sessionId"]
    site.page("/shop", "<title>Shop</title><button onclick=\"this.textContent = 'bought'\">Buy</button>")
    await agent.call("goto", pageId="mine", sessionId=session_id, url=site.url("/shop"))
    return str(session_id)


async def _file(agent: Agent, result: dict[str, AnyJson]) -> zipfile.ZipFile:
    got = await agent.http.get(result["artifact"]["url"])
    assert (got.status_code, got.headers["content-type"]) == (200, "application/zip")
    return zipfile.ZipFile(io.BytesIO(got.content))


def _events(trace: zipfile.ZipFile, name: str = "trace.trace") -> list[dict[str, AnyJson]]:
    return [json.loads(line) for line in trace.read(name).decode().splitlines()]


async def test_a_trace_has_what_the_viewer_shows_steps_pictures_documents_and_requests(
    agent: Agent, own: str, site: Site
) -> None:
    began = await agent.call("start_tracing", sessionId=own, title="A purchase")
    assert "is being traced" in began["observed"]
    await agent.call("reload_page", pageId="mine")
    await agent.call("click", pageId="mine", selector="button")
    result = await agent.call("stop_tracing", sessionId=own)
    assert (result["artifact"]["mimeType"], "data" in result["artifact"]) == ("application/zip", False)
    trace = await _file(agent, result)
    assert trace.testzip() is None
    events = _events(trace)
    head = events[0]
    assert (head["type"], head["title"], head["browserName"]) == ("context-options", "A purchase", "chromium")
    assert isinstance(head["version"], int)
    methods = [event["method"] for event in events if event["type"] == "before"]
    assert {"reload", "click"} <= {*methods}
    assert any(event["type"] == "frame-snapshot" for event in events)
    assert any(event["type"] == "screencast-frame" for event in events)
    assert any(name.endswith(".jpeg") for name in trace.namelist())
    requests = [event["snapshot"]["request"]["url"] for event in _events(trace, "trace.network")]
    assert site.url("/shop") in requests


async def test_one_trace_runs_at_a_time_and_only_its_starter_gets_it(agent: Agent, other: Agent, own: str) -> None:
    assert (await agent.error("stop_tracing", sessionId=own))["code"] == "VALIDATION_ERROR"
    await agent.call("start_tracing", sessionId=own, screenshots=False)
    again = await agent.error("start_tracing", sessionId=own)
    assert (again["code"], agent.label in again["message"]) == ("VALIDATION_ERROR", True)
    assert (await other.error("start_tracing", sessionId=own))["code"] == "FORBIDDEN"
    await agent.call("share_session", sessionId=own)
    assert (await other.error("stop_tracing", sessionId=own))["code"] == "VALIDATION_ERROR"
    result = await agent.call("stop_tracing", sessionId=own)
    assert (await other.http.get(result["artifact"]["url"])).status_code == 404
    await agent.call("start_tracing", sessionId=own)
    await agent.call("stop_tracing", sessionId=own)


async def test_a_trace_ends_by_itself_and_is_kept_until_it_is_asked_for(
    service: RunningService, agent: Agent, own: str
) -> None:
    await agent.call("start_tracing", sessionId=own, maxSeconds=1)
    tracing = service.session(own).tracing
    await become(lambda: tracing.begun and not tracing.running)
    result = await agent.call("stop_tracing", sessionId=own)
    assert "its 1 s were over" in result["observed"]
    assert "trace.trace" in (await _file(agent, result)).namelist()


async def test_tracing_others_pages_needs_affect_others_and_notifies_them(
    agent: Agent, other: Agent, site: Site
) -> None:
    url = site.page("/", "x")
    await other.call("goto", pageId="theirs", url=url)
    refused = await agent.error("start_tracing")
    assert (refused["code"], '"theirs"' in refused["message"]) == ("AFFECTS_OTHERS", True)
    await agent.call("start_tracing", affectOthers=True)
    for page_id in ("theirs", "later"):
        reply = (await other.reply("goto", pageId=page_id, url=url)).json()
        told = [notice["text"] for notice in reply["notices"]]
        assert any("records a trace" in text and f"{page_id} included" in text for text in told)
    await agent.call("stop_tracing")


async def test_no_trace_shows_anothers_private_page(agent: Agent, other: Agent, site: Site) -> None:
    url = site.page("/", "x")
    await other.call("goto", pageId="theirs", url=url)
    await other.call("share_page", pageId="theirs", access="private")
    refused = await agent.error("start_tracing", affectOthers=True)
    assert (refused["code"], "theirs" in json.dumps(refused)) == ("FORBIDDEN", False)
    await other.call("share_page", pageId="theirs", access="read")
    await agent.call("start_tracing", affectOthers=True)
    await other.call("share_page", pageId="theirs", access="private")
    await other.call("share_page", pageId="theirs", access="read")
    dropped = await agent.error("stop_tracing")
    assert (dropped["code"], "was dropped" in dropped["message"]) == ("FORBIDDEN", True)
    assert "artifact" not in json.dumps(dropped)
    assert "theirs" not in json.dumps(dropped)


async def test_a_trace_does_not_show_what_a_person_types_into_a_login(agent: Agent, own: str) -> None:
    await agent.call("start_tracing", sessionId=own)
    asked = await agent.call("request_human", pageId="mine", kind="login", message="Please sign in.", timeout=50)
    dropped = await agent.error("stop_tracing", sessionId=own)
    assert (dropped["code"], '"mine" became private' in dropped["message"]) == ("FORBIDDEN", True)
    await agent.call("request_human", pageId="mine", requestId=asked["requestId"], withdraw=True)


async def test_a_trace_begins_where_a_dialog_had_kept_another_from_beginning_and_it_was_given_up(
    service: RunningService, agent: Agent, own: str
) -> None:
    await agent.call("evaluate_script", pageId="mine", expression="void setTimeout(() => alert('hi'), 0)")
    await become(lambda: (page := service.known_page("mine")) is not None and page.dialog is not None)
    tracing = service.session(own).tracing
    asked = asyncio.create_task(agent.reply("start_tracing", sessionId=own, headers={wire.CALL_ID: "given-up"}))
    await become(lambda: tracing.begun or asked.done())
    await agent.call("cancel_call", callId="given-up")
    assert (await asked).json()["error"]["code"] == "UNKNOWN_OUTCOME"
    assert (await agent.error("stop_tracing", sessionId=own))["code"] == "VALIDATION_ERROR"
    await agent.call("handle_dialog", pageId="mine", accept=True)
    await agent.call("start_tracing", sessionId=own)
    await agent.call("reload_page", pageId="mine")
    trace = await _file(agent, await agent.call("stop_tracing", sessionId=own))
    assert "reload" in [event.get("method") for event in _events(trace)]


async def test_a_window_that_crashed_and_is_not_closed_yet_keeps_no_trace_from_beginning(
    service: RunningService, agent: Agent, own: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    closes = asyncio.Event()

    async def late(closing: Awaitable[object]) -> None:
        await closes.wait()
        await bounded(closing)

    monkeypatch.setattr(windows, "bounded", late)
    await agent.call("open_page", pageId="crashes", sessionId=own)
    tab = service.entry("crashes").record.tab
    assert tab is not None
    assert tab.cdp is not None
    asyncio.ensure_future(tab.cdp.send("Page.crash")).add_done_callback(lambda done: done.exception())
    await become(lambda: tab.crashed)
    starting = sent(agent, "trace", "start_tracing", sessionId=own)
    await become(lambda: service.session(own).tracing.begun)
    asyncio.get_running_loop().call_later(0.3, closes.set)
    assert (await starting).json()["success"] is True
    await agent.call("stop_tracing", sessionId=own)


async def test_a_trace_ends_once_its_page_has_loaded_too_much(
    agent: Agent, own: str, service: RunningService, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(traces, "GROWN_BYTES", 3_000_000)
    site.page("/large", lambda _: Answer(secrets.token_bytes(500_000), content_type="application/octet-stream"))
    loads = "(async () => { for (let n = 0;; n++) await (await fetch(`/large?${n}`)).arrayBuffer() })()"
    await agent.call("start_tracing", sessionId=own, maxSeconds=600)
    await agent.call("goto", pageId="mine", url=site.page("/loads", f"<script>{loads}</script>"))
    await become(lambda: not service.session(own).tracing.running)
    stopped = await agent.call("stop_tracing", sessionId=own)
    assert "it ended because its browser had written 3 MB of traces since it began" in stopped["observed"]
    assert 500_000 < stopped["artifact"]["size"] < 100_000_000
