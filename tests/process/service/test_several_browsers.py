"""Tests that a person has several browsers attached to at once, each under a session's name."""

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, ExitStack
from functools import partial
from pathlib import Path

import pytest

from browse_together.contract import wire
from browser_service.clients.presence import handle_of
from tests.support.json import AnyJson
from tests.support.listening import listening
from tests.support.persons import Persons
from tests.support.screen import screen
from tests.support.service import Agent, running_service, settings_for
from tests.support.sharing import StartService
from tests.support.site import Answer, Received, Site
from tests.support.waiting import become
from tests.support.wall import seat

pytestmark = pytest.mark.anyio

Browsers = dict[str, Persons]


@pytest.fixture(scope="module")
async def _browsers(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Browsers]:
    with ExitStack() as stack:
        running: Browsers = {}
        for name in ("private", "work"):
            running[name] = Persons(tmp_path_factory.mktemp(name) / "profile")
            stack.callback(running[name].end)
        for each in running.values():
            await each.ready()
        yield running


@pytest.fixture
async def browsers(_browsers: Browsers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Browsers:
    """Return two browsers of one person, which all tests share."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for each in _browsers.values():
        await each.forget()
    return _browsers


@pytest.fixture
def who(site: Site) -> Site:
    """Serve a site that says which browser asks."""
    for name in ("private", "work"):
        cookie = {"Set-Cookie": f"who={name}; Path=/; Max-Age=900"}
        site.page(f"/login/{name}", Answer(f"<title>in {name}</title>", headers=cookie))

    def home(received: Received) -> Answer:
        return Answer(f"<title>shop</title><h1>{received.headers.get('Cookie', 'a stranger')}</h1>")

    site.page("/", home)
    return site


async def post(person: Agent, path: str, **body: AnyJson) -> dict[str, AnyJson]:
    """Return the reply to a person's request: its result, or its error."""
    reply = (await person.http.post(path, json=body)).json()
    return dict(reply["result"] if reply["success"] else reply["error"])


async def attach(person: Agent, name: str, directory: Path) -> None:
    state = await post(person, wire.ATTACH, profileDir=str(directory), sessionId=name)
    assert (state["state"], state["sessionId"]) == ("attached", name), state


async def attach_all(person: Agent, browsers: Browsers) -> None:
    for name, each in browsers.items():
        await attach(person, name, each.port_file.parent)


def with_account(name: str, browser: Persons) -> Path:
    """Return the directory around a browser's own, which leads to it and has an account, as the browser itself keeps it
    only while somebody is signed in."""
    directory = browser.port_file.parents[1]
    (directory / browser.port_file.name).symlink_to(browser.port_file)
    (directory / "SingletonLock").symlink_to((browser.port_file.parent / "SingletonLock").readlink())
    account = {"Default": {"name": f"My {name}", "user_name": f"me@{name}.example"}}
    local = {"profile": {"info_cache": account, "last_used": "Default"}}
    (directory / "Local State").write_text(json.dumps(local))
    return directory


async def heading(agent: Agent, page_id: str) -> str:
    found = await agent.call("evaluate_script", pageId=page_id, expression="document.querySelector('h1').innerText")
    return str(found["value"])


async def test_each_chat_works_in_the_browser_of_its_session_and_is_told_once_which_that_is(
    start: StartService, browsers: Browsers, who: Site
) -> None:
    service = await start()
    for name, each in browsers.items():
        await each.open(who.url(f"/login/{name}"))
    async with AsyncExitStack() as stack:
        person = await stack.enter_async_context(service.agent(operator=True))
        for name, each in browsers.items():
            await attach(person, name, with_account(name, each))
        private, work, other = [await stack.enter_async_context(service.agent()) for _ in range(3)]
        for agent, name in ((private, "private"), (work, "work")):
            agent.http.headers[wire.SESSION] = name
            first = (await agent.reply("goto", pageId=f"{name}-shop", url=who.url("/"))).json()
            again = (await agent.reply("goto", pageId=f"{name}-shop", url=who.url("/"))).json()
            assert first["page"]["sessionId"] == name
            assert f"profile 'My {name}' of me@{name}.example" in str(first["notices"])
            assert "own browser" not in str(again.get("notices"))
            assert await heading(agent, f"{name}-shop") == f"who={name}"
        page = (await other.reply("goto", pageId="other-shop", url=who.url("/"))).json()["page"]
        assert (page["sessionId"], await heading(other, "other-shop")) == ("default", "a stranger")


def shows(session_id: str, message: dict[str, AnyJson]) -> bool:
    return session_id in [each["session"] for each in message.get("agents", [])]


def said_or_shown(session_id: str, message: dict[str, AnyJson]) -> bool:
    return message.get("id") == 7 or shows(session_id, message)


async def test_a_person_puts_a_chat_into_a_browser_by_the_wall_and_it_stays_there_over_a_restart(
    browsers: Browsers, who: Site, tmp_path: Path
) -> None:
    async with listening(tmp_path / "data") as service, service.agent(operator=True) as person:
        await attach_all(person, browsers)
        async with service.agent(client_id="chat") as agent, seat(service) as wall:
            agent.http.headers[wire.SESSION] = "private"
            await agent.call("goto", pageId="before", url=who.url("/"))
            handle = handle_of("chat")
            for name in ("private", "work"):
                await wall.send("put", id=7, agent=handle, sessionId=name)
                told = await wall.until(partial(said_or_shown, name))
                assert shows(name, told), told  # by the time that it is said
                said = await wall.until(lambda message: message.get("id") == 7)
            assert "works in work now." in str(said), said
            reply = (await agent.reply("goto", pageId="after", url=who.url("/"))).json()
            assert "The person chose where your new pages open: session work" in str(reply["notices"])
            assert reply["page"]["sessionId"] == "work"
            assert (await agent.reply("goto", pageId="before", url=who.url("/"))).json()["page"][
                "sessionId"
            ] == "private"
    async with listening(tmp_path / "data") as service, service.agent(client_id="chat") as agent, seat(service) as wall:
        page = (await agent.reply("goto", pageId="again", url=who.url("/"))).json()["page"]
        assert page["sessionId"] == "work"
        await wall.ask("put", agent=handle, sessionId="")
        page = (await agent.reply("goto", pageId="own", url=who.url("/"))).json()["page"]
        assert page["sessionId"] == "default"


async def test_after_a_restart_each_has_its_browser_again_before_a_setting_names_another_for_one(
    browsers: Browsers, who: Site, tmp_path: Path
) -> None:
    async with running_service(settings_for(tmp_path / "data")) as service, service.agent(operator=True) as person:
        await attach_all(person, browsers)
    async with running_service(settings_for(tmp_path / "data")) as service, service.agent() as agent:
        assert [each.session_id for each in await service.parts.attached.states()] == [*browsers]
        await agent.call("goto", pageId="mine", sessionId="work", url=who.url("/login/work"))
        stands = {each.session_id: each.state for each in await service.parts.attached.states()}
        assert stands == {"private": "gone", "work": "attached"}
    settings = settings_for(tmp_path / "data", attach=str(browsers["work"].port_file.parent))
    async with running_service(settings) as service:
        assert [each.session_id for each in await service.parts.attached.states()] == ["private", "chrome"]


async def test_one_is_let_go_and_the_other_stays_with_its_chat(
    start: StartService, browsers: Browsers, who: Site
) -> None:
    service = await start()
    async with service.agent(operator=True) as person, service.agent() as agent:
        await attach_all(person, browsers)
        for name in browsers:
            await agent.call("goto", pageId=f"{name}-shop", sessionId=name, url=who.url("/"))
        unnamed = await post(person, wire.DETACH)
        assert (unnamed["code"], "private, work" in unnamed["message"]) == ("VALIDATION_ERROR", True)
        await post(person, wire.DETACH, sessionId="private")
        stands = (await person.http.get(wire.ATTACHMENT)).json()["result"]["attachments"]
        assert [(each["sessionId"], each["state"]) for each in stands] == [("work", "attached")]
        assert await browsers["private"].tabs() == ["about:blank"]
        assert await heading(agent, "work-shop") == "a stranger"
        gone = await agent.error("goto", pageId="anew", sessionId="private", url=who.url("/"))
        assert (gone["code"], "--as private" in gone["hint"]) == ("SESSION_NOT_FOUND", True)


async def test_a_tab_is_shared_from_the_browser_that_has_it_and_each_browser_has_one_session(
    start: StartService, browsers: Browsers, who: Site
) -> None:
    service = await start()
    await browsers["work"].open(who.url("/"))
    async with service.agent(operator=True) as person, service.agent() as agent:
        await attach_all(person, browsers)
        listed = (await person.http.get(wire.TABS)).json()["result"]["tabs"]
        (tab,) = [each for each in listed if each["url"] == who.url("/")]
        assert tab["sessionId"] == "work"
        shared = await post(person, wire.TABS_SHARE, tabId=tab["tabId"])
        assert await heading(agent, shared["pageId"]) == "a stranger"
        assert service.parts.directory.pages_of("work")
        await post(person, wire.TABS_UNSHARE, tabId=tab["tabId"])
        await become(lambda: not service.parts.directory.pages_of("work"))
        twice = await post(person, wire.ATTACH, profileDir=str(browsers["work"].port_file.parent), sessionId="third")
        assert "attached to already, as session 'work'" in twice["message"]
        await agent.call("goto", pageId="taken", url=who.url("/"))
        taken = await post(person, wire.ATTACH, browser="chrome", sessionId="taken")
        assert "a page or session has that name" in taken["message"]


async def test_of_a_browser_with_several_profiles_only_the_one_that_was_attached_to_is_used(
    start: StartService, tmp_path: Path, who: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    service = await start()
    with screen() as display:
        browser = Persons(tmp_path / "profiles", display=display)
        try:
            await browser.ready()
            async with service.agent(operator=True) as person, service.agent() as agent:
                await post(person, wire.ATTACH, profileDir=str(tmp_path / "profiles"))
                await agent.call("goto", pageId="mine", sessionId="chrome", url=who.url("/login/work"))
                await browser.open_profile("Profile 1", who.url("/?other"))
                await agent.call("goto", pageId="mine", url=who.url("/"))
                assert await heading(agent, "mine") == "who=work"
                for action, arguments in (
                    ("goto", {"pageId": "two", "url": who.url("/")}),
                    ("get_cookies", {"domain": "127.0.0.1"}),
                ):
                    error = await agent.error(action, sessionId="chrome", **arguments)
                    assert (error["code"], "another profile" in error["message"]) == ("FORBIDDEN", True), error
                await browser.open_profile("Default", who.url("/?mine"))
                await agent.call("goto", pageId="two", sessionId="chrome", url=who.url("/"))
                assert await heading(agent, "two") == "who=work"
        finally:
            browser.end()
