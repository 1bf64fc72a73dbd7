"""Tests scripts that run in each document before its own, for a page and for a session."""

import pytest

from tests.support.service import Agent
from tests.support.site import Site
from tests.support.tab import Tab

pytestmark = pytest.mark.anyio

FIRST = "self.order = ['init']; Math.random = () => 0.5"
SAYS = "<h1>x</h1><script>self.order?.push('page'); document.title = Math.random()</script>"


async def test_an_init_script_runs_before_the_pages_own_until_it_is_removed(tab: Tab, site: Site) -> None:
    inner = site.page("/inner", SAYS)
    url = await tab.show(SAYS + f"<iframe src={inner}></iframe><iframe src={site.url('/inner', 'localhost')}></iframe>")
    added = await tab.call("add_init_script", script=FIRST)
    assert await tab.sees("self.order ?? null") is None
    await tab.call("goto", pageId="tab", url=url)
    assert await tab.sees("[order, document.title]") == [["init", "page"], "0.5"]
    for place in (1, 2):
        frame = await tab.call("evaluate_script", expression="order", frame=f"iframe >> nth={place - 1}")
        assert frame["value"] == ["init", "page"]
    listed = await tab.call("list_routes")
    assert listed["initScripts"] == [{"scriptId": added["scriptId"], "characters": len(FIRST)}]
    assert "random" not in str(listed)
    error = await tab.error("remove_init_scripts", scriptIds=["s9"])
    assert (error["code"], error["details"]["context"]["field"]) == ("VALIDATION_ERROR", "scriptIds")
    assert (await tab.call("remove_init_scripts"))["removed"] == [added["scriptId"]]
    await tab.call("reload_page")
    assert await tab.sees("self.order ?? null") is None


async def test_an_init_script_holds_for_popups_and_ends_with_its_client(
    agent: Agent, other: Agent, tab: Tab, site: Site
) -> None:
    await tab.show(SAYS + "<button onclick=\"window.open('/popup')\">open</button>")
    site.page("/popup", SAYS)
    await tab.call("add_init_script", script=FIRST)
    await tab.call("reload_page", pageId="tab")
    order = {"expression": "self.order ?? null"}
    assert (await tab.call("evaluate_script", pageId="tab", **order))["value"] == ["init", "page"]
    await tab.call("click", pageId="tab", selector="button")
    await tab.call("reload_page", pageId="tab~1")
    assert (await tab.call("evaluate_script", pageId="tab~1", **order))["value"] == ["init", "page"]
    await tab.call("release_page", pageId="tab")
    reply = (await other.reply("reload_page", pageId="tab")).json()
    assert "init scripts" in str(reply["notices"])
    assert (await other.call("evaluate_script", pageId="tab", **order))["value"] is None
    await other.call("release_page", pageId="tab")
    await agent.call("claim_page", pageId="tab")


@pytest.mark.thorough
async def test_a_script_that_hangs_every_document_can_be_removed(tab: Tab) -> None:
    url = await tab.show(SAYS)
    await tab.call("add_init_script", script="for (;;);")
    error = await tab.error("goto", pageId="tab", url=url, timeout=1_000)
    assert "timed out" in error["message"], error
    await tab.call("remove_init_scripts")
    await tab.call("goto", pageId="tab", url=url)
    assert await tab.sees("document.querySelector('h1').innerText") == "x"


async def test_a_session_of_ones_own_has_init_scripts_for_all_its_pages_and_the_shared_login_has_none(
    tab: Tab, site: Site
) -> None:
    site.page("/one", SAYS + "<button onclick=\"window.open('/one')\">open</button>")
    session = (await tab.call("create_session"))["sessionId"]
    await tab.call("open_page", pageId="own", sessionId=session)
    await tab.call("add_init_script", sessionId=session, script=FIRST)
    for page in ("own", "second"):
        await tab.call("goto", pageId=page, sessionId=session, url=site.url("/one"))
    await tab.call("click", pageId="own", selector="button")
    for page in ("own", "second", "own~1"):
        seen = await tab.call("evaluate_script", pageId=page, expression="order")
        assert seen["value"] == ["init", "page"]
    await tab.call("remove_init_scripts", sessionId=session)
    await tab.call("reload_page", pageId="second")
    assert (await tab.call("evaluate_script", pageId="second", expression="self.order ?? 0"))["value"] == 0
    error = await tab.error("add_init_script", sessionId="default", script=FIRST)
    assert error["code"] == "FORBIDDEN"
    assert "add_init_script" in error["hint"]
    await tab.call("close_session", sessionId=session)


async def test_init_scripts_are_few_and_not_too_long(tab: Tab) -> None:
    await tab.show(SAYS)
    assert (await tab.error("add_init_script", script="x" * 100_001))["code"] == "VALIDATION_ERROR"
    for _ in range(20):
        await tab.call("add_init_script", script="1")
    assert (await tab.error("add_init_script", script="1"))["code"] == "RESOURCE_EXHAUSTED"
    await tab.call("remove_init_scripts", scriptIds=["s3"])
    assert (await tab.call("add_init_script", script="1"))["scriptId"] == "s3"
    await tab.call("remove_init_scripts")
    for _ in range(3):
        await tab.call("add_init_script", script=" " * 99_999 + "1")
    assert (await tab.error("add_init_script", script="1"))["code"] == "RESOURCE_EXHAUSTED"
