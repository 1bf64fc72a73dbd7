"""Tests the browser in which a person lives: it asks before it lets agents in, once, and is given back as it was."""

import asyncio
import secrets
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from browse_together.contract import wire
from browser_service.host.sessions import attachment
from tests.support.json import AnyJson
from tests.support.persons_chrome import PersonsChrome
from tests.support.service import Agent, RunningService, running_service, settings_for
from tests.support.sharing import StartService
from tests.support.site import Answer, Received, Site
from tests.support.waiting import PATIENCE_S, become

pytestmark = pytest.mark.anyio


@pytest.fixture
def bank(site: Site) -> Site:
    """Serve a site that shows who is signed in, to which no other test has been."""
    login = f"sid={secrets.token_hex()}"
    site.page("/login", Answer("<title>in</title>", headers={"Set-Cookie": f"{login}; Path=/; Max-Age=900"}))

    def home(received: Received) -> Answer:
        who = "signed in" if login in received.headers.get("Cookie", "") else "a stranger"
        return Answer(f"<title>bank</title><h1>{who}</h1>")

    site.page("/", home)
    return site


@pytest.fixture
def without_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a browser ask its person again at once."""
    monkeypatch.setattr(attachment, "_ASKS_EVERY_S", 0.0)


async def post(person: Agent, path: str, **body: AnyJson) -> dict[str, AnyJson]:
    """Return the reply to a person's request: its result, or its error."""
    reply = (await person.http.post(path, json=body)).json()
    return dict(reply["result"] if reply["success"] else reply["error"])


async def stands(service: RunningService) -> str:
    """Return how it stands with the person's browser."""
    return (await service.parts.attached.state("chrome")).state


async def attach(service: RunningService, chrome: PersonsChrome, **options: AnyJson) -> None:
    async with service.agent(operator=True) as person:
        state = await post(person, wire.ATTACH, profileDir=str(chrome.directory), **options)
        assert state["state"] == "asking", state
        await chrome.allow()
        await become(lambda: service.host.launcher.attachments.of("chrome").runs)


async def who(agent: Agent, page_id: str) -> str:
    found = await agent.call("evaluate_script", pageId=page_id, expression="document.querySelector('h1').innerText")
    return str(found["value"])


async def test_agents_work_in_it_once_its_person_allows_that_beside_the_services_own_browser(
    start: StartService, chrome: PersonsChrome, bank: Site
) -> None:
    chrome.open(bank.url("/login"))
    await become(lambda: bank.counts["/login"])
    service = await start()
    async with service.agent(operator=True) as person, service.agent() as agent, service.agent() as other:
        state = await post(person, wire.ATTACH, profileDir=str(chrome.directory))
        assert (state["state"], state["sessionId"]) == ("asking", "chrome")
        assert "asks you to allow it" in state["words"]
        headers = {wire.CALL_ID: "waits"}
        first = asyncio.create_task(agent.reply("goto", headers=headers, sessionId="chrome", url=bank.url("/")))
        second = asyncio.create_task(other.call("goto", pageId="yours", sessionId="chrome", url=bank.url("/")))
        await become(
            lambda: "press Allow there" in getattr(service.last_move(agent.client_id, "waits"), "progress", "")
        )
        await agent.call("goto", pageId="ours", url=bank.url("/"))
        await chrome.allow()
        mine = (await first).json()["page"]["pageId"]
        await second
        assert await who(agent, mine) == await who(other, "yours") == "signed in"
        assert await who(agent, "ours") == "a stranger"
        assert (await other.error("click", pageId=mine, selector="h1"))["code"] == "PAGE_OWNED"
        assert (await agent.error("close_session", sessionId="chrome"))["code"] == "FORBIDDEN"
        assert not chrome.asks, "one connection serves all"


async def test_a_refusal_is_told_and_nobody_is_asked_again_until_a_person_attaches_anew(
    start: StartService, chrome: PersonsChrome, bank: Site
) -> None:
    service = await start()
    async with service.agent(operator=True) as person, service.agent() as agent:
        await post(person, wire.ATTACH, profileDir=str(chrome.directory))
        call = asyncio.create_task(agent.error("goto", sessionId="chrome", url=bank.url("/")))
        await chrome.refuse()
        assert "did not allow" in (await call)["message"]
        assert "did not allow" in (await agent.error("goto", sessionId="chrome", url=bank.url("/")))["message"]
        assert (await stands(service), chrome.asks) == ("refused", False)
        too_soon = await post(person, wire.ATTACH, profileDir=str(chrome.directory))
        assert "once a minute at most" in too_soon["message"]
        assert (await stands(service), chrome.asks) == ("refused", False)


@pytest.mark.usefixtures("without_pause")
async def test_after_it_was_killed_and_started_again_the_next_call_asks_once(
    start: StartService, chrome: PersonsChrome, bank: Site
) -> None:
    service = await start()
    await attach(service, chrome)
    async with service.agent() as agent:
        await agent.call("goto", pageId="mine", sessionId="chrome", url=bank.url("/"))
        chrome.kill()
        await become(lambda: not service.host.launcher.attachments.of("chrome").runs)
        error = await agent.error("snapshot", pageId="mine")
        assert "does not run any more" in error["message"]
        assert await stands(service) == "gone"
        await chrome.restart()
        assert not chrome.asks
        call = asyncio.create_task(agent.call("snapshot", pageId="mine"))
        await chrome.allow()
        assert "stranger" in (await call)["snapshot"]


@pytest.mark.usefixtures("without_pause")
async def test_after_a_restart_of_the_service_nobody_is_asked_until_an_agent_needs_it(
    chrome: PersonsChrome, bank: Site, tmp_path: Path
) -> None:
    settings = settings_for(tmp_path / "data")
    async with running_service(settings) as service:
        await attach(service, chrome)
        async with service.agent(client_id="chat") as agent:
            await agent.call("goto", pageId="mine", sessionId="chrome", url=bank.url("/"))
    async with running_service(settings) as service, service.agent(client_id="chat") as agent:
        assert (await stands(service), chrome.asks) == ("gone", False)
        call = asyncio.create_task(agent.call("snapshot", pageId="mine"))
        await chrome.allow()
        assert "stranger" in (await call)["snapshot"]


async def test_detaching_closes_what_agents_opened_and_nothing_of_the_persons(
    start: StartService, chrome: PersonsChrome, site: Site
) -> None:
    beats = site.page("/beats", "<title>mine</title><script>setInterval(() => fetch('/beat'), 100)</script>")
    site.page("/beat", "")
    site.page("/agent", "<script>setInterval(() => fetch('/agents-beat'), 100)</script>")
    site.page("/agents-beat", "")
    chrome.open(beats)
    service = await start()
    await attach(service, chrome, default=True)
    async with service.agent(operator=True) as person, service.agent() as agent:
        page = (await agent.reply("goto", url=site.url("/agent"))).json()["page"]
        assert page["sessionId"] == "chrome", "calls that name no session go there"
        await become(lambda: site.counts["/agents-beat"])
        assert (await post(person, wire.DETACH))["state"] == "off"
        last, before = site.counts["/agents-beat"], site.counts["/beat"]
        await become(lambda: site.counts["/beat"] > before + 3)
        assert site.counts["/agents-beat"] <= last + 1, "the agent's window is closed"
        assert (chrome.runs, site.counts["/beats"]) == (True, 1)
        gone = await agent.error("goto", sessionId="chrome", url=site.url("/agent"))
        assert (gone["code"], f"attach --profile-dir {chrome.directory}" in gone["hint"]) == ("SESSION_NOT_FOUND", True)
        page = (await agent.reply("goto", url=site.url("/agent"))).json()["page"]
        assert page["sessionId"] == "default"


@pytest.mark.long
async def test_detaching_while_it_asks_ends_the_calls_that_wait(
    start: StartService, chrome: PersonsChrome, bank: Site
) -> None:
    service = await start()
    async with service.agent(operator=True) as person, service.agent() as agent:
        await post(person, wire.ATTACH, profileDir=str(chrome.directory))
        call = asyncio.create_task(agent.error("goto", sessionId="chrome", url=bank.url("/")))
        await become(lambda: bool(service.running_calls()))
        await post(person, wire.DETACH)
        assert (await asyncio.wait_for(call, PATIENCE_S))["code"] in {"BROWSER_LAUNCH_FAILED", "CANCELLED"}
    chrome.kill()  # its question may stay open


@pytest.mark.long
async def test_a_second_service_is_told_of_the_first(chrome: PersonsChrome, tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        first = await stack.enter_async_context(running_service(settings_for(tmp_path / "one")))
        second = await stack.enter_async_context(running_service(settings_for(tmp_path / "two")))
        await attach(first, chrome)
        person = await stack.enter_async_context(second.agent(operator=True))
        told = await post(person, wire.ATTACH, profileDir=str(chrome.directory))
        assert "Another service" in told["message"]
        assert str(tmp_path / "one") in told["message"]
        assert (await stands(second), chrome.asks) == ("off", False)


async def test_it_is_named_by_its_browser_and_its_switch_is_asked_for(
    start: StartService, chrome: PersonsChrome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "chromium").symlink_to(chrome.directory)
    service = await start()
    async with service.agent(operator=True) as person:
        chrome.port_file.rename(tmp_path / "aside")
        told = await post(person, wire.ATTACH, browser="chromium")
        assert told["message"] == "Chromium runs, and remote debugging is off in it."
        assert "chrome://inspect/#remote-debugging" in told["hint"]
        assert await stands(service) == "off"
        (tmp_path / "aside").rename(chrome.port_file)
        assert (await post(person, wire.ATTACH, browser="chromium"))["browser"] == "Chromium"
        assert (await post(person, wire.ATTACH, browser="chrome"))["message"] == "Chromium is attached to."
        await chrome.allow()
        await become(lambda: service.host.launcher.attachments.of("chrome").runs)


async def test_an_unanswered_question_ends_calls_with_what_they_wait_for_and_an_answer_still_counts(
    start: StartService, chrome: PersonsChrome, bank: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attachment, "_WAITS_S", 0.2)
    service = await start(attach=f"{chrome.directory} default", min_instances=1)
    async with service.agent() as agent:
        assert (await stands(service), chrome.asks) == ("gone", False), "the setting asks nobody at the start"
        error = await agent.error("goto", pageId="mine", url=bank.url("/"))
        assert ("nobody has answered" in error["message"], "presses Allow" in error["hint"]) == (True, True)
        await become(lambda: chrome.asks)
        assert await stands(service) == "asking"
        await chrome.allow()
        await become(lambda: service.host.launcher.attachments.of("chrome").runs)
        await agent.call("goto", pageId="mine", url=bank.url("/"))
        (port, *_) = chrome.port_file.read_text().split()
        reached = await agent.error("goto", pageId="mine", url=f"http://localhost:{port}/json/list")
        assert reached["code"] == "FORBIDDEN", "who asks there drives the browser"
