"""Tests signing in by a person: an ordinary window on the shared profile, for a site that refuses automated
browsers.

It is longer than 300 lines because the bank, the screen and the window of its tests take a third of it.
"""

import asyncio
import json
import signal
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import psutil
import pytest

from tests.support import processes
from tests.support.listening import sent
from tests.support.screen import screen
from tests.support.service import Agent, RunningService
from tests.support.sharing import StartService
from tests.support.site import Answer, Received, Site
from tests.support.terminal import Terminal
from tests.support.waiting import PATIENCE_S, become

pytestmark = [pytest.mark.anyio, pytest.mark.whole_browser, pytest.mark.long]

SIGN_IN = """<!doctype html><title>sign in</title><p>please</p><script>
// A window that has just been made has its size only after some frames.
const settled = (async () => {
  for (let frames = 0; frames < 30; frames++) await new Promise(requestAnimationFrame);
  return outerHeight - innerHeight;
})();
settled.then(bars => fetch('/session', {method: 'POST', body: JSON.stringify(
  {webdriver: navigator.webdriver, bars, agent: navigator.userAgent,
   brands: navigator.userAgentData.brands, cookie: document.cookie})})).then(async answer => {
  if (answer.ok) await fetch('/remember');
  document.querySelector('p').innerText = answer.ok ? 'in' : 'refused';
  if (answer.ok && location.hash === '#close') window.close();
});
</script>"""


@pytest.fixture(scope="module")
def display() -> Iterator[str]:
    with screen() as name:
        yield name


@pytest.fixture
def seen_start(start: StartService, display: str, monkeypatch: pytest.MonkeyPatch) -> StartService:
    """Starts services that have a screen."""
    monkeypatch.setenv("DISPLAY", display)
    return start


@pytest.fixture
def bank(site: Site) -> Site:
    """Serve a site that refuses to sign in browsers that look automated (if only by the bars above their pages), and
    shows at `/` who is signed in."""

    def session(received: Received) -> Answer:
        said = json.loads(received.body)
        about = f"{said['agent']} {said['brands']} {received.headers}"
        if said["webdriver"] or not said["bars"] or "eadless" in about or "utomat" in about:
            return Answer("you are a robot", 403)
        return Answer("welcome", headers={"Set-Cookie": "sid=for-this-session; HttpOnly; Path=/"})

    def home(received: Received) -> Answer:
        sent = received.headers.get("Cookie", "")
        here = [name for name in ("remembered=yes", "sid=for-this-session", "before=1") if name in sent]
        return Answer(f"<title>bank</title><h1>{' '.join(here)}</h1><input id=a>")

    site.page("/sign-in", Answer(SIGN_IN))
    site.page("/session", session)
    remember = {"Set-Cookie": "remembered=yes; Max-Age=86400; Path=/"}
    site.page("/remember", Answer("remembered", headers=remember))
    site.page("/", home)
    site.page("/before", Answer("x", headers={"Set-Cookie": "before=1; Path=/"}))
    site.page("/leave", Answer("<script>fetch('/left')</script>", headers={"Set-Cookie": "before=; Max-Age=0; Path=/"}))
    site.page("/left", "x")
    site.page("/open", "a page that stays")
    return site


async def home(agent: Agent, bank: Site, page_id: str = "home") -> str:
    await agent.call("goto", pageId=page_id, url=bank.url("/"))
    found = await agent.call("evaluate_script", pageId=page_id, expression="document.querySelector('h1').innerText")
    return str(found["value"])


def window(service: RunningService) -> psutil.Process | None:
    """Return the person's window, once it is there."""
    found = [
        process
        for process in processes.browsers(service.settings.data_dir)
        if not any(word.startswith(("--remote-debugging", "--headless")) for word in processes.command(process))
    ]
    return found[0] if found else None


async def opened(service: RunningService, bank: Site, path: str = "/open") -> psutil.Process:
    """Return the window when it shows its page."""
    await become(lambda: bank.counts[path] > 0)
    process = window(service)
    assert process is not None
    return process


@pytest.fixture
async def service(seen_start: StartService) -> RunningService:
    return await seen_start()


@pytest.fixture
async def agent(service: RunningService) -> AsyncIterator[Agent]:
    async with service.agent("Claude") as agent:
        yield agent


async def test_a_site_that_refuses_automation_is_signed_in_to_by_a_person_and_known_to_agents_afterwards(
    service: RunningService, agent: Agent, bank: Site
) -> None:
    """Session cookies go into the window, and a logout there is one here."""
    await agent.call("goto", pageId="home", url=bank.url("/before"))
    assert await home(agent, bank) == "before=1"
    await agent.call("goto", pageId="robot", url=bank.url("/sign-in"))
    text = "document.querySelector('p').innerText"
    shown = f"new Promise(r => setInterval(() => {text} != 'please' && r({text})))"
    assert (await agent.call("evaluate_script", pageId="robot", expression=shown))["value"] == "refused"
    await agent.call("close_page", pageId="robot")
    bank.received.clear()
    result = await agent.call("login", url=bank.url("/sign-in#close"))
    assert result["sites"] == ["127.0.0.1"]
    assert result["observed"] == "the window was closed; cookies are new or changed of: 127.0.0.1"
    asked = next(received for received in bank.received if received.path == "/sign-in")
    assert "before=1" in asked.headers["Cookie"]
    assert await home(agent, bank) == "remembered=yes sid=for-this-session before=1"
    call = sent(agent, "leaving", "login", url=bank.url("/leave"))
    (await opened(service, bank, "/left")).send_signal(signal.SIGINT)
    assert (await call).json()["success"] is True
    assert await home(agent, bank) == "remembered=yes sid=for-this-session"


async def test_the_window_is_the_same_browser_on_the_same_profile_without_any_switch_of_automation(
    service: RunningService, agent: Agent, bank: Site
) -> None:
    """What runs comes to its end before, and the person goes on when the chat that asked has gone."""
    await agent.call("goto", pageId="slow", url=bank.url("/"))
    slow = "new Promise(r => setTimeout(() => r('done'), 1500))"
    running = sent(agent, "slow", "evaluate_script", pageId="slow", expression=slow)
    await become(lambda: any(r.call.call_id.endswith("/slow") for r in service.running_calls().values()))
    ours = processes.browser(service.settings.data_dir)
    executable, profile = ours.exe(), next(word for word in ours.cmdline() if word.startswith("--user-data-dir="))
    call = sent(agent, "signing-in", "login", url=bank.url("/open"))
    assert (await running).json()["result"]["value"] == "done"
    process = await opened(service, bank)
    words = process.cmdline()
    assert (process.exe(), profile in words) == (executable, True)
    assert {word.partition("=")[0] for word in words[1:] if word.startswith("--")} <= {
        "--user-data-dir",
        "--password-store",
        "--use-mock-keychain",
        "--no-first-run",
        "--no-default-browser-check",
        "--hide-crash-restore-bubble",
        "--no-sandbox",
        *QUIET,
    } | system_switches(process)
    agents = {received.headers["User-Agent"] for received in bank.received}
    assert len(agents) == 1, "to a site both are one browser"
    await service.parts.administration.client_gone(agent.client_id, departed=False)
    assert process.is_running()
    process.send_signal(signal.SIGINT)
    assert (await call).json()["success"] is True


def system_switches(process: psutil.Process) -> set[str]:
    """Return the switches that the distribution's own launcher adds for everybody."""
    ours = {"--enable-automation", "--headless", "--remote-debugging-pipe", "--remote-debugging-port"}
    found = {word.partition("=")[0] for word in process.cmdline()[1:] if word.startswith("--")}
    assert not found & ours
    assert not [word for word in process.cmdline() if "AutomationControlled" in word]
    return {word for word in found if word in SYSTEM}


QUIET = {
    "--disable-extensions",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-features",
    "--allow-browser-signin",
    "--component-updater",
    "--gaia-url",
}
"""Keep the browser from calling servers of its maker. People start theirs with them too."""
SYSTEM = {
    "--show-component-extension-options",
    "--enable-gpu-rasterization",
    "--no-pings",
    "--media-router",
    "--enable-remote-extensions",
    "--load-extension",
    "--disable-pings",
    "--ozone-platform-hint",
}


async def test_pages_rest_meanwhile_and_come_back_under_their_ids_at_their_urls_with_their_owners(
    service: RunningService, agent: Agent, bank: Site
) -> None:
    await agent.call("goto", pageId="shop", url=bank.url("/?step=2"))
    before = (await agent.reply("get_current_url", pageId="shop")).json()["page"]
    call = sent(agent, "signing-in", "login", url=bank.url("/open"))
    process = await opened(service, bank)
    async with service.agent("Codex") as other:
        for refused in (
            await agent.error("snapshot", pageId="shop"),
            await other.error("goto", url=bank.url("/")),
            await other.error("login"),
            await other.error("get_cookies"),
        ):
            assert refused["code"] == "HUMAN_IN_CONTROL", refused
            assert "Repeat the call" in refused["hint"]
        assert [page["pageId"] for page in (await other.call("list_pages"))["others"]] == ["shop"]
        process.send_signal(signal.SIGINT)
        assert (await call).json()["success"] is True
        assert (await other.error("click", pageId="shop", selector="#a"))["code"] == "PAGE_OWNED"
    reply = (await agent.reply("fill", pageId="shop", selector="#a", value="x")).json()
    assert (reply["success"], reply["page"]["url"]) == (True, bank.url("/?step=2"))
    assert reply["page"]["revision"] > before["revision"]
    assert "shop was reopened at" in reply["notices"][0]["text"]


async def test_a_cancel_closes_the_window_and_keeps_what_was_signed_in(
    service: RunningService, agent: Agent, bank: Site
) -> None:
    call = sent(agent, "signing-in", "login", url=bank.url("/sign-in"))
    process = await opened(service, bank, "/remember")
    await agent.call("cancel_call", callId="signing-in")
    assert (await call).json()["error"]["code"] == "UNKNOWN_OUTCOME"
    assert not process.is_running()
    assert await home(agent, bank) == "remembered=yes sid=for-this-session"


async def test_an_unclosed_window_is_closed_at_the_time_limit(seen_start: StartService, bank: Site) -> None:
    service = await seen_start(login_within_s=6)
    async with service.agent() as agent:
        error = await agent.error("login", url=bank.url("/sign-in"))
        assert error["code"] == "TIMEOUT"
        assert window(service) is None
        assert await home(agent, bank) == "remembered=yes sid=for-this-session"


async def test_the_pages_of_others_are_not_taken_from_them_without_being_asked_for(
    service: RunningService, agent: Agent, bank: Site
) -> None:
    await agent.call("goto", pageId="mine", url=bank.url("/"))
    async with service.agent("Codex") as other:
        error = await other.error("login", url=bank.url("/sign-in#close"))
        assert (error["code"], '"mine" of "Claude"' in error["message"]) == ("AFFECTS_OTHERS", True)
        await other.call("login", url=bank.url("/sign-in#close"), affectOthers=True)


async def test_without_a_screen_nothing_is_closed_and_the_error_names_the_other_ways(
    start: StartService, bank: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    service = await start()
    async with service.agent() as agent:
        await agent.call("goto", pageId="mine", url=bank.url("/"))
        ours = processes.browser(service.settings.data_dir)
        error = await agent.error("login", url=bank.url("/sign-in"))
        assert error["code"] == "BROWSER_LAUNCH_FAILED"
        assert all(way in error["hint"] for way in ("browse-together import", "BROWSE_CDP_URL"))
        monkeypatch.setenv("DISPLAY", ":65000")
        error = await agent.error("login", url=bank.url("/sign-in"))
        assert (error["code"], "exit code" in error["message"]) == ("BROWSER_LAUNCH_FAILED", True)
        assert not ours.is_running()
        assert await home(agent, bank) == "", "the shared browser goes on"


async def test_the_login_window_is_for_the_shared_login_only(agent: Agent) -> None:
    await agent.call("create_session", sessionId="own")
    error = await agent.error("login", sessionId="own")
    assert (error["code"], error["details"]["context"]["field"]) == ("VALIDATION_ERROR", "sessionId")


def test_the_window_of_a_service_that_was_killed_is_closed_by_the_next_and_what_was_signed_in_is_kept(
    tmp_path: Path, display: str, bank: Site
) -> None:
    terminal = Terminal(tmp_path / "data")
    try:
        terminal.succeed("up", "--detach", DISPLAY=display)
        with terminal.start("login", bank.url("/sign-in")) as asking:
            asyncio.run(become(lambda: bank.counts["/remember"] > 0))
            assert terminal.service is not None
            children = psutil.Process(terminal.service.pid).children(recursive=True)
            (left,) = [
                p
                for p in children
                if "/sign-in" in (words := " ".join(processes.command(p))) and "--type=" not in words
            ]
            psutil.Process(terminal.service.pid).kill()
            asking.communicate(timeout=PATIENCE_S)
        assert left.is_running()
        terminal.succeed("up", "--detach")
        asyncio.run(become(lambda: not processes.runs(left)))
        terminal.succeed("run", "goto", "--page", "home", "--url", bank.url("/"))
        assert "remembered=yes sid=for-this-session" in terminal.succeed("run", "content", "--page", "home").out
    finally:
        terminal.end()


def test_a_service_that_is_stopped_while_the_window_is_open_closes_it_and_keeps_what_was_signed_in(
    tmp_path: Path, display: str, bank: Site
) -> None:
    terminal = Terminal(tmp_path / "data")
    try:
        terminal.succeed("up", "--detach", DISPLAY=display)
        terminal.succeed("run", "goto", "--page", "before", "--url", bank.url("/open"))
        with terminal.start("login", bank.url("/sign-in")) as asking:
            asyncio.run(become(lambda: bank.counts["/remember"] > 0))
            assert terminal.service is not None
            process = psutil.Process(terminal.service.pid)
            everything = [process, *process.children(recursive=True)]
            terminal.succeed("down")
            _, said = asking.communicate(timeout=PATIENCE_S)
        _, left = psutil.wait_procs(everything, timeout=10)
        assert [each for each in left if processes.runs(each)] == []
        assert asking.returncode != 0
        assert "service" in said
        terminal.succeed("up", "--detach")
        terminal.succeed("run", "goto", "--page", "home", "--url", bank.url("/"))
        assert "remembered=yes sid=for-this-session" in terminal.succeed("run", "content", "--page", "home").out
        assert bank.url("/open") in terminal.succeed("run", "list-pages").out
    finally:
        terminal.end()
