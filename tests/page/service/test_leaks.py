"""Tests what leaks between clients where one browser is shared without rules, and does not here.

That private pages are not read, and cookies of others not listed or cleared, is proven with the rules of both."""

import base64

import pytest

from tests.support.listening import sent
from tests.support.service import Agent, RunningService, visiting
from tests.support.site import Answer, Site
from tests.support.waiting import become

pytestmark = pytest.mark.anyio

SECRET = "the secret of one"
HTML = f"<h1>{SECRET}</h1><button id=b onclick='window.hits = (window.hits || 0) + 1'>b</button>"
ASKS = "<button id=b onclick=\"document.title = confirm('Pay?') ? 'paid' : 'kept'\">b</button>"
THROWS = f"<h1>x</h1><script>setTimeout(() => {{ throw new Error('{SECRET}') }})</script>"


async def test_requests_sent_while_a_page_was_private_stay_hidden_afterwards(
    agent: Agent, other: Agent, site: Site
) -> None:
    await agent.call("goto", pageId="own", url=site.page("/before", "x"))
    await agent.call("share_page", pageId="own", access="private")
    await agent.call("goto", pageId="own", url=site.page("/meanwhile", "x"))
    await agent.call("goto", pageId="own", url=site.page("/after", "x"))
    await agent.call("share_page", pageId="own", access="read")
    log = (await other.call("get_network_log", pageId="own"))["log"]
    assert ("/before" in log, "/meanwhile" in log) == (True, False)
    assert "/meanwhile" in (await agent.call("get_network_log", pageId="own"))["log"]
    archive = await other.call("export_har", pageId="own")
    file = await other.http.get(archive["artifact"]["url"])
    assert ("/before" in file.text, "/meanwhile" in file.text) == (True, False)


async def test_an_act_without_a_page_does_not_land_on_the_tab_that_another_used_last(
    agent: Agent, other: Agent, site: Site
) -> None:
    await other.call("goto", pageId="others", url=site.page("/own", HTML))
    await agent.call("goto", pageId="own", url=site.url("/own"))
    await other.call("click", selector="#b")
    assert (await agent.call("evaluate_script", pageId="own", expression="window.hits ?? 0"))["value"] == 0
    assert (await other.call("evaluate_script", pageId="others", expression="window.hits ?? 0"))["value"] == 1


async def test_the_last_one_out_leaves_the_login_behind(service: RunningService, site: Site) -> None:
    site.page("/in", Answer(HTML, headers={"set-cookie": "login=ana; Path=/in"}))
    async with service.agent() as first:
        await first.call("goto", pageId="own", url=site.url("/in"))
        await first.call("close_page", pageId="own")
    async with visiting(service) as second:
        await second.call("goto", pageId="mine", url=site.url("/in"))
        found = await second.call("evaluate_script", pageId="mine", expression="document.cookie")
        assert found["value"] == "login=ana"


async def test_a_tab_of_another_is_not_closed(agent: Agent, other: Agent, site: Site) -> None:
    await agent.call("goto", pageId="own", url=site.page("/own", HTML))
    for arguments in ({}, {"reason": "tidying up"}, {"confirm": True}):
        assert (await other.error("close_page", pageId="own", **arguments))["code"] == "PAGE_OWNED"
    assert SECRET in (await agent.call("content", pageId="own"))["content"]


async def test_a_dialog_of_another_is_not_answered(agent: Agent, other: Agent, site: Site) -> None:
    await agent.call("goto", pageId="own", url=site.page("/asks", ASKS))
    assert (await agent.call("click", pageId="own", selector="#b"))["dialog"]["message"] == "Pay?"
    assert (await other.error("handle_dialog", pageId="own", accept=True))["code"] == "PAGE_OWNED"
    await agent.call("handle_dialog", pageId="own", accept=False)
    assert (await agent.call("get_page_title", pageId="own"))["title"] == "kept"


async def test_a_pages_exceptions_are_in_no_reply_to_another_client(agent: Agent, other: Agent, site: Site) -> None:
    await other.call("goto", pageId="others", url=site.page("/quiet", "<h1>quiet</h1>"))
    await agent.call("goto", pageId="own", url=site.page("/throws", THROWS))
    replies = [await other.reply("click", pageId="others", selector="h1"), await other.reply("list_pages")]
    assert all(SECRET not in reply.text for reply in replies)


async def test_a_wait_is_ended_by_what_another_client_does_on_the_same_page(
    service: RunningService, agent: Agent, other: Agent, site: Site
) -> None:
    """The deadlock of a wait that holds the page's turn: what it waits for could never happen."""
    await agent.call("goto", pageId="own", url=site.page("/own", HTML))
    await agent.call("share_page", pageId="own", access="act")
    waiting = sent(agent, "w", "wait_for_selector", pageId="own", selector="#later")
    await become(lambda: f"{agent.client_id}/w" in service.running_calls())
    add = "document.body.append(Object.assign(document.createElement('p'), {id: 'later', textContent: 'now'}))"
    await other.call("evaluate_script", pageId="own", expression=add)
    assert (await waiting).json()["success"] is True


KEY = "Bearer the-key-of-one"
POSTS = f"fetch('/save?token=t0ken', {{method: 'POST', body: 'password=hunter2', headers: {{Authorization: '{KEY}'}}}})"


async def test_requests_of_anothers_page_are_shown_without_secrets(
    service: RunningService, agent: Agent, other: Agent, site: Site
) -> None:
    site.page("/save", Answer('{"card": "4111-2222"}', headers={"set-cookie": "sid=s3cret"}))
    await agent.call("goto", pageId="own", url=site.page("/own", HTML))
    await agent.call("evaluate_script", pageId="own", expression=f"{POSTS}.then(r => r.text())")
    everything = {"includeHeaders": True, "includeBodies": True, "includeSecrets": True}
    mine = await agent.call("get_network_log", pageId="own", **everything)
    secrets = (KEY, "t0ken", "hunter2", "4111-2222", "s3cret")
    assert all(secret in mine["log"] for secret in secrets)
    log = await other.call("get_network_log", pageId="own", **everything)
    har = await other.call("export_har", pageId="own", content="embed", includeSecrets=True)
    archive = base64.b64decode(har["artifact"]["data"]).decode()
    assert "POST 200 fetch" in log["log"]
    assert '"method": "POST"' in archive
    assert not [secret for secret in secrets if secret in log["log"] or secret in archive]
    assert (await other.call("get_network_log", pageId="own", pattern="*t0ken*"))["count"] == 0
    waiting = sent(other, "w", "wait_for_response", pageId="own", **everything)
    pages = service.host.pages
    await become(lambda: pages["own"].settings.network.traffic.awaited)
    await agent.call("evaluate_script", pageId="own", expression=f"{POSTS}.then(r => r.text())")
    reply = (await waiting).json()
    assert reply["result"]["method"] == "POST"
    assert not [secret for secret in secrets if secret in str(reply)]


async def test_requests_sent_for_the_last_holder_are_withheld_from_the_next(
    agent: Agent, other: Agent, site: Site
) -> None:
    await agent.call("goto", pageId="own", url=site.page("/own", HTML))
    await agent.call("evaluate_script", pageId="own", expression=f"{POSTS}.then(r => r.text())")
    await agent.call("set_extra_headers", pageId="own", headers={"Authorization": KEY})
    await agent.call("release_page", pageId="own")
    await other.call("evaluate_script", pageId="own", expression="fetch('/mine').then(r => r.text())")
    everything = {"includeHeaders": True, "includeBodies": True, "includeSecrets": True, "format": "records"}
    seen = (await other.call("get_network_log", pageId="own", **everything))["requests"]
    assert "withheld" in next(each for each in seen if "/save" in each["url"])
    assert "requestHeaders" in next(each for each in seen if "/mine" in each["url"])
    assert "hunter2" not in str(seen)


async def test_a_clients_settings_on_a_page_end_when_another_gets_it(agent: Agent, other: Agent, site: Site) -> None:
    site.page("/real", "real")
    await agent.call("goto", pageId="own", url=site.page("/own", HTML))
    await agent.call("set_extra_headers", pageId="own", headers={"Authorization": KEY})
    await agent.call("mock_response", pageId="own", pattern="/real", body="made up")
    await other.call("list_pages")
    await agent.call("hand_over_page", pageId="own", to=other.label)
    reply = await other.reply("evaluate_script", pageId="own", expression="fetch('/real').then(r => r.text())")
    assert "real" in reply.json()["result"]["value"]
    assert "removed" in str(reply.json()["notices"])
    assert KEY not in str([each.headers for each in site.received if each.path == "/real"])
    listed = await other.call("list_routes", pageId="own")
    assert (listed["routes"], listed["extraHeaders"]) == ([], [])


async def test_the_routes_and_mocks_of_one_do_not_touch_anothers_page(agent: Agent, other: Agent, site: Site) -> None:
    site.page("/data", Answer("real", content_type="text/plain"))
    for client, page_id in ((agent, "own"), (other, "others")):
        await client.call("goto", pageId=page_id, url=site.page("/own", HTML))
    await agent.call("mock_response", pageId="own", pattern="/data", body="mocked")
    await agent.call("block_requests", pageId="own", patterns=["/more"])
    await agent.call("set_extra_headers", pageId="own", headers={"X-Mine": "1"})
    assert await text(agent, "own", "/data") == "mocked"
    assert await text(agent, "own", "/more") == "failed"
    assert await text(other, "others", "/data") == "real"
    assert await text(other, "others", "/more") == "not here"
    assert await text(agent, "own", "/mine") == "not here"
    told = {each.path: "x-mine" in {name.lower() for name in each.headers} for each in site.received}
    assert (told["/data"], told["/more"], told["/mine"]) == (False, False, True)


async def test_the_offline_emulation_of_one_does_not_take_anothers_page_offline(
    agent: Agent, other: Agent, site: Site
) -> None:
    site.page("/data", Answer("real", content_type="text/plain"))
    for client, page_id in ((agent, "own"), (other, "others")):
        await client.call("goto", pageId=page_id, url=site.page("/own", HTML))
    await agent.call("emulate", pageId="own", offline=True)
    assert await text(agent, "own", "/data") == "failed"
    assert await text(other, "others", "/data") == "real"
    online = await other.call("evaluate_script", pageId="others", expression="navigator.onLine")
    assert online["value"] is True
    await other.call("reload_page", pageId="others")


async def test_headers_for_the_shared_session_are_refused_while_another_works_there(
    agent: Agent, other: Agent, site: Site
) -> None:
    await other.call("goto", pageId="others", url=site.page("/own", HTML))
    for action in ("set_extra_headers", "set_session_headers"):
        error = await agent.error(action, sessionId="default", headers={"X-All": "1"})
        assert (error["code"], error["details"]["context"]["pages"]) == ("AFFECTS_OTHERS", ["others"])
    assert await text(other, "others", "/data") == "not here"
    assert "x-all" not in {name.lower() for name in site.received[-1].headers}


async def text(client: Agent, page_id: str, path: str) -> str:
    """Return the answer to a page's own request for a path."""
    script = f"fetch('{path}').then(r => r.text(), () => 'failed')"
    return str((await client.call("evaluate_script", pageId=page_id, expression=script))["value"])
