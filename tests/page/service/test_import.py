"""Tests importing logins from other browsers' files into the shared one, with a report of what cannot be imported."""

import json
import logging
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.support.json import AnyJson
from tests.support.service import Agent, RunningService
from tests.support.site import Answer, Received, Site

pytestmark = pytest.mark.anyio

SECRET = "v4lu3-0f-th3-l0g1n"
LATER = int(time.time()) + 86_400
EARLIER = int(time.time()) - 86_400


@pytest.fixture
def shop(site: Site) -> Site:
    def home(received: Received) -> Answer:
        return Answer(f"<title>shop</title><h1>{received.headers.get('Cookie', '')}</h1>")

    site.page("/", home)
    return site


def cookie(name: str = "sid", domain: str = "127.0.0.1", **more: Any) -> dict[str, Any]:  # Any: whatever a file has
    return {"name": name, "value": SECRET, "domain": domain, "path": "/", "expires": -1, **more}


def state(*cookies: dict[str, AnyJson], **origins: dict[str, str]) -> str:
    stored = [
        {"origin": origin, "localStorage": [{"name": name, "value": value} for name, value in items.items()]}
        for origin, items in origins.items()
    ]
    return json.dumps({"cookies": cookies, "origins": stored})


async def seen(agent: Agent, shop: Site) -> str:
    await agent.call("goto", pageId="shop", url=shop.url("/"))
    found = await agent.call("evaluate_script", pageId="shop", expression="document.querySelector('h1').innerText")
    return str(found["value"])


def refused(result: dict[str, AnyJson]) -> dict[str, str]:
    return {one["what"].removeprefix("cookie "): one["why"] for one in result["notBrought"]}


async def test_a_storage_state_brings_its_cookies_and_its_local_storage(agent: Agent, shop: Site) -> None:
    visits = shop.counts.total()
    content = state(cookie(), cookie("keep", expires=LATER, httpOnly=True), **{shop.url(""): {"theme": "dark"}})
    result = await agent.call("import_login", content=content)
    assert shop.counts.total() == visits, "the site itself is not asked"
    assert result["brought"] == [{"site": "127.0.0.1", "cookies": 2, "localStorage": 1}]
    assert result["notBrought"] == []
    assert await seen(agent, shop) == f"sid={SECRET}; keep={SECRET}"
    theme = await agent.call("evaluate_script", pageId="shop", expression="localStorage.theme")
    assert theme["value"] == "dark"


async def test_a_cookies_txt_is_brought_with_its_comments_and_marks(agent: Agent, shop: Site) -> None:
    lines = (
        "# Netscape HTTP Cookie File",
        "",
        f"127.0.0.1\tFALSE\t/\tFALSE\t{LATER}\tkept\t{SECRET}",
        f"#HttpOnly_127.0.0.1\tFALSE\t/\tFALSE\t0\thidden\t{SECRET}",
        f".example.com\tTRUE\t/\tTRUE\t{LATER}\twide\t{SECRET}",
        "not a line of it",
    )
    result = await agent.call("import_login", content="\r\n".join(lines))
    assert {one["site"]: one["cookies"] for one in result["brought"]} == {"127.0.0.1": 2, "example.com": 1}
    assert list(refused(result)) == ["line 6"]
    assert "hidden=" in await seen(agent, shop)
    script = await agent.call("evaluate_script", pageId="shop", expression="document.cookie")
    assert "hidden" not in script["value"]
    cookies = {one["name"]: one for one in (await agent.call("get_cookies"))["cookies"]}
    assert cookies["wide"]["domain"] == ".example.com"


async def test_with_a_site_only_what_belongs_to_it_is_brought(agent: Agent) -> None:
    content = state(
        cookie("a", "one.test"), cookie("b", ".shop.one.test"), cookie("c", "other.test"), cookie("d", "notone.test")
    )
    result = await agent.call("import_login", content=content, site="one.test")
    assert [one["site"] for one in result["brought"]] == ["one.test", "shop.one.test"]
    assert result["notBrought"] == []


async def test_an_unusable_cookie_is_named_with_its_reason_and_the_others_are_imported(agent: Agent) -> None:
    content = state(
        cookie("old", "x.test", expires=EARLIER),
        cookie("spaced", "not a domain"),
        cookie("__Host-wide", ".x.test", secure=True),
        cookie("__Secure-open", "x.test"),
        cookie("newline", "x.test", value="a\nb"),
        cookie("good", "x.test", sameSite="no_restriction"),
        cookie("__Host-good", "x.test", secure=True),
        cookie("apart", "x.test", secure=True, sameSite="None", partitionKey="https://top.test"),
        {"name": "nothing", "domain": "x.test"},
    )
    result = await agent.call("import_login", content=content)
    assert result["brought"] == [{"site": "x.test", "cookies": 3, "localStorage": 0}]
    why = refused(result)
    assert why["old"] == "it has expired"
    assert why["spaced"] == "its domain is none"
    assert "of one host" in why["__Host-wide"]
    assert "secure" in why["__Secure-open"]
    assert why["newline"] == "the browser refused it"
    assert why["a cookie"] == "it has no name or no value"
    assert "not brought: cookie old of x.test: it has expired" in result["observed"]


async def test_values_are_in_no_reply_no_log_and_no_account(
    agent: Agent, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    for content in (state(cookie("good"), cookie("old", expires=EARLIER)), state(cookie("good")) + SECRET, SECRET):
        reply = await agent.reply("import_login", content=content)
        assert SECRET not in reply.text
    assert SECRET not in json.dumps(await agent.call("get_activity")), "nor in what is told of it later"
    assert SECRET not in caplog.text + "".join(capfd.readouterr())


async def test_an_unknown_format_is_refused_by_name(agent: Agent) -> None:
    for content in ("{", "[]", "{}", '{"cookies": 1}', "nothing", '{"cookies": ["a"]}'):
        error = await agent.error("import_login", content=content)
        assert (error["code"], error["details"]["context"]["field"]) == ("VALIDATION_ERROR", "content"), content
        assert "cookies.txt" in error["hint"]


async def test_a_site_that_the_file_does_not_have_is_said(agent: Agent) -> None:
    error = await agent.error("import_login", content=state(cookie()), site="example.org")
    assert (error["code"], error["details"]["context"]["field"]) == ("VALIDATION_ERROR", "site")


async def test_a_client_working_on_a_site_is_not_silently_signed_in_as_another(
    agent: Agent, other: Agent, shop: Site
) -> None:
    await agent.call("goto", pageId="shop", url=shop.url("/"))
    error = await other.error("import_login", content=state(cookie()), site="127.0.0.1")
    assert error["code"] == "AFFECTS_OTHERS"
    await other.call("import_login", content=state(cookie("x", "elsewhere.test")), site="elsewhere.test")
    await other.call("import_login", content=state(cookie()), site="127.0.0.1", affectOthers=True)


async def test_a_login_can_be_imported_into_an_own_session(service: RunningService) -> None:
    async with service.agent() as agent:
        await agent.call("create_session", sessionId="own-login")
        await agent.call("import_login", sessionId="own-login", content=state(cookie("mine")))
        names = [one["name"] for one in (await agent.call("get_cookies", sessionId="own-login"))["cookies"]]
        assert names == ["mine"]
        await agent.call("close_session", sessionId="own-login")


@pytest.fixture(autouse=True)
async def no_cookies_stay(agent: Agent) -> AsyncIterator[None]:
    await agent.call("clear_cookies", affectOthers=True)
    yield
    await agent.call("clear_cookies", affectOthers=True)
