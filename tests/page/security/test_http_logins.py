"""Tests sites with HTTP authentication: who learns what they want, who gets the name and password, and who sees
them."""

import base64
import json
from collections.abc import Callable, Iterator

import pytest

from browse_together.contract.named_secrets import NamedSecret
from tests.support.json import AnyJson
from tests.support.service import Agent, RunningService
from tests.support.site import Answer, Received, Site

pytestmark = pytest.mark.anyio

AUTH = {"username": "ana", "password": "pass:w@rd"}
USERINFO = "ana:pass%3Aw%40rd@"


def _given(received: Received) -> str:
    kind, _, value = received.headers.get("Authorization", "").partition(" ")
    return base64.b64decode(value).decode() if kind == "Basic" else ""


def _asks(body: str = "<title>Inside</title><h1>Inside</h1>", login: str = "ana:pass:w@rd") -> Callable[..., Answer]:
    def answer(received: Received) -> Answer:
        if _given(received) == login:
            return Answer(body)
        return Answer("<h1>Keep out</h1>", 401, headers={"WWW-Authenticate": 'Basic realm="The shop"'})

    return answer


@pytest.fixture
def shop() -> Iterator[Site]:
    """Return a site of its own, whose login no other test has given to the shared browser."""
    with Site() as site:
        site.page("/", _asks())
        yield site


def _seen(site: Site) -> set[str]:
    return {_given(each) for each in site.received} - {""}


async def test_the_error_says_what_the_site_wants_and_which_call_gives_it(agent: Agent, shop: Site) -> None:
    error = await agent.error("goto", pageId="p", url=shop.url())
    origin = shop.url("").rstrip("/")
    assert error["code"] == "LOGIN_REQUIRED"
    assert error["message"] == f"{origin} asks for a name and a password by HTTP (Basic, realm 'The shop')."
    assert '"auth": {"username": "...", "password": "..."}' in error["hint"]
    assert '"kind": "login"' in error["hint"]
    assert (await agent.call("get_current_url", pageId="p"))["url"] == shop.url()
    assert "Keep out" in json.dumps(await agent.call("snapshot", pageId="p"))
    shop.page("/", Answer("", 401, headers={"WWW-Authenticate": "Basic realm=''"}))
    assert (await agent.error("goto", pageId="p", url=shop.url()))["code"] == "LOGIN_REQUIRED"


async def test_a_visit_right_after_a_401_without_a_body_is_not_interrupted(agent: Agent, shop: Site) -> None:
    empty = Answer("", 401, headers={"WWW-Authenticate": "Basic realm=''"})
    shop.page("/", empty)
    shop.page("/other", "there")
    for number in range(4):
        page = f"p{number}"
        assert (await agent.error("goto", pageId=page, url=shop.url()))["code"] == "LOGIN_REQUIRED"
        assert (await agent.call("goto", pageId=page, url=shop.url("/other")))["status"] == 200


async def test_credentials_are_kept_for_the_origin_and_what_it_loads(agent: Agent, shop: Site) -> None:
    shop.page("/open", "<h1>Open</h1>")
    shop.page("/api", _asks("the answer"))
    opened = await agent.call("goto", pageId="p", url=shop.url("/open"), auth=AUTH)
    assert "HTTP 200" in opened["observed"]
    fetched = await agent.call("evaluate_script", pageId="p", expression="fetch('/api').then(r => r.text())")
    assert fetched["value"] == "the answer"
    await agent.call("open_page", pageId="q", url=shop.url())
    assert "Inside" in json.dumps(await agent.call("snapshot", pageId="q"))


async def test_refused_credentials_are_not_kept(agent: Agent, shop: Site) -> None:
    error = await agent.error("goto", pageId="p", url=shop.url(), auth={"username": "ana", "password": "wrong"})
    assert "and refused those that it was given" in error["message"]
    assert "refused" not in (await agent.error("goto", pageId="p", url=shop.url()))["message"]
    assert (await agent.call("goto", pageId="p", url=shop.url(), auth=AUTH))["status"] == 200
    await agent.error("goto", pageId="p", url=shop.url(), auth={"username": "ana", "password": "wrong"})
    assert (await agent.call("goto", pageId="p", url=shop.url()))["status"] == 200


async def test_another_login_takes_the_place_of_the_first(agent: Agent, shop: Site) -> None:
    shop.page("/who", lambda received: Answer(_given(received)) if _given(received) else _asks()(received))
    for name in ("ana", "bob"):
        auth = {"username": name, "password": "pw"}
        await agent.call("goto", pageId="p", url=shop.url("/who"), auth=auth)
        assert (await agent.call("content", pageId="p", format="text"))["content"] == f"{name}:pw"
    assert (await agent.call("get_current_url", pageId="p"))["url"] == shop.url("/who")


async def test_clearing_the_cookies_of_a_site_removes_its_login_which_can_be_restored(agent: Agent, shop: Site) -> None:
    await agent.call("goto", pageId="p", url=shop.url(), auth=AUTH)
    cleared = await agent.call("clear_cookies", domain="127.0.0.1", affectOthers=True)
    assert "; the logins by HTTP at " in cleared["observed"]
    assert shop.url("").rstrip("/") in cleared["observed"]
    for _ in range(2):
        error = await agent.error("goto", pageId="p", url=shop.url())
        assert (error["code"], "refused" in error["message"]) == ("LOGIN_REQUIRED", False)
    restored = await agent.call("restore_session_state", name=cleared["kept"], affectOthers=True)
    assert "signed in again by HTTP at" in restored["observed"]
    assert (await agent.call("goto", pageId="p", url=shop.url()))["status"] == 200


async def test_a_site_that_asks_for_a_digest_is_signed_in_to(agent: Agent, shop: Site) -> None:
    def answer(received: Received) -> Answer:
        if received.headers.get("Authorization", "").startswith('Digest username="ana"'):
            return Answer("<h1>Inside</h1>")
        return Answer("out", 401, headers={"WWW-Authenticate": 'Digest realm="The shop", nonce="abc", qop="auth"'})

    shop.page("/digest", answer)
    error = await agent.error("goto", pageId="p", url=shop.url("/digest"))
    assert "by HTTP (Digest, realm 'The shop')" in error["message"]
    assert (await agent.call("goto", pageId="p", url=shop.url("/digest"), auth=AUTH))["status"] == 200
    assert (await agent.call("goto", pageId="q", url=shop.url("/digest")))["status"] == 200


async def test_no_other_origin_gets_the_credentials(agent: Agent, shop: Site) -> None:
    with Site() as other:
        for path in ("/", "/frame", "/api"):
            other.page(path, _asks())
        shop.page("/redirect", Answer("", 302, headers={"Location": other.url()}))
        for url in (shop.url("/redirect"), other.url(), shop.url("/", host="localhost")):
            await agent.call("goto", pageId="p", url=shop.url(), auth=AUTH)
            assert (await agent.error("goto", pageId="p", url=url))["code"] == "LOGIN_REQUIRED"
        await agent.error("goto", pageId="p", url=shop.url("/redirect"), auth=AUTH)
        assert (await agent.error("goto", pageId="p", url=other.url()))["code"] == "LOGIN_REQUIRED"
        framed = f"<iframe src='{other.url('/frame')}'></iframe><img src='{other.url('/api')}'>"
        await agent.call("goto", pageId="p", url=shop.page("/frames", framed))
        assert _seen(other) == set()
    await agent.call("goto", pageId="p", url=shop.url())


async def test_a_site_that_frames_another_does_not_act_there_by_its_login(agent: Agent, shop: Site) -> None:
    with Site() as hostile:
        shop.page("/open", "open")
        await agent.call("goto", pageId="p", url=shop.url("/open"), auth=AUTH)
        hostile.page("/", f"<iframe src='{shop.url()}'></iframe><img src='{shop.url()}?picture'>")
        await agent.call("goto", pageId="p", url=hostile.url())
        assert _seen(shop) == set()


async def test_a_named_secret_goes_only_to_its_own_origins(agent: Agent, shop: Site, service: RunningService) -> None:
    origin = shop.url("").rstrip("/")
    service.parts.secrets.set(NamedSecret(name="shop-login", value="pass:w@rd", origins=(origin,)))
    auth = {"username": "ana", "password": {"secret": "shop-login"}}
    error = await agent.error("goto", pageId="p", url=shop.url("/", host="localhost"), auth=auth)
    assert error["code"] == "FORBIDDEN"
    assert (await agent.call("goto", pageId="p", url=shop.url(), auth=auth))["status"] == 200


async def test_a_password_in_an_address_opens_the_page_and_is_never_shown(
    agent: Agent, shop: Site, service: RunningService
) -> None:
    with_password, hides = shop.url().replace("//", f"//{USERINFO}"), ("w@rd", "w%40rd", "ana:")
    shop.page("/", _asks("<title>Inside</title><a href=/next>Next</a>"))
    shop.page("/redirect", Answer("", 302, headers={"Location": with_password}))
    shop.page("/link", f"<a href='{with_password}'>In</a>")
    page: AnyJson = {"pageId": "p"}
    addresses = "[document.URL, document.baseURI, document.links[0].href]"
    replies = [await agent.reply("goto", pageId="p", url=with_password)]
    reads = ("get_current_url", "snapshot", "get_network_log", "extract_links", "list_frames")
    replies += [await agent.reply(action, **page) for action in reads]
    replies += [await agent.reply("evaluate_script", **page, expression=addresses)]
    await agent.call("goto", **page, url="about:blank")
    replies += [
        await agent.reply("goto", **page, url=shop.url("/redirect")),
        await agent.reply("get_current_url", **page),
    ]
    await agent.call("goto", **page, url=shop.url("/link"))
    replies += [
        await agent.reply("click", **page, selector="a"),
        await agent.reply("evaluate_script", **page, expression=addresses),
    ]
    replies += [await agent.reply("get_network_log", **page), await agent.reply("export_har", **page, inline=True)]
    async with service.agent() as other:
        replies += [await other.reply("list_pages", all=True), await other.reply("click", **page, selector="a")]
        replies += [await other.reply("get_activity", **page)]
    for reply in replies:
        assert not [each for each in hides if each in reply.text]
    assert f"navigated to {shop.url()}" in replies[-7].text
