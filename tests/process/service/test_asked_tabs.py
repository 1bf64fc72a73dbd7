"""Tests that an agent asks a person for one of their own tabs, and gets that one alone."""

import asyncio
from pathlib import Path

import pytest

from browse_together.client.credentials import mint
from browse_together.contract import wire
from tests.support.json import AnyJson
from tests.support.persons import Persons, open_tab
from tests.support.service import Agent, RunningService, running_service, settings_for
from tests.support.site import Site
from tests.support.waiting import become

pytestmark = pytest.mark.anyio

ATTACHED: dict[str, AnyJson] = {}
ASKS: dict[str, AnyJson] = {"kind": "tab", "message": "The invoice that you have open."}


class Ana:
    """The account's own person, at the command line."""

    def __init__(self, service: RunningService, agent: Agent) -> None:
        self._http = agent.http
        self._headers = {"Authorization": f"Bearer {mint(service.secret, 'cli-ana', 'CLI', operator=True)}"}

    async def asked(self) -> list[dict[str, AnyJson]]:
        reply = await self._http.get(wire.REQUESTS, headers=self._headers)
        return list(reply.json()["result"]["requests"])

    async def post(self, path: str, **body: AnyJson) -> dict[str, AnyJson]:
        return dict((await self._http.post(path, json=body, headers=self._headers)).json())

    async def tab_at(self, url: str) -> str:
        listed = (await self._http.get(wire.TABS, headers=self._headers)).json()["result"]["tabs"]
        return str(next(tab["tabId"] for tab in listed if tab["url"] == url))


async def test_an_agent_gets_the_tab_that_it_asked_for_and_no_other(
    attached: RunningService, persons: Persons, site: Site
) -> None:
    wanted, other = site.page("/invoice", "<button>Pay</button>"), site.page("/mail", "secret")
    await open_tab(attached, persons, other)
    await open_tab(attached, persons, wanted)
    async with attached.agent() as agent, attached.agent() as second, attached.agent() as cli:
        ana, before = Ana(attached, cli), await persons.tabs()
        asking = asyncio.create_task(agent.reply("request_human", **ASKS))
        await become(lambda: any(page.person for page in attached.parts.directory.pages()))
        (request,) = await ana.asked()
        assert (request["kind"], request["message"], request["url"]) == ("tab", ASKS["message"], "about:blank")
        untold = await ana.post(f"{wire.REQUESTS}/{request['requestId']}/resolve", state="done")
        assert untold["error"]["code"] == "VALIDATION_ERROR"
        assert (await agent.error("snapshot", pageId="tab"))["code"] == "HUMAN_IN_CONTROL"
        share = {"tabId": await ana.tab_at(wanted), "requestId": request["requestId"]}
        shared = await ana.post(wire.TABS_SHARE, **share)
        assert shared["result"]["pageId"] == "invoice", shared
        reply = (await asking).json()
        page = reply["page"]
        assert (page["pageId"], page["url"], page["title"]) == ("invoice", wanted, "/invoice")
        assert 'A person shared a tab, which is "invoice"' in reply["result"]["observed"]
        for name in ("invoice", "tab"):  # it also knows it by what stood for it
            assert (await agent.call("click", pageId=name, selector="button"))["observed"]
        assert (await second.error("snapshot", pageId="invoice"))["code"] == "PAGE_OWNED"
        assert other not in str(await agent.call("list_pages", all=True))
        assert await persons.tabs() == before, "nothing was opened or closed"
        assert (await ana.post(wire.TABS_SHARE, **share))["error"]["code"] == "INVALID_REQUEST"


async def test_a_person_may_decline_and_an_agent_may_withdraw_and_both_leave_nothing(
    attached: RunningService, persons: Persons, site: Site
) -> None:
    async with attached.agent() as agent, attached.agent() as cli:
        ana = Ana(attached, cli)
        await agent.call("goto", pageId="mine", url=site.page("/", "mine"))
        before = await persons.tabs()
        asked = await agent.call("request_human", timeout=1, **ASKS)
        again = await agent.call("request_human", timeout=1, **ASKS)
        assert asked["requestId"] == again["requestId"], "they are asked once"
        other = await agent.error("request_human", timeout=1, kind="tab", message="Another one.")
        assert other["code"] == "HUMAN_IN_CONTROL"
        waiting = asyncio.create_task(agent.call("request_human", pageId="tab", requestId=asked["requestId"]))
        await become(lambda: bool(attached.running_calls()))
        await ana.post(f"{wire.REQUESTS}/{asked['requestId']}/resolve", state="refused", reason="Not today.")
        assert (await waiting)["observed"] == "A person declined: one of their own tabs. The reason: Not today."
        asked = await agent.call("request_human", timeout=1, pageId="invoice", **ASKS)
        await agent.call("request_human", pageId="invoice", requestId=asked["requestId"], withdraw=True)
        assert not {"tab", "invoice"} & {page.page_id for page in attached.parts.directory.pages()}
        assert await persons.tabs() == before
        wrong = await agent.error("request_human", pageId="mine", **ASKS)
        assert (wrong["code"], wrong["details"]["context"]["field"]) == ("VALIDATION_ERROR", "pageId")


async def test_a_request_for_a_tab_outlives_a_restart_of_the_service_and_any_share_of_a_tab_answers_it(
    persons: Persons, site: Site, tmp_path: Path
) -> None:
    await persons.open(site.page("/invoice", "Invoice"))
    before, settings = await persons.tabs(), settings_for(tmp_path / "data", cdp_url=persons.url)
    async with running_service(settings) as service, service.agent(client_id="chat") as agent:
        asked = await agent.call("request_human", timeout=1, **ASKS)
    async with (
        running_service(settings) as service,
        service.agent(client_id="chat") as agent,
        service.agent() as cli,
    ):
        ana = Ana(service, cli)
        waiting = asyncio.create_task(agent.reply("request_human", pageId="tab", requestId=asked["requestId"]))
        await become(lambda: service.session().live)
        await ana.post(wire.TABS_SHARE, tabId=await ana.tab_at(site.url("/invoice")))  # without its id
        assert (await waiting).json()["page"]["url"] == site.url("/invoice")
        assert await persons.tabs() == before


async def test_where_no_browser_is_attached_to_nobody_is_asked_for_a_tab(service: RunningService) -> None:
    async with service.agent() as agent:
        refused = await agent.error("request_human", **ASKS)
        assert ("browse-together attach" in refused["hint"], refused["code"]) == (True, "INVALID_REQUEST")
