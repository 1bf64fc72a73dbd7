"""Tests the record of who did what: written in the one spine, shown to those who may see it, found by its filters."""

import pytest

from browse_together.contract import wire
from browser_service.observability.activity import activity_record
from browser_service.observability.visibility import may_see
from browser_service.store.activity import Row
from tests.support.account import logging_out, recorded
from tests.support.json import AnyJson
from tests.support.listening import sent
from tests.support.service import Agent, RunningService
from tests.support.sharing import StartService
from tests.support.site import Site
from tests.support.waiting import become

pytestmark = pytest.mark.anyio


def row(**changes: AnyJson) -> Row:
    """Return a row as it could be. Any: any column's value."""
    plain = Row(1, 0.0, "a", "Alice", None, "p", "default", "click", "ok", 1, "c", "{}")
    return plain._replace(**changes)


# --- what is recorded ------------------------------------------------------------------------------------------------


async def test_the_record_shows_who_ended_a_login(agent: Agent, other: Agent, site: Site) -> None:
    account = logging_out(site)
    await other.call("goto", pageId="theirs", url=account)
    await other.call("click", pageId="theirs", selector="#logout")
    newest, before = await recorded(agent, pageId="theirs", limit=2)
    assert newest == {
        "id": before["id"] + 1,
        "time": newest["time"],
        "client": other.label,
        "you": False,
        "action": "click",
        "arguments": {"selector": "#logout"},
        "pageId": "theirs",
        "sessionId": wire.DEFAULT_SESSION,
        "urlBefore": account,
        "urlAfter": site.url("/login"),
        "requests": [{"method": "POST", "url": site.url("/logout"), "status": 303}],
        "outcome": "ok",
        "colour": newest["colour"],
        "durationMs": newest["durationMs"],
        "callId": newest["callId"],
    }
    assert (before["action"], before["arguments"]) == ("goto", {"url": account})
    assert [one["you"] for one in await recorded(other, pageId="theirs", limit=1)] == [True]


async def test_a_model_reads_one_line_per_record(agent: Agent, other: Agent, site: Site) -> None:
    await other.call("goto", pageId="theirs", url=logging_out(site))
    await other.call("click", pageId="theirs", selector="#logout")
    text = (await agent.call("get_activity", pageId="theirs", limit=2))["activity"]
    _, click, goto = text.splitlines()
    assert f" {other.label}: click #logout (theirs) → ok, " in click
    assert f"; POST {site.url('/logout')} 303; now at {site.url('/login')}" in click
    assert f" {other.label}: goto {site.url('/account')} (theirs) → ok, " in goto
    own = (await other.call("get_activity", pageId="theirs", limit=1))["activity"]
    assert f" {other.label} (you): click" in own


async def test_a_refused_act_is_recorded_with_its_code_and_nothing_of_the_page(
    agent: Agent, other: Agent, site: Site
) -> None:
    await other.call("goto", pageId="theirs", url=site.page("/", "<button>Go</button>"))
    await agent.error("click", pageId="theirs", selector="button")
    (refused,) = await recorded(other, pageId="theirs", client=agent.label)
    assert (refused["action"], refused["outcome"]) == ("click", "PAGE_OWNED")
    assert refused["requests"] == []
    assert not refused.keys() & {"urlBefore", "urlAfter"}


async def test_the_requests_of_an_act_are_recorded_even_with_reply_none(agent: Agent, site: Site) -> None:
    await agent.call("goto", pageId="p", url=logging_out(site))
    assert await agent.call("click", pageId="p", selector="#logout", reply="none") == {}
    (record,) = await recorded(agent, pageId="p", limit=1)
    assert [one["method"] for one in record["requests"]] == ["POST"]


async def test_closing_a_page_is_recorded_with_its_reason(agent: Agent, site: Site) -> None:
    await agent.call("goto", pageId="p", url=site.page("/", "x"))
    await agent.call("close_page", pageId="p", reason="the order is placed")
    (closed,) = await recorded(agent, pageId="p", limit=1)
    assert (closed["action"], closed["arguments"]) == ("close_page", {"reason": "the order is placed"})


async def test_a_read_is_recorded_only_if_it_failed(agent: Agent, site: Site) -> None:
    await agent.call("goto", pageId="p", url=site.page("/", "x"))
    await agent.call("snapshot", pageId="p")
    await agent.error("wait_for_selector", pageId="p", selector="#none", timeout=1_000)
    await agent.error("get_activity", since="soon")
    assert [one["action"] for one in await recorded(agent, client="me")] == ["wait_for_selector", "goto"]


async def test_a_resent_act_that_the_service_does_not_know_is_recorded(agent: Agent) -> None:
    headers = {wire.CALL_ID: "lost", wire.ATTEMPT: "2"}
    reply = await agent.reply("goto", headers=headers, pageId="p", url="https://example.com/")
    assert reply.json()["error"]["code"] == "UNKNOWN_OUTCOME"
    (record,) = await recorded(agent, client="me", limit=1)
    assert (record["outcome"], record["callId"]) == ("UNKNOWN_OUTCOME", "lost")


async def test_a_call_that_was_cancelled_while_it_ran_is_recorded(agent: Agent, site: Site) -> None:
    await agent.call("goto", pageId="p", url=site.page("/", "x"))
    running = sent(agent, "long", "evaluate_script", pageId="p", expression="() => new Promise(() => {})")
    await become(lambda: site.counts["/"] == 1)
    await agent.reply("cancel_call", callId="long")
    await running
    cancelled = await recorded(agent, client="me", since="1m")
    assert {"evaluate_script", "cancel_call"} <= {one["action"] for one in cancelled}


# --- who may see it --------------------------------------------------------------------------------------------------


def test_records_of_a_private_page_are_for_its_owner_and_the_caller() -> None:
    private = row(client_id="b", private_to="a")
    assert [may_see(private, viewer, lambda *_: True) for viewer in ("a", "b", "c")] == [True, True, False]
    assert may_see(row(client_id="b"), "c", lambda *_: True)
    assert not may_see(row(client_id="b"), "c", lambda *_: False)
    assert may_see(row(client_id="b"), "b", lambda *_: False)


def test_no_record_shows_a_clients_id() -> None:
    record = activity_record(row(client_id="the-id-of-alice", private_to="the-id-of-bob"), "c", lambda _: None)
    assert "the-id-of" not in record.model_dump_json()


async def test_an_act_on_a_private_page_is_seen_by_its_owner_and_the_caller(
    agent: Agent, other: Agent, service: RunningService, site: Site
) -> None:
    async with service.agent() as third:
        await agent.call("goto", pageId="mine", url=site.page("/", "<button>Go</button>"))
        await agent.call("share_page", pageId="mine", access="private")
        await agent.call("click", pageId="mine", selector="button")
        await other.error("click", pageId="mine", selector="button")
        seen = [
            [(one["client"], one["action"]) for one in await recorded(viewer, pageId="mine", limit=4)]
            for viewer in (agent, other, third)
        ]
        whole = [(other.label, "click"), *((agent.label, name) for name in ("click", "share_page", "goto"))]
        assert seen == [whole, [whole[0]], []]


async def test_others_see_records_of_a_session_once_it_is_shared(start: StartService, site: Site) -> None:
    service = await start()
    async with service.agent() as agent, service.agent() as other:
        await agent.call("create_session", sessionId="own")
        await agent.call("goto", pageId="p", sessionId="own", url=site.page("/", "x"))
        await agent.call("clear_cookies", sessionId="own")
        await other.error("goto", sessionId="own", url=site.url("/"))
        assert [one["outcome"] for one in await recorded(other)] == ["FORBIDDEN"]
        assert [one["action"] for one in await recorded(agent, sessionId="own")] == [
            "goto",
            "clear_cookies",
            "goto",
            "create_session",
        ]
        await other.error("click", pageId="p", selector="a")  # a page of a session that it may not use
        assert [one["outcome"] for one in await recorded(agent, pageId="p", limit=1)] == ["FORBIDDEN"]
        async with service.agent() as third:
            assert await recorded(third) == []
        await agent.call("share_session", sessionId="own", access="act")
        await agent.call("reload_page", pageId="p")
        assert [one["action"] for one in await recorded(other)] == [
            "reload_page",
            "share_session",
            "click",
            "goto",
        ]


async def test_clearing_cookies_is_recorded_even_if_no_session_was_named(agent: Agent, other: Agent) -> None:
    await other.call("clear_cookies", name="sid", affectOthers=True)
    (record,) = await recorded(agent, client=other.label, actionName="clear_cookies")
    assert record["sessionId"] == wire.DEFAULT_SESSION
    assert record["arguments"] == {"name": "sid", "affectOthers": True}


async def test_who_read_the_cookies_of_a_session_is_recorded(agent: Agent, other: Agent) -> None:
    await other.call("get_cookies", urls=["https://shop.example/?token=secret"])
    (record,) = await recorded(agent, client=other.label)
    assert (record["action"], record["arguments"]) == ("get_cookies", {"urls": ["https://shop.example/?token=…"]})


async def test_records_of_a_private_session_are_for_its_owner(start: StartService) -> None:
    service = await start()
    async with service.agent() as agent, service.agent() as other:
        await agent.error("goto", sessionId="of-my-own", url="https://example.com/")
        assert [one["outcome"] for one in await recorded(agent)] == ["SESSION_NOT_FOUND"]
        assert await recorded(other) == []


# --- asking ----------------------------------------------------------------------------------------------------------


@pytest.fixture
async def busy(agent: Agent, other: Agent, site: Site) -> list[str]:
    """Let two clients act, and return the names of the acts that `agent` sees, newest first."""
    url = site.page("/", "<input id=a>")
    await agent.call("goto", pageId="mine", url=url)
    await other.call("goto", pageId="theirs", url=url)
    for text in ("1", "22", "333"):
        await agent.call("fill", pageId="mine", selector="#a", value=text)
    return ["fill", "fill", "fill", "goto"]


async def test_a_carried_action_is_found_by_its_name(agent: Agent, busy: list[str]) -> None:
    await agent.call("batch", pageId="mine", steps=[{"action": "press", "selector": "#a", "key": "Tab"}])
    for name in ("press", "batch"):
        (record,) = await recorded(agent, client="me", actionName=name)
        assert (record["action"], record["arguments"]["steps"][0]["action"]) == ("batch", "press")
    assert len(await recorded(agent, client="me", actionName="fill")) == busy.count("fill")


async def test_filters_narrow_the_search(agent: Agent, other: Agent, busy: list[str]) -> None:
    assert [one["action"] for one in await recorded(agent, client="me")] == busy
    assert [one["action"] for one in await recorded(other, client=agent.label.upper())] == busy
    assert [one["action"] for one in await recorded(agent, client=other.label, pageId="theirs")] == ["goto"]
    assert await recorded(agent, client="me", pageId="theirs") == []
    assert [one["action"] for one in await recorded(agent, client="me", actionName="goto")] == ["goto"]
    assert [one["action"] for one in await recorded(agent, client="me", since="1h", until="0s")] == busy
    assert await recorded(agent, client="me", until="1h") == []
    known = await recorded(agent, client="me")
    newest, oldest = known[0]["time"], known[-1]["time"]  # of which two calls may be
    assert await recorded(agent, client="me", since=newest) == [each for each in known if each["time"] == newest]
    assert await recorded(agent, client="me", until=oldest) == [each for each in known if each["time"] == oldest]
    assert newest != oldest
    assert await recorded(agent, sessionId="of-nobody") == []


@pytest.mark.parametrize("form", ["text", "records"])
async def test_a_cursor_reads_on_to_the_end_with_its_first_filters(agent: Agent, busy: list[str], form: str) -> None:
    whole = (await agent.call("get_activity", client="me", since="1h", format="records"))["records"]
    reply = await agent.call("get_activity", client="me", since="1h", limit=1, format=form)
    found = []
    while True:
        found += reply["records"] if form == "records" else reply["activity"].splitlines()[1:]
        if "cursor" not in reply:
            break
        reply = await agent.call("get_activity", cursor=reply["cursor"], limit=2, format=form)
    assert len(found) == len(whole) == len(busy)
    assert form == "text" or found == whole


@pytest.mark.usefixtures("busy")
async def test_a_budget_holds_and_always_leads_on(agent: Agent) -> None:
    reply = await agent.call("get_activity", client="me", budget=100)
    assert len(reply["activity"].splitlines()) == 2
    assert "cursor" in reply
    assert "cursor" not in await agent.call("get_activity", client="me")


@pytest.mark.parametrize(
    ("asked", "field", "said"),
    [
        ({"since": "yesterday"}, "since", "10m, 2h, 1d"),
        ({"until": "99999999d"}, "until", "is no time"),
        ({"since": "1m", "until": "1h"}, "since", "earlier time"),
        ({"actionName": "clik"}, "actionName", "click"),
        ({"cursor": "x"}, "cursor", "exactly as a reply did"),
        ({"cursor": "1.e30x"}, "cursor", "exactly as a reply did"),
        ({"cursor": "5.W10"}, "cursor", "exactly as a reply did"),
        ({"cursor": "5", "client": "me"}, "cursor", "cursor alone"),
        ({"limit": 0}, "limit", "Records at most"),
    ],
)
async def test_bad_filters_are_errors_that_name_the_field(
    agent: Agent, asked: dict[str, AnyJson], field: str, said: str
) -> None:
    error = await agent.error("get_activity", **asked)
    assert (error["code"], error["details"]["context"]["field"]) == ("VALIDATION_ERROR", field)
    assert said in f"{error['message']} {error['hint']}"


@pytest.mark.usefixtures("busy")
async def test_the_search_works_over_http_by_query(agent: Agent) -> None:
    reply = await agent.http.get(wire.ACTIVITY, params={"client": "me", "action": "fill", "limit": "2"})
    body = reply.json()
    assert [one["action"] for one in body["result"]["records"]] == ["fill", "fill"]
    more = await agent.http.get(wire.ACTIVITY, params={"cursor": body["result"]["cursor"]})
    assert [one["action"] for one in more.json()["result"]["records"]] == ["fill"]
    wrong = await agent.http.get(wire.ACTIVITY, params={"page": "mine"})
    assert (wrong.status_code, wrong.json()["error"]["code"]) == (422, "VALIDATION_ERROR")
    assert "pageId" in wrong.json()["error"]["hint"]


async def test_nothing_found_says_so(agent: Agent) -> None:
    assert "Nothing that matches" in (await agent.call("get_activity", client="nobody"))["activity"]
