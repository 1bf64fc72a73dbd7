"""Tests that a data directory that version 0.1.0 left is opened, and what was in it goes on."""

import contextlib
import re
import sqlite3
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from cryptography.fernet import Fernet

from tests.support.service import Agent, RunningService, running_service, settings_for
from tests.support.site import Answer, Received, Site

pytestmark = pytest.mark.anyio

OLD = Path(__file__).with_name("old_journal.sql")
JOURNAL = "journal.sqlite3"
DOWNLOAD = "art-NBPRAYEsLcrF5B9w"


def written(data_dir: Path, site: Site) -> Path:
    """Make a directory with the old journal, the key of its encrypted values, and the file that it names."""
    key = Fernet.generate_key()
    (data_dir / "output").mkdir(parents=True)
    (data_dir / "state.key").write_bytes(key)
    (data_dir / "output" / "list.csv").write_bytes(b"a,b\n1,2\n")
    now = time.time()

    def filled(text: str) -> str:
        text = text.replace("{site}", site.url("").rstrip("/")).replace("{data}", str(data_dir))
        return re.sub(r'"ago (-?\d+)"', lambda found: str(now - int(found[1])), text)

    with contextlib.closing(sqlite3.connect(data_dir / JOURNAL)) as db:
        db.create_function("ago", 1, lambda seconds: now - seconds)
        db.create_function("filled", 1, filled)
        db.create_function("sealed", 1, lambda text: Fernet(key).encrypt(filled(text).encode()))
        db.executescript(OLD.read_text(encoding="utf-8"))
    return data_dir


def greeting(request: Received) -> Answer:
    known = "shop=ana" in request.headers.get("Cookie", "")
    return Answer(f"<h1>{'Hello Ana' if known else 'Log in'}</h1>")


@pytest.fixture(scope="module")
async def old(tmp_path_factory: pytest.TempPathFactory, shared_site: Site) -> AsyncIterator[RunningService]:
    data_dir = written(tmp_path_factory.mktemp("old") / "data", shared_site)
    async with running_service(settings_for(data_dir)) as service:
        yield service


@pytest.fixture(autouse=True)
def _pages(site: Site) -> None:
    for path in ("/cart", "/mail", "/desk", "/drive"):
        site.page(path, greeting)


@pytest.fixture
async def ana(old: RunningService) -> AsyncIterator[Agent]:
    async with old.agent("Claude · shop", client_id="chat-ana") as agent:
        yield agent


@pytest.fixture
async def ben(old: RunningService) -> AsyncIterator[Agent]:
    async with old.agent("Codex", client_id="chat-ben") as agent:
        yield agent


async def test_pages_keep_their_owners_holds_and_requests_to_people(ana: Agent, ben: Agent, site: Site) -> None:
    cart, desk = (await ana.call("list_pages"))["yours"]
    assert (cart["url"], desk["url"], desk["sessionId"]) == (site.url("/cart"), site.url("/desk"), "work")
    assert [page["pageId"] for page in (await ben.call("list_pages"))["yours"]] == ["mail", "drive"]
    refused = await ben.error("click", pageId="cart", selector="h1")
    assert (refused["code"], "asked for a code" in refused["message"]) == ("HUMAN_IN_CONTROL", True)
    await ana.call("request_human", pageId="cart", requestId="ask-08893c94", withdraw=True)
    refused = await ben.error("click", pageId="cart", selector="h1")
    assert (refused["code"], "waiting for a code" in refused["message"]) == ("PAGE_OWNED", True)
    assert (await ben.error("content", pageId="desk"))["code"] == "PAGE_OWNED"
    await ana.call("click", pageId="drive", selector="h1")


async def test_a_lasting_session_has_its_logins_storage_options_and_saved_states(ana: Agent) -> None:
    script = "[document.querySelector('h1').textContent, localStorage.seen, navigator.language, innerWidth]"
    seen = await ana.call("evaluate_script", pageId="desk", expression=script)
    assert seen["value"] == ["Hello Ana", "yes", "de-DE", 800]
    account = await ana.call("get_session", sessionId="work")
    assert (account["userId"], account["name"], account["requestCount"]) == ("ana", "Work", 9)
    await ana.call("restore_session_state", sessionId="work", name="before")
    cookies = (await ana.call("get_cookies", sessionId="work"))["cookies"]
    assert {cookie["name"] for cookie in cookies} == {"shop", "brief"}


async def test_the_shared_login_has_the_cookies_that_end_with_a_browser(ana: Agent) -> None:
    cookies = (await ana.call("get_cookies", sessionId="default"))["cookies"]
    assert "brief" in {cookie["name"] for cookie in cookies}


async def test_ended_sessions_and_closed_pages_are_known_as_such(ana: Agent, site: Site) -> None:
    passing, gone = [await ana.error("goto", pageId=name, url=site.url("/cart")) for name in ("passing", "gone")]
    assert (passing["code"], "ended with the service" in passing["message"]) == ("SESSION_NOT_FOUND", True)
    assert gone["code"] == "PAGE_NOT_FOUND"


async def test_files_records_and_refused_tokens_are_as_they_were(old: RunningService, ana: Agent, ben: Agent) -> None:
    (download,) = (await ana.call("list_downloads"))["downloads"]
    assert (download["name"], download["state"], download["file"]) == (
        "list.csv",
        "finished",
        f"/api/files/{DOWNLOAD}",
    )
    assert (await ana.http.get(download["file"])).content == b"a,b\n1,2\n"
    assert (await ben.http.get(download["file"])).status_code == 404
    theirs = (await ben.call("get_activity"))["activity"]
    assert "Claude · shop: hold_page" in theirs
    assert "clear_cookies" not in theirs, "that was in a session of another's own"
    assert "clear_cookies" in (await ana.call("get_activity"))["activity"]
    async with old.agent("Eve", client_id="chat-eve") as eve:
        assert (await eve.reply("list_pages")).status_code == 401


async def test_the_old_journal_has_the_tables_of_a_new_one(tmp_path: Path, old: RunningService) -> None:
    async with running_service(settings_for(tmp_path / "new")) as new:
        assert tables(old) == tables(new)


def tables(service: RunningService) -> set[str]:
    with contextlib.closing(sqlite3.connect(service.settings.data_dir / JOURNAL)) as db:
        return {" ".join(str(sql).split()) for (sql,) in db.execute("SELECT sql FROM sqlite_master WHERE sql NOT NULL")}
