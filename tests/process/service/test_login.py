"""Tests the shared login: it survives restarts and crashes, is shared by all, and is a secret at rest."""

import stat
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from browse_together.contract.data_files import KEY_FILE
from browse_together.contract.wire import DEFAULT_SESSION, SECRET_FILE
from browser_service.host.sessions import processes as endings
from browser_service.host.sessions import session
from browser_service.security.seal import Seal
from browser_service.store.journal import Journal
from tests.support import processes
from tests.support.service import Agent, RunningService, running_service, settings_for
from tests.support.site import Answer, Received, Site
from tests.support.waiting import become, found

pytestmark = [pytest.mark.anyio, pytest.mark.whole_browser]

SESSION_COOKIE = "s3ss10n-c00k13-v4lu3"
LOGIN = "localStorage.setItem('theme', 'dark'); indexedDB.open('db')"


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def shop(site: Site) -> Site:
    """Serve a site with a login: `/login` sets its cookies, `/` shows who is signed in."""
    cookies = {"Set-Cookie": f"sid={SESSION_COOKIE}; HttpOnly; Path=/"}
    site.page("/login", Answer(f"<title>in</title><script>{LOGIN}</script>", headers=cookies))
    keep = {"Set-Cookie": "keep=me; Max-Age=86400; Path=/"}
    site.page("/remember", Answer("<title>remembered</title>", headers=keep))

    def home(received: Received) -> Answer:
        cookie = received.headers.get("Cookie", "")
        who = "logged in" if f"sid={SESSION_COOKIE}" in cookie else "a stranger"
        return Answer(f"<title>shop</title><h1>{who}</h1><p>{'keep=me' in cookie}</p><input id=a><button>b</button>")

    site.page("/", home)
    return site


async def log_in(agent: Agent, shop: Site) -> None:
    await agent.call("goto", pageId="shop", url=shop.url("/login"))
    await agent.call("goto", pageId="shop", url=shop.url("/remember"))
    await agent.call("goto", pageId="shop", url=shop.url("/"))


async def seen(agent: Agent, page_id: str) -> tuple[str, str, str | None]:
    """Return whether the site knows us, whether it remembers us, and what its localStorage has."""
    script = "[document.querySelector('h1').innerText, document.querySelector('p').innerText, localStorage.theme]"
    login, remembered, theme = (await agent.call("evaluate_script", pageId=page_id, expression=script))["value"]
    return login, remembered, theme


async def cookies_are_saved(service: RunningService, holds: Callable[[str], bool]) -> None:
    """Wait until the cookies in the journal are as they should be."""
    data_dir = service.settings.data_dir
    journal = Journal(data_dir / "journal.sqlite3")

    async def saved() -> str:
        (sealed, *_) = await journal.states(DEFAULT_SESSION) or [b""]
        return str(Seal(data_dir).open(sealed)) if sealed else ""

    await journal.open()
    try:
        await found(saved, holds)
    finally:
        await journal.close()


async def cookie_is_saved(service: RunningService, name: str) -> None:
    await cookies_are_saved(service, lambda cookies: f"'name': '{name}'" in cookies)


def local_storage_is_written(data_dir: Path) -> bool:
    """Return whether Chromium has written the local storage, which it does within some 5 s."""
    files = (data_dir / "profile" / "Default" / "Local Storage" / "leveldb").glob("*.log")
    return any(b"dark" in file.read_bytes() for file in files)


async def test_a_login_and_then_a_logout_survive_the_browsers_sudden_end(data_dir: Path, shop: Site) -> None:
    """What the site took away does not come back from what was saved."""
    shop.page("/logout", Answer("<title>out</title>", headers={"Set-Cookie": "sid=; Max-Age=0; Path=/"}))
    async with running_service(settings_for(data_dir)) as service, service.agent() as agent:
        await log_in(agent, shop)
        await cookie_is_saved(service, "sid")
        await cookie_is_saved(service, "keep")
        await processes.kill(processes.browser(data_dir))
        await agent.call("reload_page", pageId="shop")
        assert (await seen(agent, "shop"))[:2] == ("logged in", "True")
        await agent.call("goto", pageId="shop", url=shop.url("/logout"))
        await cookies_are_saved(service, lambda cookies: "'name': 'sid'" not in cookies)
        await processes.kill(processes.browser(data_dir))
        await agent.call("goto", pageId="shop", url=shop.url("/"))
        assert (await seen(agent, "shop"))[0] == "a stranger"


@pytest.mark.long
async def test_what_a_site_stored_is_there_after_the_browsers_sudden_end(data_dir: Path, shop: Site) -> None:
    async with running_service(settings_for(data_dir)) as service, service.agent() as agent:
        await log_in(agent, shop)
        await become(lambda: local_storage_is_written(data_dir))
        await processes.kill(processes.browser(service.settings.data_dir))
        await agent.call("reload_page", pageId="shop")
        assert (await seen(agent, "shop"))[2] == "dark"


def journal_files(data_dir: Path) -> list[Path]:
    return list(data_dir.glob("journal.sqlite3*"))


async def test_the_login_survives_a_stop_is_unreadable_at_rest_and_goes_with_its_key_and_nothing_else_does(
    data_dir: Path, shop: Site
) -> None:
    async with running_service(settings_for(data_dir)) as service, service.agent(client_id="chat") as agent:
        await log_in(agent, shop)
        assert await seen(agent, "shop") == ("logged in", "True", "dark")
        await cookie_is_saved(service, "sid")
        files = journal_files(data_dir)
        assert {file.name for file in files} >= {"journal.sqlite3", "journal.sqlite3-wal"}
        assert all(SESSION_COOKIE.encode() not in file.read_bytes() for file in files)
        assert service.secret.encode() not in b"".join(file.read_bytes() for file in files)
    assert SESSION_COOKIE.encode() not in (data_dir / "journal.sqlite3").read_bytes()
    for secret in (data_dir / SECRET_FILE, data_dir / KEY_FILE, *journal_files(data_dir)):
        assert stat.S_IMODE(secret.stat().st_mode) == 0o600, secret
    for directory in (data_dir, data_dir / "profile"):
        assert stat.S_IMODE(directory.stat().st_mode) == 0o700, directory
    for login in ("logged in", "a stranger"):
        async with running_service(settings_for(data_dir)) as service, service.agent(client_id="chat") as agent:
            await agent.call("goto", pageId="shop", url=shop.url("/"))
            assert await seen(agent, "shop") == (login, "True", "dark")
        (data_dir / KEY_FILE).unlink()


async def test_two_clients_pages_share_the_login(agent: Agent, other: Agent, shop: Site) -> None:
    await log_in(agent, shop)
    await other.call("goto", pageId="mine", url=shop.url("/"))
    assert await seen(other, "mine") == ("logged in", "True", "dark")
    await agent.call("clear_cookies", affectOthers=True)  # of the service that other tests use, too


async def test_each_page_has_a_window_of_its_own_so_that_none_waits_behind_another(
    service: RunningService, agent: Agent, site: Site
) -> None:
    """Behind another tab a click takes some 2 s, because no frames are drawn for it."""
    url = site.page("/", "<button onclick='this.innerText = +this.innerText + 1'>0</button>")
    pages = ["one", "two", "three"]
    for page_id in pages:
        await agent.call("goto", pageId=page_id, url=url)
    seconds = []
    for _ in range(3):
        for page_id in pages:
            began = time.monotonic()
            await agent.call("click", pageId=page_id, selector="button")
            seconds.append(time.monotonic() - began)
    assert sorted(seconds)[len(seconds) // 2] < 1, seconds
    for page_id in pages:
        shown = await agent.call("evaluate_script", pageId=page_id, expression="document.body.innerText")
        assert shown["value"] == "3"
    assert len({await window_of(service, page_id) for page_id in pages}) == 3


async def window_of(service: RunningService, page_id: str) -> int:
    page = service.window(page_id)
    session = await page.context.new_cdp_session(page)
    found = await session.send("Browser.getWindowForTarget")
    await session.detach()
    return int(found["windowId"])


@pytest.mark.long
async def test_a_service_that_stops_while_its_browser_is_frozen_still_stops(
    data_dir: Path, shop: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endings, "_WRITES_WITHIN_S", 2)
    monkeypatch.setattr(session, "_HANGS_AFTER_S", 2)
    async with running_service(settings_for(data_dir)) as service, service.agent() as agent:
        await agent.call("goto", pageId="shop", url=shop.url("/"))
        frozen = processes.browser(data_dir)
        frozen.suspend()
    await become(lambda: processes.browsers(data_dir) == [])
