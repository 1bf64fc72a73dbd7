"""Tests pages that ask for a passkey where a person sees the browser's question: they are named while they wait."""

import json

import pytest

from tests.page.actions.test_passkeys import CREATE, REFUSED, asking
from tests.process.service.test_own_chrome import attach
from tests.support.json import AnyJson
from tests.support.persons_chrome import PersonsChrome
from tests.support.screen import screen
from tests.support.sharing import StartService
from tests.support.site import Site

pytestmark = [pytest.mark.anyio, pytest.mark.whole_browser]

WAITS = (
    "the page waits for a passkey, which only its owner has, and no click or key reaches it until then: "
    'request_human {"kind": "login", "message": "..."}'
)


def teas(site: Site) -> str:
    """Serve a page that asks for a passkey, and that gives its wait up when a script says so. Returns its URL."""
    asks = asking(CREATE.replace("({", "({signal: giving.signal, "), "let giving = new AbortController();")
    site.page("/teas", asks)
    return site.url("/teas", "localhost")


async def test_a_page_is_named_until_its_wait_ends(
    start: StartService, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    with screen() as display:
        monkeypatch.setenv("DISPLAY", display)
        service = await start(headless=False)
        async with service.agent() as agent:

            async def call(action: str, **given: AnyJson) -> str:
                return json.dumps(await agent.call(action, pageId="p", **given)).replace('\\"', '"')

            await call("goto", url=teas(site))
            assert WAITS in await call("click", selector="#b")
            assert WAITS in await call("snapshot")
            assert WAITS in await call("click", selector="#b")
            await call("evaluate_script", expression="giving.abort()")
            assert "AbortError" in (given_up := await call("snapshot"))
            assert "passkey" not in given_up
            await call("evaluate_script", expression="giving = new AbortController()")
            assert WAITS in await call("click", selector="#b")
            assert "passkey" not in await call("goto", url=site.page("/other", "<p>other</p>"))
            assert "passkey" not in await call("snapshot")


async def test_a_browser_that_refuses_because_its_person_is_not_at_the_page_is_told(
    start: StartService, chrome: PersonsChrome, site: Site
) -> None:
    service = await start()
    await attach(service, chrome)
    async with service.agent() as agent:
        await agent.call("goto", pageId="p", sessionId="chrome", url=teas(site))
        assert REFUSED in (await agent.call("click", pageId="p", selector="#b"))["observed"]


async def test_a_frame_of_another_site_is_named_until_it_goes(
    start: StartService, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    allow = "publickey-credentials-create; publickey-credentials-get"
    with screen() as display:
        monkeypatch.setenv("DISPLAY", display)
        service = await start(headless=False)
        async with service.agent() as agent:
            await agent.call("goto", pageId="p", url=site.page("/shop", f"<iframe allow='{allow}' src={teas(site)}>"))
            assert "waits for a passkey" in str(await agent.call("click", pageId="p", selector="#b", frame="iframe"))
            assert "waits for a passkey" in str(await agent.call("snapshot", pageId="p"))
            gone = "document.querySelector('iframe').remove()"
            await agent.call("evaluate_script", pageId="p", expression=gone)
            assert "passkey" not in str(await agent.call("snapshot", pageId="p"))
