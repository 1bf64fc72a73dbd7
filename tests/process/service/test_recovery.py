"""Tests recovery: what replies say about calls that ran when something died, what comes back, and what is left alone.

It is longer than 300 lines because each thing that can die has a test of what comes back."""

import asyncio
import json
import re
import stat
import subprocess
import sys
import threading
from pathlib import Path

import psutil
import pytest

from browser_service.host.pages import recovery
from browser_service.host.sessions import processes as endings
from browser_service.host.sessions.executables import installed_browser
from browser_service.host.sessions.processes import Orphans
from tests.process.service.conftest import lasting_service as service
from tests.process.service.test_crashes import Disaster as Kill
from tests.process.service.test_crashes import browser_dies, performing, renderers_die, soonest
from tests.support import processes
from tests.support.listening import sent
from tests.support.service import Agent, RunningService
from tests.support.sharing import StartService
from tests.support.site import Answer, Site
from tests.support.waiting import PATIENCE_S, become

__all__ = ["service"]

pytestmark = pytest.mark.anyio

SPINS = "setTimeout(() => { const until = Date.now() + 60_000; while (Date.now() < until); })"


def text_of(reply: dict[str, object]) -> str:
    return str(reply["notices"])


# --- calls that ran --------------------------------------------------------------------------------------------------


@soonest(browser_dies)
async def test_running_calls_learn_what_may_have_happened_and_waiting_ones_continue(
    service: RunningService, agent: Agent, site: Site, hold: threading.Event, disaster: Kill
) -> None:
    url = site.page("/form", "<input id=a><button onclick=\"this.textContent = confirm('Sure?')\">ask</button>")
    steps = [
        {"action": "fill", "selector": "#a", "value": "x"},
        {"action": "wait_for_selector", "selector": "#never"},
        {"action": "press", "key": "b"},
    ]
    for page_id in ("act", "read", "go", "batch", "ask"):
        await agent.call("goto", pageId=page_id, url=url)
    suspended = await agent.call("click", pageId="ask", selector="button")
    assert suspended["suspended"] is True
    await agent.call("evaluate_script", pageId="read", expression=SPINS)
    running = {
        "act": sent(agent, "act", "evaluate_script", pageId="act", expression="new Promise(() => {})"),
        "wait": sent(agent, "wait", "wait_for_selector", pageId="act", selector="#never"),
        "read": sent(agent, "read", "content", pageId="read", timeout=60_000),
        "go": sent(agent, "go", "goto", pageId="go", url=site.url("/held")),
        "batch": sent(agent, "batch", "batch", pageId="batch", steps=steps),
    }
    await become(lambda: all(performing(service, page) for page in ("act", "read", "go", "batch")))
    await become(lambda: site.counts["/held"] > 0 and under_way(service, "batch") == "wait_for_selector")
    queued = sent(agent, "queued", "fill", pageId="act", selector="#a", value="y")
    entry = service.entry("act")
    await become(lambda: len(entry.queue.line) > 0)
    await disaster(service)
    async with asyncio.timeout(60):
        replies = {name: (await call).json() for name, call in running.items()}
        then = (await queued).json()
    codes = {name: reply["error"]["code"] for name, reply in replies.items() if not reply["success"]}
    unknown = "UNKNOWN_OUTCOME"
    assert codes == {"act": unknown, "wait": "BROWSER_CRASHED", "go": unknown, "batch": unknown}
    assert "snapshot" in replies["act"]["error"]["hint"]
    assert "Repeat the call" in replies["wait"]["error"]["hint"]
    said = replies["batch"]["error"]["message"]
    assert "step 2 of 3 (wait_for_selector)" in said
    assert "Done before: 1 fill" in said
    assert "Not begun: 3 press" in said
    assert "<button" in str(replies["read"]["result"])
    assert then["success"] is True
    assert (await agent.error("get_call", callId=suspended["callId"], wait=5_000))["code"] == unknown
    await agent.call("press", pageId="ask", key="a")  # no dialog is in the way any more
    hold.set()


def under_way(service: RunningService, page_id: str) -> str:
    turn = service.entry(page_id).queue.current
    return turn.part if turn is not None else ""


async def test_an_act_that_still_waited_for_its_element_surely_did_not_happen(
    service: RunningService, agent: Agent, site: Site
) -> None:
    url = site.page("/", "<h1>Here</h1>")
    await agent.call("goto", pageId="p", url=url)
    await become(lambda: service.host.memory.used_mb > 0)
    waiting = sent(agent, "w", "click", pageId="p", selector="#never", timeout=60_000)
    await become(lambda: performing(service, "p"))
    entry = service.entry("p")
    await service.window("p").evaluate("1")  # the driver has had its turn with the click
    await renderers_die(service)
    error = (await waiting).json()["error"]
    assert (error["code"], error["message"]) == ("BROWSER_CRASHED", "Browser instance crashed unexpectedly")
    assert (error["details"]["sessionId"], error["details"]["tool"]) == ("default", "click")
    context = error["details"]["context"]
    assert (context["lastUrl"], context["browserId"][:8]) == (url, "browser_")
    assert re.fullmatch(r"[1-9]\d*MB|[1-9]\d*\.\dGB", context["memoryUsage"])
    assert "crashed" in context["crashReason"]
    await agent.call("click", pageId="p", selector="h1")
    assert entry.record.browser_id == context["browserId"]  # it went on, and only the page was opened anew
    await browser_dies(service)
    await agent.call("click", pageId="p", selector="h1")
    assert entry.record.browser_id != context["browserId"]


# --- what comes back -------------------------------------------------------------------------------------------------


async def test_client_settings_are_restored(service: RunningService, agent: Agent, site: Site) -> None:
    url = site.page("/", "<button onclick=\"document.title = confirm('Sure?')\">ask</button>")
    await agent.call("goto", pageId="p", url=url)
    await agent.call("mock_response", pageId="p", pattern="*/api", body="mocked")
    await agent.call("set_extra_headers", pageId="p", headers={"X-Page": "1"})
    await agent.call("set_session_headers", headers={"X-Session": "2"})
    await agent.call("emulate", pageId="p", timezone="Asia/Tokyo")
    await agent.call("set_dialog_policy", pageId="p", policy="accept")
    await agent.call("add_init_script", pageId="p", script="self.first = 'init'")
    origin = site.url().rstrip("/")
    await agent.call("grant_permissions", permissions=["clipboard-read"], origin=origin)
    await browser_dies(service)
    site.received.clear()
    reply = (await agent.reply("click", pageId="p", selector="button")).json()
    assert "dialogs" in reply["result"]
    assert "set again: 1 route, headers X-Page, init scripts s1, emulation" in text_of(reply)
    (visit,) = [received for received in site.received if received.path == "/"]
    assert (visit.headers["X-Page"], visit.headers["X-Session"]) == ("1", "2")
    script = "fetch('/api').then(r => r.text()).then(t => t + Intl.DateTimeFormat().resolvedOptions().timeZone)"
    assert (await agent.call("evaluate_script", pageId="p", expression=script))["value"] == "mockedAsia/Tokyo"
    script = "navigator.permissions.query({name: 'clipboard-read'}).then(found => [first, found.state])"
    assert (await agent.call("evaluate_script", pageId="p", expression=script))["value"] == ["init", "granted"]
    await agent.call("set_session_headers", headers={})


async def test_a_login_of_this_moment_comes_back_in_every_kind_of_session(
    service: RunningService, agent: Agent, site: Site
) -> None:
    """Chromium writes its cookies after half a minute, and session cookies never."""
    kinds = {"shared": "HttpOnly; Max-Age=3600", "isolated": "HttpOnly", "persistent": "Max-Age=3600"}
    form = "<form method=post action='/{kind}/in'><button>Sign in</button></form>"
    for kind in ("isolated", "persistent"):
        await agent.call("create_session", sessionId=f"s-{kind}", persistent=kind == "persistent")
    for kind, attributes in kinds.items():
        cookie = {"set-cookie": f"sid={kind}; Path=/{kind}; {attributes}", "location": f"/{kind}/home"}
        site.page(f"/{kind}/in", Answer(status=303, headers=cookie))
        site.page(f"/{kind}/home", "home")
        own = {} if kind == "shared" else {"sessionId": f"s-{kind}"}
        await agent.call("goto", pageId=kind, url=site.page(f"/{kind}/form", form.format(kind=kind)), **own)
    for kind in kinds:
        await agent.call("click", pageId=kind, selector="button")
    await browser_dies(service)
    site.received.clear()
    for kind in kinds:
        reply = (await agent.reply("click", pageId=kind, selector="body")).json()
        assert reply["page"]["url"] == site.url(f"/{kind}/home"), reply
    homes = {each.path: each.headers.get("Cookie") for each in site.received if each.path.endswith("home")}
    assert homes == {f"/{kind}/home": f"sid={kind}" for kind in kinds}


async def test_site_storage_comes_back_in_temporary_sessions(service: RunningService, agent: Agent, site: Site) -> None:
    url = site.page("/", "<h1>Here</h1>")
    read = "[localStorage.token, new Promise(d => { indexedDB.databases().then(all => d(all.length)) })]"
    store = """new Promise(done => { localStorage.token = 'mine'; const opening = indexedDB.open('kept', 1);
        opening.onupgradeneeded = () => opening.result.createObjectStore('all'); opening.onsuccess = done; })"""
    await agent.call("create_session", sessionId="own")
    await agent.call("goto", pageId="p", sessionId="own", url=url)
    await agent.call("evaluate_script", pageId="p", expression=f"{store}.then(() => 1)")
    session = service.session("own")
    await become(lambda: session.logins.saved.get("origins"))
    await browser_dies(service)
    await agent.call("click", pageId="p", selector="h1")
    script = f"Promise.all({read})"
    assert (await agent.call("evaluate_script", pageId="p", expression=script))["value"] == ["mine", 1]


@pytest.mark.parametrize("frozen", ["browser", "driver"])
@pytest.mark.long
async def test_a_hanging_browser_is_replaced_by_one_reload_and_all_pages_come_back(
    service: RunningService, agent: Agent, other: Agent, site: Site, *, frozen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recovery, "_HANGS_AFTER_S", 2)
    monkeypatch.setattr(endings, "_WRITES_WITHIN_S", 2)
    url = site.page("/", "<h1>Here</h1>")
    await agent.call("goto", pageId="mine", url=url)
    await other.call("goto", pageId="theirs", url=url)
    browser = processes.browser(service.settings.data_dir)
    victim = browser if frozen == "browser" else browser.parent()
    assert victim is not None
    victim.suspend()
    assert (await agent.error("click", pageId="mine", selector="h1", timeout=300))["code"] == "TIMEOUT"
    error = await agent.error("click", pageId="mine", selector="h1", timeout=300)
    assert (error["code"], 'reload_page {"pageId": "mine"}' in error["hint"]) == ("TIMEOUT", True)
    await agent.call("reload_page", pageId="mine")
    for caller, page_id in ((agent, "mine"), (other, "theirs")):
        reply = (await caller.reply("click", pageId=page_id, selector="h1")).json()
        assert (reply["success"], reply["page"]["url"]) == (True, url), reply
    await become(lambda: not processes.runs(victim))


# --- again and again -------------------------------------------------------------------------------------------------


async def test_a_page_that_crashes_again_and_again_is_left_alone_until_somebody_wants_it(
    service: RunningService, agent: Agent, other: Agent, site: Site
) -> None:
    url, elsewhere = site.page("/bad", "<h1>Bad</h1>"), site.page("/good", "<h1>Good</h1>")
    await other.call("goto", pageId="good", url=elsewhere)
    await agent.call("goto", pageId="bad", url=url)
    for _ in range(2):
        await crash(service, "bad")
        await agent.call("click", pageId="bad", selector="h1")
    await crash(service, "bad")
    for action in ("click", "find"):
        error = await agent.error(action, pageId="bad", selector="h1")
        assert error["code"] == "BROWSER_CRASHED"
        assert "3 times within a minute" in error["message"]
        assert 'reload_page {"pageId": "bad"}' in error["hint"]
    assert site.counts["/bad"] == 3
    await agent.call("reload_page", pageId="bad")
    await agent.call("click", pageId="bad", selector="h1")
    await crash(service, "bad")
    assert (await agent.error("click", pageId="bad", selector="h1"))["code"] == "BROWSER_CRASHED"
    await agent.call("goto", pageId="bad", url=elsewhere)
    await crash(service, "bad")
    await agent.call("click", pageId="bad", selector="h1")
    assert (await other.reply("click", pageId="good", selector="h1")).json()["notices"] == []


async def crash(service: RunningService, page_id: str) -> None:
    """Crash this page's renderer and no other."""
    entry = service.entry(page_id)
    page = service.window(page_id)
    session = await page.context.new_cdp_session(page)
    crashing = asyncio.create_task(session.send("Page.crash"))
    await become(lambda: entry.record.life.crashed)
    crashing.cancel()  # nobody is left to answer it


async def test_a_browser_that_is_killed_while_it_comes_back_comes_back_all_the_same(
    service: RunningService, agent: Agent, site: Site
) -> None:
    data_dir = service.settings.data_dir
    await agent.call("goto", pageId="p", url=site.page("/", "<h1>Here</h1>"))
    await browser_dies(service)
    call = sent(agent, "c", "click", pageId="p", selector="h1")
    await become(lambda: bool(processes.browsers(data_dir)))
    await processes.kill(*processes.browsers(data_dir))
    reply = (await call).json()
    assert reply["success"] is True, reply
    assert text_of(reply).count("was reopened") == 1


async def test_the_error_for_a_browser_or_driver_that_dies_at_start_says_why_and_the_next_call_retries(
    start: StartService, site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, broken, script = site.page("/", "<h1>Here</h1>"), tmp_path / "broken", tmp_path / "browser"
    script.write_text(f'#!/bin/sh\n[ -e "{broken}" ] && kill -9 $$\nexec "{installed_browser()}" "$@"\n')
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    service = await start(executable_path=script)
    async with service.agent() as agent:
        monkeypatch.setenv("PLAYWRIGHT_NODEJS_PATH", "/bin/false")
        error = await agent.error("goto", pageId="p", url=url)
        assert (error["code"], error["status"]) == ("BROWSER_LAUNCH_FAILED", 503)
        assert "driver ended as it started" in error["message"]
        monkeypatch.delenv("PLAYWRIGHT_NODEJS_PATH")
        broken.touch()
        error = await agent.error("goto", pageId="p", url=url)
        assert error["code"] == "BROWSER_LAUNCH_FAILED"
        assert "3 times in a row: it was ended by SIGKILL" in error["message"]
        assert error["hint"].startswith("Repeat the call")
        broken.unlink()
        await agent.call("goto", pageId="p", url=url)


async def test_the_error_quotes_a_browser_that_cannot_run_here_and_advises_no_retry(
    start: StartService, tmp_path: Path
) -> None:
    script, says = tmp_path / "browser", "licence not found"
    script.write_text(f"#!/bin/sh\necho {says}\necho 'no libfoo' >&2\nexit 127\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    service = await start(executable_path=script)
    async with service.agent() as agent:
        error = await agent.error("open_page")
        assert error["message"].endswith(f"3 times in a row: exit code 127; it said '{says} / no libfoo'")
        assert "Repeat" not in error["hint"]
        assert f"{script} does not run on this machine" in error["hint"]
        last = error["details"]["context"]["lastError"]
        assert (f"[out] {says}" in last, "--disable-features" in last) == (True, False)
        script.chmod(0o600)
        error = await agent.error("open_page")
        assert "EACCES" in error["message"]
        assert "BROWSE_EXECUTABLE_PATH" in error["hint"]


# --- what a killed service leaves ------------------------------------------------------------------------------------


async def test_only_what_a_killed_service_left_is_ended(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import time; time.sleep(60)"]
    left, other = (subprocess.Popen(command) for _ in range(2))  # noqa: ASYNC220 - they only have to be there
    try:
        orphans = Orphans(tmp_path)
        orphans.record([psutil.Process(left.pid), psutil.Process(other.pid)])
        record = tmp_path / "running.json"
        noted = json.loads(record.read_text())
        noted[1]["started"] = 1.0  # of an earlier process of that number
        record.write_text(json.dumps(noted))
        assert await Orphans(tmp_path).end() is True
        assert left.wait(PATIENCE_S) != 0
        assert other.poll() is None
        assert await Orphans(tmp_path).end() is False
        record.write_text("not what was written")
        assert await Orphans(tmp_path).end() is True
    finally:
        for process in (left, other):
            process.kill()
            process.wait(PATIENCE_S)
