"""Tests tokens that limit and that end, by what their clients try through every door.

It is longer than 300 lines because each limit of a token is tried at all doors by the same few helpers.
"""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import jwt
import pytest
from starlette.types import Message, Receive, Scope, Send

from browse_together.client.credentials import mint
from browse_together.contract import wire
from browse_together.contract.calls import CallState
from browse_together.contract.errors import Unauthorized
from browse_together.contract.events import CallMoved
from browser_service.security.auth import identify_host
from tests.support.service import Agent, RunningService, running_service, settings_for
from tests.support.site import Site
from tests.support.tokens import limited, sharing, token_for
from tests.support.waiting import PATIENCE_S, become

pytestmark = pytest.mark.anyio


def rule(error: dict[str, object]) -> str:
    """Return the rule that refused a call."""
    details = error["details"]
    assert (error["status"], error["code"]) == (403, "FORBIDDEN"), error
    assert isinstance(details, dict)
    return str(details["context"]["rule"])


async def owner_posts(service: RunningService, path: str, body: dict[str, object], *, operator: bool = True) -> object:
    async with service.agent() as agent:
        token = mint(service.secret, "owner", operator=operator)
        reply = await agent.http.post(path, json=body, headers={"Authorization": f"Bearer {token}"})
    return reply.json()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"toolsets": ["reding"]}, "--toolset: there is no toolset 'reding'; there are: core, navigation"),
        ({"origins": [""]}, "--origin: '' is no origin, so that it would match nothing"),
        ({"origins": ["shop.example"]}, "--origin: 'shop.example' is no origin, so that it would match nothing"),
        ({"origins": ["*"]}, "--origin: '*' is every origin: leave --origin out"),
        ({"expiresAt": 1}, "--expires: the time that the token is to end is over already; give 30d, 12h"),
        ({"expiresAt": 9e12}, "--expires: the time that the token is to end is too far away"),
        ({"name": "a b"}, "--name: a name has up to 40 letters"),
        ({"pages": 0}, "--pages:"),
        ({"session": "a b"}, "--session:"),
        ({"noPrinting": True}, "--noPrinting:"),
        ({"pool": "Rack 1"}, "POOL: a pool's name has up to 31 small letters"),
        ({"pool": "rack", "readOnly": True}, "POOL: hosts and the extension call nothing"),
        ({"pool": "rack", "extension": True}, "POOL: a token is of hosts or of the extension"),
    ],
    ids=str,
)
async def test_an_impossible_limit_is_refused_in_a_line_that_names_the_option(
    service: RunningService, given: dict[str, object], told: str
) -> None:
    body = {"name": "odd", "expiresAt": time.time() + 60, **given}
    reply = await owner_posts(service, wire.TOKENS, body)
    assert isinstance(reply, dict)
    assert reply["error"]["code"] == "VALIDATION_ERROR"
    assert reply["error"]["message"].startswith(told)
    assert "\n" not in reply["error"]["message"]


async def test_only_the_owner_makes_lists_and_revokes_tokens(tmp_path: Path) -> None:
    async with running_service(settings_for(tmp_path)) as service:
        body = {"name": "CI", "expiresAt": time.time() + 600, "readOnly": True, "origins": ["HTTPS://Shop.example/"]}
        for path in (wire.TOKENS, wire.REVOKE, wire.RESTORE):
            reply = await owner_posts(service, path, body, operator=False)
            assert isinstance(reply, dict)
            assert reply["error"]["code"] == "FORBIDDEN"
        made = await owner_posts(service, wire.TOKENS, body)
        assert isinstance(made, dict)
        assert made["result"]["limits"] == "--read-only --origin https://shop.example"
        again = await owner_posts(service, wire.TOKENS, {**body, "name": "ci"})
        assert isinstance(again, dict)
        assert "there is a token 'CI' already" in again["error"]["message"]
        async with sharing(service, made["result"]["token"]) as agent:
            assert (await agent.http.get(wire.TOKENS)).status_code == 403
            assert (await agent.call("list_pages"))["yours"] == []
        (before,) = service.parts.tokens.listed()
        assert before["state"] == "valid"
        assert before["usedAt"]
        await owner_posts(service, wire.REVOKE, {"name": "ci"})
    async with running_service(settings_for(tmp_path)) as service:  # what was noted is there after a restart
        (after,) = service.parts.tokens.listed()
        assert after == {**before, "state": "revoked"}
        async with sharing(service, made["result"]["token"]) as agent:
            error = (await agent.reply("list_pages")).json()["error"]
            assert (error["code"], error["message"]) == ("UNAUTHORIZED", "The token was revoked.")
            assert "browse-together token restore CI" in error["hint"]
            await owner_posts(service, wire.RESTORE, {"names": ["CI"]})
            assert (await agent.call("list_pages"))["yours"] == []


async def test_a_token_of_hosts_admits_hosts_of_its_pool_until_it_is_revoked_and_nothing_else(
    service: RunningService, agent: Agent
) -> None:
    parts, ended = service.parts, list[str]()
    token = await token_for(service, "rack", pool="rack")
    found = identify_host(service.secret, f"Bearer {token}", parts.revoked)
    assert (found.pool, found.name) == ("rack", "rack")
    for path in (wire.PAGES, wire.METRICS, wire.TOOLS, wire.EVENTS, wire.TOKENS):
        assert (await agent.http.get(path, headers={"Authorization": f"Bearer {token}"})).status_code == 401, path
    async with sharing(service, token) as caller:
        assert (await caller.reply("list_pages")).status_code == 401
    with pytest.raises(Unauthorized, match="of another kind"):
        identify_host(service.secret, agent.http.headers["Authorization"], parts.revoked)

    with ending_links(service, ended):
        await service.revoke("rack")
    assert ended == [found.token_id]
    with pytest.raises(Unauthorized, match="was revoked") as refused:
        identify_host(service.secret, f"Bearer {token}", parts.revoked)
    assert "browse-together token host POOL > FILE; or this one again: browse-together token restore rack" in str(
        refused.value.body().hint
    )
    (listed,) = [each for each in parts.tokens.listed() if each["name"] == "rack"]
    assert (listed["state"], listed["limits"]) == ("revoked", "admits hosts of rack")


@contextmanager
def ending_links(service: RunningService, ended: list[str]) -> Iterator[None]:
    """Note the tokens whose links are to end, instead of ending them."""
    revoked = service.parts.revoked
    before, revoked.on_token = revoked.on_token, ended.append
    yield
    revoked.on_token = before


async def test_limits_that_are_changed_in_the_token_or_unknown_here_make_it_worthless(service: RunningService) -> None:
    token = await token_for(service, "forged", readOnly=True)
    claims = jwt.decode(token, options={"verify_signature": False})
    head, _, signature = token.split(".")
    unlimited = jwt.encode({**claims, "limits": {}}, "another secret, as long as it has to be, at least")
    strange = jwt.encode({**claims, "limits": {"noPrinting": True}}, service.secret)
    for forged in (unlimited, ".".join([head, unlimited.split(".")[1], signature]), strange):
        async with sharing(service, forged) as agent:
            assert (await agent.reply("list_pages")).status_code == 401


async def test_a_token_that_only_reads_moves_and_closes_pages_of_its_own_and_nothing_of_others(
    service: RunningService, agent: Agent, site: Site
) -> None:
    url = site.page("/", "<h1>Here</h1>")
    await agent.call("goto", pageId="anas", url=url)
    await agent.call("release_page", pageId="anas")
    async with limited(service, "reader", readOnly=True) as reader:
        await reader.call("goto", pageId="own", url=url)
        await reader.call("reload_page", pageId="own")
        assert "Here" in (await reader.call("content", pageId="anas", format="text"))["content"]
        for name, arguments in {
            "click": {"selector": "h1"},
            "fetch": {"url": "/"},
            "evaluate_script": {"expression": "1"},
            "hover": {"selector": "h1"},
            "claim_page": {"pageId": "anas"},
        }.items():
            assert rule(await reader.error(name, **{"pageId": "own", **arguments})) == "--read-only"
        for name in ("goto", "reload_page", "close_page", "go_back"):
            arguments = {"url": url} if name == "goto" else {}
            assert rule(await reader.error(name, pageId="anas", **arguments)) == "--read-only"
            steps = [{"action": name, "pageId": "anas", **arguments}]
            error = await reader.error("batch", steps=steps)
            assert (error["code"], "--read-only" in error["message"]) == ("FORBIDDEN", True)
        assert (
            await reader.http.put(wire.FILES, content=b"x", headers={"Content-Type": "application/octet-stream"})
        ).status_code == 403
        await reader.call("close_page", pageId="own")
    assert (await agent.call("get_current_url", pageId="anas"))["url"] == url


async def test_a_token_for_a_session_uses_it_by_default_and_hears_of_no_other(
    service: RunningService, agent: Agent, site: Site
) -> None:
    url = site.page("/", "<h1>Here</h1>")
    await agent.call("goto", pageId="shared", url=url)
    async with limited(service, "confined", session="lab", cookies="values") as one:
        assert rule(await one.error("create_session", sessionId="other")) == "--session"
        assert rule(await one.error("browser_launch", browserType="firefox")) == "--session"
        await one.call("create_session", sessionId="lab")
        opened = (await one.reply("navigate_to", url=url)).json()
        assert opened["page"]["sessionId"] == "lab"
        assert (await one.call("set_cookies", cookies=[{"name": "a", "value": "b", "url": url}]))["set"] == 1
        assert await one.call("get_cookies", sessionId="lab") == await one.call("get_cookies")
        for name, arguments in {
            "content": {"pageId": "shared"},
            "claim_page": {"pageId": "shared", "reason": "mine"},
            "hand_over_page": {"pageId": opened["page"]["pageId"], "to": "shared"},
            "get_session": {},
            "get_cookies": {"sessionId": "default"},
            "goto": {"url": url, "pageId": "new", "sessionId": "default"},
            "batch": {"steps": [{"action": "goto", "url": url, "pageId": "new", "sessionId": "default"}]},
        }.items():
            body = {"sessionId": "default"} if name == "get_session" else arguments
            assert rule(await one.error(name, **body)) == "--session", name
        named = (await one.reply("goto", pageId="of-a-name", url=url)).json()
        assert named["page"]["sessionId"] == "lab"
        await one.call("batch", steps=[{"action": "get_cookies"}, {"action": "close_page", "pageId": "of-a-name"}])
        listed = await one.call("list_pages", all=True)
        assert [page["pageId"] for part in ("yours", "people", "others") for page in listed[part]] == [
            opened["page"]["pageId"]
        ]
        assert [each["sessionId"] for each in (await one.call("list_sessions"))["sessions"]] == ["lab"]
        views = [(await one.http.get(path)).text for path in (wire.PAGES, wire.SESSIONS)]
        records = (await one.http.get(wire.ACTIVITY)).json()["result"]["records"]
        assert {record["you"] for record in records} == {True}
        assert [view for view in views if '"shared"' in view.replace('"shared":', "") or '"default"' in view] == []
        await one.call("close_session", sessionId="lab")


async def test_a_token_for_a_session_gets_no_similar_names_from_other_sessions(
    service: RunningService, agent: Agent
) -> None:
    await agent.call("open_page", pageId="payroll")
    async with limited(service, "curious", session="lab") as one:
        assert "payroll" not in str((await one.error("content", pageId="payrol"))["hint"])
    assert "payroll" in str((await agent.error("content", pageId="payrol"))["hint"])


async def test_waiting_for_several_pages_yields_no_more_than_the_token_allows(
    service: RunningService, agent: Agent
) -> None:
    names = ("w1", "w2", "w3")
    for name in names:
        await agent.call("open_page", pageId=name)
    async with limited(service, "patient", pages=1) as one, asyncio.timeout(PATIENCE_S):
        waiting = [asyncio.create_task(one.reply("claim_page", pageId=name, waitSeconds=10)) for name in names]
        done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        assert all("--pages" in each.result().text for each in done)
        for name in names:
            await agent.call("release_page", pageId=name)
        replies = [(await each).json()["success"] for each in waiting]
        assert sorted(replies) == [False, False, True]


async def test_a_client_is_handed_no_more_pages_than_its_token_allows(service: RunningService, agent: Agent) -> None:
    names = ("h1", "h2", "h3")
    for name in names:
        await agent.call("open_page", pageId=name)
    async with limited(service, "receiver", pages=2) as receiver:
        await receiver.call("open_page", pageId="r1")
        gifts = await asyncio.gather(*(agent.reply("hand_over_page", pageId=each, to="receiver") for each in names))
        assert sorted(gift.json()["success"] for gift in gifts) == [False, False, True]
        error = next(gift.json()["error"] for gift in gifts if not gift.json()["success"])
        assert (error["code"], error["details"]["context"]["rule"]) == ("FORBIDDEN", "--pages")
        assert len((await receiver.call("list_pages"))["yours"]) == 2


async def test_revoking_a_token_frees_the_pages_that_were_held_with_it(service: RunningService, agent: Agent) -> None:
    async with sharing(service, await token_for(service, "holder"), "chat-1") as one:
        await one.call("open_page", pageId="held-long")
        await one.call("hold_page", pageId="held-long", reason="mine", minutes=30)
        assert (await agent.error("claim_page", pageId="held-long"))["code"] == "PAGE_OWNED"
        await service.revoke("holder")
        await agent.call("claim_page", pageId="held-long")
        await agent.call("close_page", pageId="held-long")


async def test_the_error_for_a_missing_session_of_a_token_says_how_to_make_it(service: RunningService) -> None:
    async with limited(service, "early", session="early-box") as early:
        hint = (await early.error("open_page"))["hint"]
        assert 'create_session {"sessionId": "early-box"}' in hint


async def test_pages_are_counted_for_all_that_share_a_token_and_for_calls_at_once(
    service: RunningService, agent: Agent
) -> None:
    await agent.call("open_page", pageId="free")
    await agent.call("release_page", pageId="free")
    token = await token_for(service, "three", pages=3)
    async with sharing(service, token, "chat-1") as one, sharing(service, token, "chat-2") as two:
        await one.call("open_page", pageId="t1")
        opened = await asyncio.gather(*(two.reply("open_page") for _ in range(8)))
        assert sorted(reply.json()["success"] for reply in opened) == [False] * 6 + [True] * 2
        for attempt in (
            {"action": "open_page"},
            {"action": "goto", "url": "about:blank"},
            {"action": "batch", "steps": [{"action": "open_page"}]},
            {"action": "claim_page", "pageId": "free"},
            {"action": "browser_launch"},
        ):
            error = await one.error(**attempt)
            assert (error["code"], "--pages" in error["message"]) == ("FORBIDDEN", True), attempt
        await one.call("close_page", pageId="t1")
        await one.call("claim_page", pageId="free")
    await service.revoke("three")


async def test_limited_tokens_cannot_read_the_settings(service: RunningService) -> None:
    for limits, status in (({"readOnly": True}, 403), ({"cookies": "values"}, 200), ({}, 200)):
        async with limited(service, "looks", **limits) as agent:
            asked = {"settings": {"BROWSE_HEADLESS": "false"}}
            replies = [await agent.http.get(wire.SETTINGS), await agent.http.post(wire.SETTINGS, json=asked)]
            assert [reply.status_code for reply in replies] == [status] * 2
            assert (str(service.parts.settings.data_dir) in replies[0].text) is (status == 200)


async def test_chats_that_share_a_token_are_clients_of_their_own(service: RunningService) -> None:
    token = await token_for(service, "team")
    async with sharing(service, token, "chat-1") as one, sharing(service, token, "chat-2") as two:
        await one.call("open_page", pageId="ones")
        assert (await two.error("reload_page", pageId="ones"))["code"] == "PAGE_OWNED"
        assert [page["pageId"] for page in (await two.call("list_pages"))["others"]] == ["ones"]
        everything = (await two.http.get(wire.PAGES)).text + (await two.http.get(wire.ACTIVITY)).text
        assert "chat-1" not in everything
        assert "token:team:" not in everything
        two.http.headers[wire.CHAT] = "chat-1"  # the same chat after a restart
        await two.call("reload_page", pageId="ones")
        two.http.headers[wire.CHAT] = "a b"
        assert (await two.reply("list_pages")).status_code == 401
    async with service.agent("plain", client_id="plain") as plain, service.agent() as ana:
        await ana.call("open_page", pageId="anas")
        plain.http.headers[wire.CHAT] = ana.client_id  # which divides a token of a name, and nothing else
        assert (await plain.error("reload_page", pageId="anas"))["code"] == "PAGE_OWNED"
        await ana.call("close_page", pageId="anas")
    await service.revoke("team")


async def test_a_caller_cannot_escape_limits_by_inventing_chats(
    service: RunningService,
) -> None:
    token = await token_for(service, "crowd")
    async with sharing(service, token) as agent:
        statuses = []
        for number in range(70):
            agent.http.headers[wire.CHAT] = f"chat-{number}"
            statuses.append((await agent.http.get(wire.TOOLS)).status_code)
        assert (statuses[:64], set(statuses[64:])) == ([200] * 64, {429})
        agent.http.headers[wire.CHAT] = "chat-1"
        assert (await agent.reply("list_downloads")).status_code == 200
    await service.revoke("crowd")


async def test_revoking_a_token_ends_the_streams_and_calls_of_all_that_share_it_and_frees_their_pages(
    service: RunningService, agent: Agent
) -> None:
    token = await token_for(service, "lost")
    async with sharing(service, token, "chat-1") as one, sharing(service, token, "chat-2") as two:
        await one.call("open_page", pageId="held")
        waiting = asyncio.create_task(one.reply("wait", pageId="held", duration=30_000))
        (client_id,) = {page.holder_id for page in service.known_pages() if page.page_id == "held"}
        assert client_id is not None

        async def listen() -> None:
            async for _ in service.parts.clients.stream(client_id):
                continue  # of the page that was opened it may tell first

        streaming = asyncio.create_task(listen())
        async with asyncio.timeout(PATIENCE_S):
            await become(lambda: service.registered_calls(client_id))
            await service.revoke("lost")
            assert (await waiting).json()["error"]["code"] == "CANCELLED"
            await streaming
        for each in (one, two):
            assert (await each.reply("list_pages")).status_code == 401
        assert (await agent.call("claim_page", pageId="held"))["observed"]


async def test_a_stream_ends_with_the_token_and_later_calls_are_refused(service: RunningService) -> None:
    token = await token_for(service, "short", expires_at=time.time() + 2)
    async with sharing(service, token) as agent, asyncio.timeout(PATIENCE_S):
        for query in ({}, {"activity": "1"}):
            assert "event: hello" in (await agent.http.get(wire.EVENTS, params=query)).text  # it came to its end
            if not query:
                expired = (await agent.reply("list_pages")).json()
                break
        assert expired["error"]["message"] == "The token has expired."


async def test_a_stream_in_which_events_never_cease_ends_with_its_token_too(service: RunningService) -> None:
    token, clients = await token_for(service, "loud", expires_at=time.time() + 1), service.parts.clients

    async def slowly_read(scope: Scope, receive: Receive, send: Send) -> None:
        async def sends(message: Message) -> None:
            await send(message)
            await asyncio.sleep(0)

        await service.app(scope, receive, sends)

    async def tell() -> None:
        while True:
            for client_id in clients.present_ids:
                for call_id in ("one", "other"):  # more than is read meanwhile
                    clients.send(CallMoved(call_id=call_id, client_id=client_id, state=CallState.RUNNING))
            await asyncio.sleep(0)

    telling = asyncio.create_task(tell())
    try:
        async with sharing(service, token) as agent, asyncio.timeout(20):
            slow = httpx.ASGITransport(app=slowly_read)
            async with httpx.AsyncClient(
                transport=slow, base_url=agent.http.base_url, headers=agent.http.headers
            ) as http:
                assert "event: call" in (await http.get(wire.EVENTS)).text  # it came to its end
    finally:
        telling.cancel()


async def test_a_token_is_let_in_until_the_time_at_which_its_list_says_that_it_ends(
    service: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    made_at = int(time.time()) + 0.9  # whole seconds are what a token counts
    with monkeypatch.context() as then:
        then.setattr("time.time", lambda: made_at)
        token = await token_for(service, "precise", expires_at=made_at + 60)
    ends_at = jwt.decode(token, options={"verify_signature": False})["exp"]
    assert 0 <= ends_at - (made_at + 60) < 1


async def test_every_list_has_only_what_a_token_may_call_and_no_view_goes_round_it(
    service: RunningService, agent: Agent
) -> None:
    await agent.call("open_page", pageId="seen")
    async with limited(service, "narrow", toolsets=["reading"]) as narrow:
        tools = {tool["name"] for tool in (await narrow.http.get(wire.TOOLS)).json()["result"]["tools"]}
        assert tools == {"help", "call_tool", "get_call", "cancel_call", "content", "snapshot", "find"}
        assert "hover" not in (await narrow.call("help"))["help"]
        for path in (wire.PAGES, wire.SESSIONS, wire.ACTIVITY, f"{wire.EVENTS}?activity=1"):
            assert (await narrow.http.get(path)).status_code == 403, path
        assert (
            rule(await narrow.error("call_tool", name="hover", arguments={"selector": "a", "pageId": "seen"}))
            == "--toolset"
        )
        assert (await narrow.http.delete(wire.ACTIVITY, params={"client": "x"})).status_code == 403


async def test_a_tool_that_calls_others_needs_only_its_own_permission(service: RunningService) -> None:
    async with limited(service, "seven", toolsets=["seven"]) as one:
        assert "launched" in (await one.call("browser_launch"))["text"]
        assert rule(await one.error("open_page")) == "--toolset"
        await one.call("browser_quit")


async def test_the_owners_setting_lets_chats_read_cookie_values_and_no_token_of_a_name(tmp_path: Path) -> None:
    for allowed in (False, True):
        async with running_service(settings_for(tmp_path, cookie_values=allowed)) as service:
            policy = service.parts.policy
            async with service.agent() as chat, limited(service, "named") as named:
                refusals = [await each.reply("export_session") for each in (chat, named)]
            assert [reply.status_code == 403 for reply in refusals] == [not allowed, True]
            hint = refusals[1].json()["error"]["hint"]
            assert "browse-together token create --name NAME, with --cookies" in hint
            if not allowed:
                assert "BROWSE_COOKIE_VALUES=true" in refusals[0].json()["error"]["hint"]
            assert policy.cookie_values is allowed
