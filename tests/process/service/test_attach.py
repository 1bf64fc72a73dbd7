"""Tests a browser that runs already: attached to, worked in beside its people, and left as it was."""

import asyncio
import contextlib
import socket
from pathlib import Path

import psutil
import pytest

from browser_service.cli.browser_check import Check, check_browser
from tests.support.json import AnyJson
from tests.support.persons import Persons, their_page
from tests.support.processes import command
from tests.support.service import Agent, RunningService, running_service, settings_for
from tests.support.sharing import StartService
from tests.support.site import Answer, Received, Site
from tests.support.tab import closed_port
from tests.support.waiting import become

pytestmark = pytest.mark.anyio

ATTACHED: dict[str, AnyJson] = {"attached_tabs": "shared"}


@pytest.fixture
def bank(site: Site) -> Site:
    """Serve a site with a login, which shows who is signed in."""
    site.page("/login", Answer("<title>in</title>", headers={"Set-Cookie": "sid=s3cret; Path=/"}))

    def home(received: Received) -> Answer:
        who = "signed in" if "sid=s3cret" in received.headers.get("Cookie", "") else "a stranger"
        return Answer(f"<title>bank</title><h1>{who}</h1><input id=a><button>b</button>")

    site.page("/", home)
    return site


def listens(port: int) -> bool:
    with socket.socket() as asking:
        return asking.connect_ex(("127.0.0.1", port)) == 0


async def who(agent: Agent, page_id: str) -> str:
    found = await agent.call("evaluate_script", pageId=page_id, expression="document.querySelector('h1').innerText")
    return str(found["value"])


async def test_agents_work_in_the_persons_login_in_their_own_pages_besides_the_persons_tabs(
    attached: RunningService, persons: Persons, bank: Site
) -> None:
    await persons.open(bank.url("/login"))
    async with attached.agent() as agent, attached.agent() as other:
        await agent.call("goto", pageId="mine", url=bank.url("/"))
        await other.call("goto", pageId="yours", url=bank.url("/"))
        assert (await who(agent, "mine"), await who(other, "yours")) == ("signed in", "signed in")
        assert await their_page(agent, bank.url("/login"))
        assert (await agent.error("click", pageId="yours", selector="button"))["code"] == "PAGE_OWNED"


async def test_when_the_service_stops_the_persons_browser_and_tabs_stay_and_ours_are_closed(
    start: StartService, persons: Persons, bank: Site, tmp_path: Path
) -> None:
    await persons.open(bank.url("/login"))
    before = await persons.tabs()
    async with contextlib.AsyncExitStack() as stack:
        service = await stack.enter_async_context(
            running_service(settings_for(tmp_path / "data", attached_tabs="shared", cdp_url=persons.url))
        )
        agent = await stack.enter_async_context(service.agent(client_id="chat"))
        await agent.call("goto", pageId="mine", url=bank.url("/"))
        assert bank.url("/") in await persons.tabs()
    assert persons.runs
    assert await persons.tabs() == before
    service = await start(attached_tabs="shared", cdp_url=persons.url)
    async with service.agent(client_id="chat") as agent:
        assert await who(agent, "mine") == "signed in", "it comes back under its pageId"


async def test_the_next_call_restores_a_lost_connection_and_finds_its_pages_unchanged(
    attached: RunningService, persons: Persons, bank: Site
) -> None:
    async with attached.agent() as agent:
        await agent.call("goto", pageId="mine", url=bank.url("/"))
        await agent.call("fill", pageId="mine", selector="#a", value="typed")
        tabs, visits = await persons.tabs(), bank.counts["/"]
        drivers = [p for p in psutil.Process().children() if "run-driver" in command(p)]
        driver = max(drivers, key=psutil.Process.create_time)  # which started after any that other modules share
        driver.kill()
        await asyncio.to_thread(psutil.wait_procs, [driver], 10)
        shown = await agent.call("evaluate_script", pageId="mine", expression="document.querySelector('#a').value")
        assert shown["value"] == "typed"
        assert (await persons.tabs(), bank.counts["/"]) == (tabs, visits)


async def test_the_error_says_that_nothing_listens_and_later_the_same_call_works(
    start: StartService, bank: Site, tmp_path: Path
) -> None:
    port = closed_port()
    url = f"http://127.0.0.1:{port}"
    service = await start(attached_tabs="shared", cdp_url=url)
    async with service.agent() as agent:
        error = await agent.error("goto", pageId="mine", url=bank.url("/"))
        assert error["code"] == "BROWSER_LAUNCH_FAILED"
        assert url in error["message"]
        assert "--remote-debugging-port" in error["hint"]
        late = Persons(tmp_path / "persons", port)
        try:
            await become(lambda: listens(port))
            await agent.call("goto", pageId="mine", url=bank.url("/"))
        finally:
            late.end()


async def test_a_persons_tab_can_be_used_by_an_agent_but_not_where_the_policy_ends_and_the_person_goes_on_anywhere(
    start: StartService, persons: Persons, bank: Site
) -> None:
    await persons.open(bank.url("/"))
    await persons.open(bank.url("/").replace("127.0.0.1", "localhost"))
    service = await start(attached_tabs="shared", cdp_url=persons.url, url_whitelist=("127.0.0.1",))
    async with service.agent() as agent:
        await agent.call("goto", pageId="mine", url=bank.url("/"))
        assert await who(agent, await their_page(agent, bank.url("/"))) == "a stranger"
        elsewhere = bank.url("/", host="localhost")
        refused = await agent.error("snapshot", pageId=await their_page(agent, elsewhere))
        assert refused["code"] == "FORBIDDEN"
        visits = bank.counts["/"]
        await persons.open(elsewhere + "?again")
        await become(lambda: bank.counts["/"] > visits)
        assert elsewhere in await persons.tabs()


async def test_nothing_of_the_persons_browser_is_written_down(
    attached: RunningService, persons: Persons, bank: Site
) -> None:
    await persons.open(bank.url("/login"))
    async with attached.agent() as agent:
        await agent.call("goto", pageId="mine", url=bank.url("/"))
        await agent.call("fill", pageId="mine", selector="#a", value="x")
        session = attached.session()
        await session.logins.save()
        assert session.logins.saved == {}


async def test_doctor_says_whether_there_is_a_browser_to_attach_to(persons: Persons, tmp_path: Path) -> None:
    async def checked(url: str) -> Check:
        (check,) = await check_browser(settings_for(tmp_path / "data", attached_tabs="shared", cdp_url=url))
        return check

    found = await checked(persons.url)
    assert (found.ok, found.found.partition(" to ")[0]) == (True, "attached")
    missing = await checked(f"http://127.0.0.1:{closed_port()}")
    assert not missing.ok
    assert "--remote-debugging-port" in missing.advice
