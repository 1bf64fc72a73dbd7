"""Tests that a session may begin with the logins of another, which goes on as it was."""

import pytest

from tests.support.json import AnyJson
from tests.support.service import Agent, RunningService
from tests.support.site import Answer, Received, Site

pytestmark = pytest.mark.anyio

STORE = """async () => {
  localStorage.token = "t1";
  const open = indexedDB.open("auth", 1);
  open.onupgradeneeded = () => open.result.createObjectStore("users").put("ana", "name");
  await new Promise((done) => { open.onsuccess = done; });
  open.result.close();
}"""
STORED = """async () => {
  const names = (await indexedDB.databases()).map((each) => each.name);
  return [localStorage.token ?? null, names];
}"""


@pytest.fixture
def account(site: Site) -> Site:
    """Serve a site with a login by cookie: /in signs in, /out signs out, / greets."""

    def home(received: Received) -> Answer:
        return Answer("<h1>Ana</h1>" if "login=ana-4711" in received.headers.get("Cookie", "") else "<h1>Nobody</h1>")

    site.page("/", home)
    site.page("/in", Answer("in", headers={"set-cookie": "login=ana-4711; Path=/; HttpOnly"}))
    site.page("/out", Answer("out", headers={"set-cookie": "login=; Path=/; Max-Age=0"}))
    return site


async def greeted(agent: Agent, site: Site, page: str, **session: str) -> AnyJson:
    await agent.call("goto", pageId=page, url=site.url("/"), **session)
    return (await agent.call("extract_text", pageId=page, selector="h1"))["text"]


async def test_a_copy_of_the_shared_login_is_signed_in_and_a_logout_there_is_its_own(
    agent: Agent, account: Site
) -> None:
    await agent.call("goto", pageId="shared", url=account.url("/in"))
    made = await agent.call("create_session", sessionId="copy", **{"from": "default"})
    assert "A site that rotates its tokens may sign default out" in made["copied"]
    assert await greeted(agent, account, "there", sessionId="copy") == "Ana"
    await agent.call("goto", pageId="there", url=account.url("/out"))
    assert await greeted(agent, account, "there") == "Nobody"
    assert await greeted(agent, account, "shared") == "Ana"
    await agent.call("close_session", sessionId="copy")
    await agent.call("goto", pageId="shared", url=account.url("/out"))


async def test_storage_of_the_named_sites_is_copied_though_no_page_is_there(agent: Agent, account: Site) -> None:
    named, other = account.url("/", host="127.0.0.1"), account.url("/", host="localhost")
    for url in (named, other):
        await agent.call("goto", pageId="shared", url=url)
        await agent.call("evaluate_script", pageId="shared", expression=STORE)
    await agent.call("close_page", pageId="shared")
    visits = account.counts["/"]
    made = await agent.call("create_session", sessionId="copy", sites=[named], **{"from": "default"})
    assert account.counts["/"] == visits
    assert f"storage of {named.rstrip('/')}." in made["copied"]
    for url, stored in ((named, ["t1", ["auth"]]), (other, [None, []])):
        await agent.call("goto", pageId="there", sessionId="copy", url=url)
        assert (await agent.call("evaluate_script", pageId="there", expression=STORED))["value"] == stored
    await agent.call("close_session", sessionId="copy")


async def test_nothing_is_copied_while_a_page_there_is_private_to_another(
    agent: Agent, other: Agent, account: Site
) -> None:
    await other.call("goto", pageId="secret", url=account.url("/in"))
    await other.call("share_page", pageId="secret", access="private")
    error = await agent.error("create_session", sessionId="copy", **{"from": "default"})
    assert (error["code"], "private to somebody else" in error["message"]) == ("FORBIDDEN", True)
    assert "copy" not in str(await agent.call("list_sessions"))
    await other.call("close_page", pageId="secret")


async def test_a_copy_of_a_guarded_session_is_guarded(agent: Agent) -> None:
    await agent.call("create_session", sessionId="safe", guarded=True)
    made = await agent.call("create_session", sessionId="copy", **{"from": "safe"})
    assert made["guarded"] is True
    assert (await agent.call("get_session", sessionId="copy"))["guarded"] is True
    for session in ("copy", "safe"):
        await agent.call("close_session", sessionId=session)


async def test_more_than_is_copied_at_most_is_refused(
    agent: Agent, account: Site, monkeypatch: pytest.MonkeyPatch, service: RunningService
) -> None:
    assert service.host is not None  # the cap of this process is what changes
    monkeypatch.setattr("browser_service.actions.page.sessions._MOST_COPIED", 10)
    await agent.call("goto", pageId="shared", url=account.url("/in"))
    error = await agent.error("create_session", sessionId="copy", **{"from": "default"})
    assert error["code"] == "RESOURCE_EXHAUSTED"
    await agent.call("goto", pageId="shared", url=account.url("/out"))
