"""Tests what outlives the service in a browser: logins, with the ones from before, and what a damaged profile had."""

from pathlib import Path

import pytest

from browse_together.contract.data_files import JOURNAL_FILE
from browse_together.contract.model import Json
from browse_together.contract.wire import DEFAULT_SESSION
from browser_service.quarantine import files_set_aside
from tests.front.service.test_restarts import LOGIN, cookies, journal_of, started, told
from tests.support.service import running_service, settings_for
from tests.support.site import Answer, Received, Site
from tests.support.waiting import become

pytestmark = pytest.mark.anyio


def cookie(name: str, value: str) -> Json:
    about: Json = {"domain": "127.0.0.1", "path": "/", "expires": -1, "httpOnly": False, "secure": False}
    return {"name": name, "value": value, "sameSite": "Lax", **about}


async def test_logins_that_cannot_be_used_give_way_to_those_from_before(tmp_path: Path) -> None:
    async with started(tmp_path) as (_, agent):
        for name in ("torn", "refused", "hopeless"):
            await agent.call("create_session", sessionId=name, persistent=True)
    bad: Json = {**cookie("bad", "x"), "sameSite": "Whatever"}
    good: Json = {"cookies": [cookie("a", "good")], "origins": []}
    mixed: Json = {"cookies": [cookie("a", "one of two"), bad], "origins": []}
    async with journal_of(tmp_path) as (journal, seal):
        for name in ("torn", "refused"):
            await journal.keep_state(name, seal.close(good))
        await journal.keep_state("torn", seal.close(mixed)[:-9])
        await journal.keep_state("refused", seal.close(mixed))
        await journal.keep_state("hopeless", seal.close(mixed))
    async with started(tmp_path) as (service, agent), service.agent("Late") as late:
        for name, value in (("torn", "good"), ("refused", "good"), ("hopeless", "one of two")):
            assert await cookies(agent, name) == {"a": value}, name
        said = told((await late.reply("list_pages")).json())
        assert 'session "torn" cannot be read' in said
        assert "'refused' has its logins from before" in said
        assert "'hopeless' has 1 of its cookies" in said
    async with journal_of(tmp_path) as (journal, seal):
        assert None in [seal.open(state) for state in await journal.states("torn")]  # kept, in spite of all


def _asks(received: Received) -> Answer:
    asked = Answer("", 401, headers={"WWW-Authenticate": "Basic realm=x"})
    return Answer("in") if "Authorization" in received.headers else asked


async def test_the_shared_login_has_its_session_cookies_and_logins_by_http_from_before(
    tmp_path: Path, site: Site
) -> None:
    asks = site.page("/asks", _asks)
    async with started(tmp_path) as (_, agent):
        await agent.call("goto", pageId="p", url=site.page("/", LOGIN))
        await agent.call("goto", pageId="p", url=asks, auth={"username": "ana", "password": "open sesame"})
    assert b"open sesame" not in (tmp_path / JOURNAL_FILE).read_bytes()
    async with journal_of(tmp_path) as (journal, _):
        (newest, *_) = await journal.states(DEFAULT_SESSION)
        await journal.keep_state(DEFAULT_SESSION, newest)
        await journal.keep_state(DEFAULT_SESSION, b"not what was sealed")
    async with started(tmp_path) as (_, agent):
        assert await cookies(agent, DEFAULT_SESSION) == {"token": "t1"}
        assert (await agent.call("goto", pageId="q", url=asks))["status"] == 200


STORE = """() => new Promise((done, failed) => {
  localStorage.setItem('who', 'ana');
  const opening = indexedDB.open('app', 3);
  opening.onupgradeneeded = () => opening.result.createObjectStore('notes', {keyPath: 'id'});
  opening.onerror = failed;
  opening.onsuccess = () => {
    const writing = opening.result.transaction('notes', 'readwrite');
    writing.objectStore('notes').put({id: 7, text: 'milk', at: new Date(0)});
    writing.oncomplete = () => done(opening.result.close());
  };
})"""
STORED = """() => new Promise((done, failed) => {
  const opening = indexedDB.open('app');
  opening.onerror = failed;
  opening.onsuccess = () => {
    const asked = opening.result.transaction('notes').objectStore('notes').get(7);
    asked.onerror = failed;
    asked.onsuccess = () => done([document.cookie, localStorage.getItem('who'), asked.result.text]);
  };
})"""


async def test_an_exported_session_goes_on_at_another_service(tmp_path: Path, site: Site) -> None:
    url = site.page("/", LOGIN)
    here, there = (running_service(settings_for(tmp_path / name)) for name in ("here", "there"))
    async with here as service, service.agent("Claude") as agent:
        await agent.call("create_session", sessionId="from")
        await agent.call("goto", pageId="p", sessionId="from", url=url)
        await agent.call("evaluate_script", pageId="p", expression=STORE)
        exported = await agent.call("export_session", sessionId="from")
        assert "not in it: sessionStorage" in exported["observed"]
        content = (await agent.http.get(f"/api/files/{exported['artifact']['artifactId']}")).text
    site.page("/", "no new cookie")
    async with there as service, service.agent("Claude") as agent:
        await agent.call("create_session", sessionId="to", persistent=True)
        await agent.call("open_page", pageId="own", sessionId="to")
        brought = await agent.call("import_login", sessionId="to", content=content)
        assert (brought["notBrought"], brought["brought"][0]["indexedDB"]) == ([], 1)
        await agent.call("goto", pageId="own", url=url)
        seen = await agent.call("evaluate_script", pageId="own", expression=STORED)
        assert seen["value"] == ["token=t1", "ana", "milk"]
        (refused,) = (await agent.call("import_login", content=content))["notBrought"]
        assert (refused["what"], "your own session" in refused["why"]) == ("IndexedDB", True)


async def test_logins_that_a_pages_script_stores_are_saved_too(tmp_path: Path, site: Site) -> None:
    later = "<script>setTimeout(() => localStorage.setItem('late', 'yes'), 700)</script>"
    settings = settings_for(tmp_path, save_every_ms=200)
    async with running_service(settings) as service, service.agent("Claude", client_id="chat") as agent:
        await agent.call("create_session", sessionId="kept", persistent=True)
        await agent.call("goto", pageId="p", sessionId="kept", url=site.page("/", later))
        await become(lambda: "late" in str(service.session("kept").logins.saved))


LASTING = Answer("<title>in</title>", headers={"set-cookie": "lasting=l1; Path=/; Max-Age=86400"})
REFUSES = """#!/bin/sh
for word; do case "$word" in --user-data-dir=*) if [ -e "${word#*=}/poison" ]; then exit 1; fi ;; esac; done
exec "%s" "$@"
"""


@pytest.mark.long
async def test_a_damaged_profile_is_set_aside_and_its_cookies_come_back(tmp_path: Path, site: Site) -> None:
    """First the file of its cookies, then all of it: a browser that does not start on it, but on an empty one."""
    async with started(tmp_path) as (service, agent):
        await agent.call("goto", pageId="p", url=site.page("/", LASTING))
        executable = service.host.launcher.starter.executable
    site.page("/", "no new cookie")
    profile = tmp_path / "profile"
    (profile / "Default" / "Cookies").write_bytes(b"no database" * 500)
    async with started(tmp_path) as (service, agent), service.agent("Late") as late:
        assert await cookies(agent, DEFAULT_SESSION) == {"lasting": "l1"}
        assert "cookies were damaged" in told((await late.reply("list_pages")).json())
        assert files_set_aside(profile / "Default")
    refuses = tmp_path / "refuses"
    refuses.write_text(REFUSES % executable, encoding="utf-8")
    refuses.chmod(0o700)
    (profile / "poison").touch()
    settings = settings_for(tmp_path, executable_path=refuses)
    async with running_service(settings) as service, service.agent("Claude", client_id="chat") as agent:
        assert await cookies(agent, DEFAULT_SESSION) == {"lasting": "l1"}
        async with service.agent("Late") as late:
            assert "did not start on its profile" in told((await late.reply("list_pages")).json())
        (aside,) = files_set_aside(tmp_path)
        assert (aside / "poison").exists()
