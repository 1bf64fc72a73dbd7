"""Tests that the account is kept for as long as is set, over restarts and failures, and what is forgotten is gone."""

import asyncio
import contextlib
import sqlite3
from pathlib import Path

import pytest

from browse_together.contract import wire
from tests.support.account import forgotten, recorded
from tests.support.listening import connected, listening, sent
from tests.support.service import Agent, running_service, settings_for
from tests.support.sharing import StartService
from tests.support.site import Site
from tests.support.waiting import become

pytestmark = pytest.mark.anyio


def rows(data_dir: Path) -> int:
    """Return how many records are on disk."""
    with contextlib.closing(sqlite3.connect(data_dir / "journal.sqlite3")) as db:
        return int(db.execute("SELECT count(*) FROM activity").fetchone()[0])


# --- keeping it ------------------------------------------------------------------------------------------------------


async def test_records_survive_a_restart_and_their_numbers_go_on(tmp_path: Path, site: Site) -> None:
    settings = settings_for(tmp_path)
    async with running_service(settings) as service, service.agent("Claude", client_id="chat") as agent:
        await agent.call("goto", pageId="p", url=site.page("/", "x"))
    async with running_service(settings) as service, service.agent("Codex") as other:
        (kept,) = await recorded(other)
        assert (kept["client"], kept["action"], kept["you"]) == ("Claude", "goto", False)
        await other.call("goto", pageId="q", url=site.url("/"))
        assert [one["id"] for one in await recorded(other)] == [kept["id"] + 1, kept["id"]]


async def test_a_call_that_the_services_end_cut_off_is_recorded(tmp_path: Path, site: Site) -> None:
    async with running_service(settings_for(tmp_path)) as service, service.agent("Claude") as agent:
        await agent.call("goto", pageId="p", url=site.page("/", "x"))
        running = sent(agent, "long", "click", pageId="p", selector="#never", timeout=30_000)
        await become(lambda: "long" in [record.call_id for record in service.registered_calls()])
    await asyncio.gather(running, return_exceptions=True)
    async with running_service(settings_for(tmp_path)) as service, service.agent("Claude") as agent:
        newest = (await recorded(agent, limit=1))[0]
    assert (newest["action"], newest["callId"]) == ("click", "long")
    assert newest["outcome"] in {"UNKNOWN_OUTCOME", "CANCELLED"}


async def test_records_are_written_soon_after_the_replies(start: StartService, site: Site) -> None:
    service = await start()
    async with service.agent() as agent:
        await agent.call("goto", pageId="p", url=site.page("/", "x"))
    await become(lambda: rows(service.settings.data_dir) == 1)


async def test_a_journal_that_cannot_be_written_loses_nothing_once_it_can(start: StartService, site: Site) -> None:
    service = await start()
    journal = service.parts.artifacts.journal
    await journal.transact(lambda db: db.execute("PRAGMA busy_timeout = 0").fetchall())
    async with service.agent() as agent:
        await agent.call("goto", pageId="p", url=site.page("/", "x"))
        await recorded(agent)
        writer = sqlite3.connect(service.settings.data_dir / "journal.sqlite3", isolation_level=None)
        writer.execute("BEGIN IMMEDIATE")
        try:
            await agent.call("reload_page", pageId="p")
            assert [one["action"] for one in await recorded(agent)] == ["reload_page", "goto"]
        finally:
            writer.execute("ROLLBACK")
            writer.close()
        assert await service.parts.ledger.activity.flush()
        assert [one["action"] for one in await recorded(agent)] == ["reload_page", "goto"]


async def test_records_older_than_the_limit_are_removed(tmp_path: Path, site: Site) -> None:
    async with running_service(settings_for(tmp_path)) as service, service.agent("Claude") as agent:
        await agent.call("goto", pageId="old", url=site.page("/", "x"))
        await agent.call("goto", pageId="new", url=site.url("/"))
    with contextlib.closing(sqlite3.connect(tmp_path / "journal.sqlite3")) as db, db:
        db.execute("UPDATE activity SET at = at - 2.5 * 86400 WHERE page_id = 'old'")
    for days, kept in ((3, ["new", "old"]), (2, ["new"])):
        async with running_service(settings_for(tmp_path, activity_days=days)) as service:
            await service.parts.ledger.activity.clean(days)
            async with service.agent() as agent:
                assert [one["pageId"] for one in await recorded(agent)] == kept


async def test_the_number_of_records_is_bounded(
    start: StartService, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("browser_service.store.activity._MOST_ROWS", 3)
    service = await start()
    async with service.agent() as agent:
        await agent.call("goto", pageId="p", url=site.page("/", "<input id=a>"))
        for number in range(4):
            await agent.call("fill", pageId="p", selector="#a", value="x" * number)
        assert [one["arguments"]["value"] for one in await recorded(agent)] == [
            "(3 characters)",
            "(2 characters)",
            "(1 character)",
        ]


# --- forgetting ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("named", ["Claude", "claude", "chat-1"])
async def test_forgetting_removes_a_clients_records_and_leases_and_no_others(
    start: StartService, site: Site, named: str
) -> None:
    service = await start()
    url = site.page("/", "<button>Go</button>")
    async with (
        service.agent("Claude", client_id="chat-1") as agent,
        service.agent("Codex", client_id="chat-2") as other,
    ):
        await agent.call("goto", pageId="mine", url=url)
        await other.call("goto", pageId="theirs", url=url)
        assert (await other.error("click", pageId="mine", selector="button"))["code"] == "PAGE_OWNED"
        assert await forgotten(service, named) == {"records": 1, "notices": 0, "leases": 1}
        assert {one["client"] for one in await recorded(other)} == {"Codex"}
        await other.call("click", pageId="mine", selector="button")
        assert await forgotten(service, named) == {"records": 0, "notices": 0, "leases": 0}
    file = (service.settings.data_dir / "journal.sqlite3").read_bytes()
    assert b"Codex" in file
    with contextlib.closing(sqlite3.connect(service.settings.data_dir / "journal.sqlite3")) as db:
        assert db.execute("SELECT count(*) FROM activity WHERE client_id = 'chat-1'").fetchone() == (0,)


async def test_a_forgotten_client_is_named_on_no_page_that_it_left(start: StartService, site: Site) -> None:
    service = await start()
    async with (
        service.agent("Claude", client_id="chat-1") as agent,
        service.agent("Codex", client_id="chat-2") as other,
        service.agent("Cursor") as reader,
    ):
        for caller, page in ((agent, "released"), (agent, "held"), (other, "theirs")):
            await caller.call("goto", pageId=page, url=site.page("/", "x"))
        await agent.call("release_page", pageId="released")
        await other.call("release_page", pageId="theirs")
        await forgotten(service, "Claude")
        listed = {page["pageId"]: page for page in (await reader.call("list_pages", all=True))["others"]}
        assert {page: each.get("leftBy") for page, each in listed.items()} == {
            "released": None,
            "held": None,
            "theirs": "Codex",
        }
        kept = {page.page_id: page.left_by for page in await service.parts.journal.pages()}
        assert kept == {"released": "", "held": "", "theirs": "Codex"}


async def test_a_present_client_keeps_its_pages_when_its_records_are_forgotten(tmp_path: Path, site: Site) -> None:
    async with (
        listening(tmp_path) as service,
        connected(service, "chat", "Claude") as agent,
        agent.http.stream("GET", wire.EVENTS) as _,
    ):
        await become(lambda: service.is_present("chat"))
        await agent.call("goto", pageId="mine", url=site.page("/", "x"))
        assert await forgotten(service, "Claude") == {"records": 1, "notices": 0, "leases": 0}
        assert [page["pageId"] for page in (await agent.call("list_pages"))["yours"]] == ["mine"]


async def test_no_agent_can_remove_what_it_did(agent: Agent) -> None:
    reply = await agent.http.delete(wire.ACTIVITY, params={"client": agent.label})
    assert (reply.status_code, reply.json()["error"]["code"]) == (403, "FORBIDDEN")
    assert "browse-together forget" in reply.json()["error"]["hint"]
