"""Tests restarts: pages come back as they were, with new revisions, holds, requests to people and sessions, without
their key or with it; and a failing journal costs nobody a reply."""

import asyncio
import contextlib
import itertools
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from browse_together.contract.data_files import JOURNAL_FILE, KEY_FILE
from browse_together.contract.wire import DEFAULT_SESSION
from browser_service.security.seal import Seal
from browser_service.store.journal import MOST_CLOSED_PAGES, ClosedPage, Journal
from tests.support.service import Agent, RunningService, running_service, settings_for
from tests.support.site import Answer, Site
from tests.support.waiting import PATIENCE_S, become

pytestmark = pytest.mark.anyio

LOGIN = Answer("<title>in</title>", headers={"set-cookie": "token=t1; Path=/"})


@contextlib.asynccontextmanager
async def started(data_dir: Path) -> AsyncIterator[tuple[RunningService, Agent]]:
    """Start a service on this data directory, with the client that comes back each time."""
    async with running_service(settings_for(data_dir)) as service, service.agent("Claude", client_id="chat") as agent:
        yield service, agent


@contextlib.asynccontextmanager
async def locked(service: RunningService) -> AsyncIterator[None]:
    """Lock the journal's file as another process does that writes to it, so that the service's writes fail at once."""
    journal = service.parts.artifacts.journal
    await journal.transact(lambda db: db.execute("PRAGMA busy_timeout = 0").fetchall())
    writer = sqlite3.connect(service.settings.data_dir / "journal.sqlite3", isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        writer.execute("ROLLBACK")
        writer.close()


@contextlib.asynccontextmanager
async def journal_of(data_dir: Path) -> AsyncIterator[tuple[Journal, Seal]]:
    """Open the journal of a service that does not run."""
    journal = Journal(data_dir / JOURNAL_FILE)
    await journal.open()
    try:
        yield journal, Seal(data_dir)
    finally:
        await journal.close()


def told(reply: dict[str, object]) -> str:
    """Return all notices of a reply."""
    return " ".join(str(notice["text"]) for notice in reply["notices"])  # type: ignore[attr-defined] # a reply is JSON


async def cookies(agent: Agent, session_id: str) -> dict[str, str]:
    await agent.call("open_page", sessionId=session_id)  # which may take the browser's start
    found = await agent.call("get_cookies", sessionId=session_id)
    return {cookie["name"]: cookie["value"] for cookie in found["cookies"]}


async def kept_now(service: RunningService) -> dict[str, str]:
    """Return the pages that a restarted service would find, with their URLs."""
    return {page.page_id: page.url for page in await service.parts.artifacts.journal.pages()}


# --- pages that wait to be opened ------------------------------------------------------------------------------------


async def test_pages_come_back_at_their_urls_with_their_owners_and_match_no_revision_from_before(
    tmp_path: Path, site: Site
) -> None:
    site.page("/shop", Answer("<title>shop</title><input id=a><button>b</button>"))
    url = site.url("/shop?step=2#pay")
    async with started(tmp_path) as (service, first), service.agent("Codex", client_id="other") as second:
        await first.call("goto", pageId="cart", url=url)
        await first.call("fill", pageId="cart", selector="#a", value="x")
        before = (await first.reply("get_current_url", pageId="cart")).json()["page"]["revision"]
        await second.call("goto", pageId="closed", url=url)
        await second.call("close_page", pageId="closed")
        await second.call("goto", url=url)
    visits = site.counts["/shop"]
    async with started(tmp_path) as (service, first), service.agent("Codex", client_id="other") as second:
        (mine,) = (await first.call("list_pages"))["yours"]
        assert (mine["pageId"], mine["url"], mine["title"]) == ("cart", url, "shop")
        assert [page["pageId"] for page in (await second.call("list_pages"))["yours"]] == ["main"]
        assert site.counts["/shop"] == visits, "a page comes back when it is used, not before"
        assert (await second.error("click", pageId="cart", selector="button"))["code"] == "PAGE_OWNED"
        for revision in (before, before + 1):
            stale = await first.error("click", pageId="cart", selector="button", ifRevision=revision)
            assert stale["code"] == "STALE_REVISION"
        reply = (await first.reply("click", pageId="cart", selector="button")).json()
        assert reply["success"] is True
        page = reply["page"]
        assert (page["url"], page["owner"], page["revision"] > before) == (url, {"label": "Claude", "you": True}, True)
        (notice,) = reply["notices"]
        assert notice["text"].startswith(f"cart was reopened at {url}; what was typed and not sent is lost, and so are")


async def test_a_foreign_tab_is_not_given_to_the_holder_of_a_page_that_is_not_open_yet(
    tmp_path: Path, site: Site
) -> None:
    async with started(tmp_path) as (_, agent):
        await agent.call("goto", pageId="parked", url=site.page("/", "<h1>Here</h1>"))
    async with started(tmp_path) as (service, _), service.agent("Codex") as other:
        await other.call("goto", pageId="theirs", url=site.url("/"))
        await service.context().new_page()
        await become(lambda: len(service.known_pages()) == 3)
        listed = await other.call("list_pages")
        (tab,) = [page for page in listed["people"] if page["pageId"] not in {"parked", "theirs"}]
        assert (tab["pageId"], tab["owner"]) == (f"{DEFAULT_SESSION}~1", None)
        await other.call("goto", pageId=tab["pageId"], url=site.url("/"))


async def test_how_often_and_when_a_lasting_session_was_used_is_known_after_a_restart(
    tmp_path: Path, site: Site
) -> None:
    url = site.page("/", "<h1>Here</h1>")

    async def accounts(agent: Agent) -> list[dict[str, object]]:
        return [await agent.call("get_session", sessionId=each) for each in (DEFAULT_SESSION, "kept")]

    async with started(tmp_path) as (_, agent):
        await agent.call("create_session", sessionId="kept", persistent=True)
        await agent.call("goto", pageId="mine", sessionId="kept", url=url)
        await agent.call("goto", pageId="p", url=url)
        await agent.error("click", pageId="p", selector="#none", timeout=1)
        before = await accounts(agent)
    assert [(each["requestCount"], each["errorCount"]) for each in before] == [(2, 1), (1, 0)]
    assert [each["userId"] for each in before] == [DEFAULT_SESSION, ""]
    async with started(tmp_path) as (_, agent):
        after = await accounts(agent)
        for name in ("requestCount", "errorCount", "createdAt", "lastAccessedAt"):
            assert [each[name] for each in after] == [each[name] for each in before], name
        await agent.call("goto", pageId="p", url=url)
        now = (await accounts(agent))[0]
        assert (now["requestCount"], now["lastAccessedAt"] > before[0]["lastAccessedAt"]) == (3, True)  # type: ignore[operator] # both are text


async def test_pages_of_sessions_of_ones_own_do_not_come_back_in_the_shared_login(tmp_path: Path, site: Site) -> None:
    url = site.page("/", "<h1>Here</h1>")
    async with started(tmp_path) as (_, agent):
        for session_id, persistent in (("brief", False), ("lasting", True)):
            await agent.call("create_session", sessionId=session_id, persistent=persistent)
            await agent.call("goto", pageId=f"in-{session_id}", sessionId=session_id, url=url)
        await agent.call("close_page", pageId="in-lasting")
    for _ in range(2):  # the second service knows it from the first, which never opened that session
        async with started(tmp_path) as (service, agent), service.agent("Claude") as later:
            for each in (agent, later):
                errors = [await each.error("goto", pageId=f"in-{name}", url=url) for name in ("brief", "lasting")]
                assert [error["code"] for error in errors] == ["SESSION_NOT_FOUND", "PAGE_NOT_FOUND"]
                assert "ended with the service" in errors[0]["message"]
    async with started(tmp_path) as (service, agent):
        await agent.call("goto", pageId="in-brief", sessionId="default", url=url)
        await agent.call("close_page", pageId="in-brief")
    async with started(tmp_path) as (service, agent):
        await agent.call("goto", pageId="in-brief", url=url)
        for number in range(2_000):
            closed = ClosedPage(page_id=f"p{number}", session_id="s", known_to=[])
            service.parts.directory.closed.add(closed)
        known = service.parts.directory.closed
        assert (len(known), known.get("in-lasting")) == (MOST_CLOSED_PAGES, None)


async def test_a_revision_after_restarts_is_never_one_that_the_page_had_before(tmp_path: Path, site: Site) -> None:
    url = site.page("/", "<input id=a>")

    async def listed(agent: Agent) -> int:
        return int((await agent.call("list_pages"))["yours"][0]["revision"])

    async def filled(agent: Agent) -> int:
        reply = (await agent.reply("fill", pageId="p", selector="#a", value="x")).json()
        assert reply["success"] is True, reply
        return int(reply["page"]["revision"])

    runs: list[list[int]] = []
    async with started(tmp_path) as (_, agent):
        await agent.call("goto", pageId="p", url=url)
        runs.append([await listed(agent), *[await filled(agent) for _ in range(3)]])
    async with started(tmp_path) as (_, agent):
        runs.append([await listed(agent)])
    async with started(tmp_path) as (_, agent):
        runs.append([await listed(agent), await filled(agent)])
    for before, after in itertools.pairwise(runs):
        assert max(before) < min(after), runs


# --- what lasts ------------------------------------------------------------------------------------------------------


async def test_without_its_key_a_session_is_kept_and_comes_back_with_it(tmp_path: Path, site: Site) -> None:
    key = tmp_path / KEY_FILE
    async with started(tmp_path) as (_, agent):
        await agent.call("create_session", sessionId="kept", persistent=True)
        await agent.call("goto", pageId="in", sessionId="kept", url=site.page("/", LOGIN))
        await agent.call("create_session", sessionId="copy", persistent=True, **{"from": "kept"})
    lost = key.read_bytes()
    key.write_text("this is no key", encoding="utf-8")
    async with started(tmp_path) as (service, agent):
        said = told((await agent.reply("list_pages")).json())
        assert f"{KEY_FILE}.damaged-" in said
        assert "2 sessions cannot be read" in said
        assert "kept" not in service.known_sessions()
        assert (await agent.error("create_session", sessionId="kept"))["code"] == "VALIDATION_ERROR"
    key.write_bytes(lost)
    async with started(tmp_path) as (_, agent):
        for session in ("kept", "copy"):
            assert await cookies(agent, session) == {"token": "t1"}
        pages = {page["pageId"]: page["url"] for page in (await agent.call("list_pages"))["yours"]}
        assert pages["in"] == site.url("/")


async def test_holds_privacy_and_guards_continue_for_their_remaining_time(tmp_path: Path, site: Site) -> None:
    url = site.page("/", "<h1>Here</h1>")
    mail, form = site.page("/mail", "<p>Your code: K7Q2-9XVB-44TD</p>"), site.page("/other", "<input id=code>")
    async with started(tmp_path) as (_, agent):
        for page_id in ("held", "over", "mine"):
            await agent.call("goto", pageId=page_id, url=url)
        await agent.call("hold_page", pageId="held", reason="waiting for a code", minutes=30)
        await agent.call("hold_page", pageId="over", reason="a moment", minutes=1)
        await agent.call("share_page", pageId="mine", access="private")
        await agent.call("create_session", sessionId="safe", guarded=True, persistent=True)
        await agent.call("goto", pageId="mail", sessionId="safe", url=mail)
    ten_minutes_ago = "UPDATE pages SET kept_at = kept_at - 600"
    async with journal_of(tmp_path) as (journal, _):
        await journal.transact(lambda db: db.execute(ten_minutes_ago))
    async with started(tmp_path) as (service, agent), service.agent("Codex") as other:
        listed = {page["pageId"]: page for page in (await agent.call("list_pages"))["yours"]}
        assert 19 * 60_000 < listed["held"]["heldMsMore"] <= 20 * 60_000
        assert listed["held"]["heldFor"] == "waiting for a code"
        assert "heldFor" not in listed["over"]
        assert listed["mine"]["access"] == "private"
        assert (await other.error("content", pageId="mine"))["code"] == "PAGE_OWNED"
        sessions = (await agent.call("list_sessions"))["sessions"]
        assert [each["guarded"] for each in sessions if each["sessionId"] == "safe"] == [True]
        await agent.call("snapshot", pageId="mail")
        steps = [{"action": "goto", "url": form.replace("127.0.0.1", "localhost")}]
        assert (await agent.error("batch", pageId="mail", steps=steps))["code"] == "FORBIDDEN"


def asked_at(service: RunningService, page_id: str) -> str:
    page = service.known_page(page_id)
    return page.person.request_id if page and page.person else ""


async def test_a_request_to_a_person_stays_open_across_a_restart(tmp_path: Path, site: Site) -> None:
    url = site.page("/", "<h1>Sign in</h1>")
    async with started(tmp_path) as (service, agent):
        await agent.call("goto", pageId="p", url=url)
        waits = asyncio.create_task(agent.reply("request_human", pageId="p", kind="login", message="Sign in."))
        await become(lambda: bool(asked_at(service, "p")))
        request_id = asked_at(service, "p")
        await service.host.stop()
        error = (await waits).json()["error"]
        assert (error["code"], error["details"]["context"]["ending"]) == ("SERVICE_UNAVAILABLE", True)
    async with started(tmp_path) as (service, agent), service.agent("Codex") as other:
        assert (await other.error("click", pageId="p", selector="h1"))["code"] == "HUMAN_IN_CONTROL"
        asked = (await agent.http.get("/api/requests")).json()["result"]["requests"]
        assert [one["requestId"] for one in asked] == [request_id]
        again = {"pageId": "p", "kind": "login", "message": "Sign in."}
        waits = asyncio.create_task(agent.reply("request_human", headers={"X-Browse-Attempt": "2"}, **again))
        people = service.host.people
        await become(lambda: people.requests[request_id].waiting["chat"])
        async with service.agent(operator=True) as person:
            resolved = await person.http.post(f"/api/requests/{request_id}/resolve", json={"state": "done"})
        assert resolved.json()["success"]
        assert (await waits).json()["result"]["state"] == "done"
        await agent.call("click", pageId="p", selector="h1")


# --- a journal that fails --------------------------------------------------------------------------------------------


async def test_a_journal_that_cannot_be_written_costs_no_call_its_reply_and_is_written_later(
    tmp_path: Path, site: Site
) -> None:
    site.page("/new", "<h1>New</h1>")
    async with started(tmp_path) as (service, agent):
        await agent.call("goto", pageId="old", url=site.page("/", "<h1>Here</h1>"))
        await agent.call("goto", pageId="closed", url=site.url("/"))
        async with locked(service):
            async with asyncio.timeout(PATIENCE_S):
                reply = (await agent.reply("goto", pageId="new", url=site.url("/new"))).json()
                await agent.call("close_page", pageId="closed")
                assert {page["pageId"] for page in (await agent.call("list_pages"))["yours"]} == {"old", "new"}
            assert (reply["success"], reply["page"]["pageId"]) == (True, "new")
            assert set(await kept_now(service)) == {"old", "closed"}
        await agent.call("click", pageId="old", selector="h1")
        assert await kept_now(service) == {"old": site.url("/"), "new": site.url("/new")}
    async with started(tmp_path) as (_, agent):
        pages = {page["pageId"]: page["url"] for page in (await agent.call("list_pages"))["yours"]}
        assert pages == {"old": site.url("/"), "new": site.url("/new")}
        await agent.call("click", pageId="new", selector="h1")
