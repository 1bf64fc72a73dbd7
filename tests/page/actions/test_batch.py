"""Tests several actions in one call: done in order, in one turn, stopped at the first that fails.

It is longer than 300 lines because each rule of a single call has a test of how it holds for the steps of a batch.
"""

import asyncio
import threading

import pytest

from browse_together.contract import wire
from tests.support.json import AnyJson
from tests.support.service import Agent
from tests.support.site import Answer
from tests.support.tab import Tab
from tests.support.waiting import become

pytestmark = [pytest.mark.anyio, pytest.mark.one_window]

FORM = """<form action=/done method=post><input id=a name=a><input id=b name=b><button id=go>Go</button></form>
<p id=p>Hello</p>"""


def do(action: str, **arguments: AnyJson) -> dict[str, AnyJson]:
    return {"action": action, **arguments}


async def test_steps_are_done_in_order_and_each_says_what_came_of_it(tab: Tab) -> None:
    await tab.show(FORM)
    tab.site.page("/done", "<p id=p>Thanks</p>")
    result = await tab.call(
        "batch",
        steps=[
            do("fill", selector="#a", value="1"),
            do("content", selector="#p", format="text"),
            do("click", selector="#go"),
            do("evaluate", expression="location.pathname"),
            do("content", selector="#p", format="text"),
        ],
    )
    fill, before, click, place, after = result["steps"]
    assert fill == {"action": "fill", "observed": "as given: '1'"}
    assert (before["action"], before["content"], after["content"]) == ("content", "Hello", "Thanks")
    assert click["observed"].startswith(f"navigated to {tab.site.url('/done')}; POST /done → 200")
    assert place == {"action": "evaluate_script", "value": "/done"}
    assert [one.body for one in tab.site.received if one.method == "POST"] == [b"a=1&b="]


async def test_a_batch_stops_at_the_first_failing_step_and_says_what_was_done(tab: Tab) -> None:
    await tab.show(FORM)
    steps = [
        do("fill", selector="#a", value="1"),
        do("click", selector="#none", timeout=300),
        do("fill", selector="#b", value="2"),
        do("click", selector="#go"),
    ]
    error = await tab.error("batch", steps=steps)
    assert error["code"] == "ELEMENT_NOT_FOUND"
    assert error["message"] == (
        "At step 2 of 4 (click): Element matching selector '#none' not found after 300ms. "
        "Done before: 1 fill. Not begun: 3 fill, 4 click."
    )
    assert error["details"]["selector"] == "#none"
    context = error["details"]["context"]
    assert (context["step"], context["done"]) == (1, [{"action": "fill", "observed": "as given: '1'"}])
    assert await tab.sees("[a.value, b.value, location.pathname]") == ["1", "", "/page-1"]


async def test_each_step_has_its_own_time_limit_and_the_batch_limits_all(tab: Tab) -> None:
    await tab.show(FORM)
    error = await tab.error("batch", steps=[do("evaluate", expression="new Promise(() => 0)", timeout=300)])
    assert error["code"] == "TIMEOUT"
    assert error["message"].startswith("At step 1 of 1 (evaluate_script): evaluate_script did not end within 300 ms.")
    steps = [do("fill", selector="#a", value="1"), do("wait", duration=20_000), do("fill", selector="#b", value="2")]
    error = await tab.error("batch", steps=steps, timeout=500)
    assert error["code"] == "TIMEOUT"
    assert error["message"].startswith("At step 2 of 3 (wait): batch did not end within 500 ms.")
    assert "Not begun: 3 fill." in error["message"]
    assert await tab.sees("[a.value, b.value]") == ["1", ""]


async def test_a_steps_needs_are_checked_when_its_turn_comes(tab: Tab) -> None:
    url = await tab.show(FORM)
    tab.site.page("/done", "thanks")
    steps = [do("click", selector="#go"), do("fill", selector="#a", value="x", expectUrl=url)]
    error = await tab.error("batch", steps=steps)
    assert error["code"] == "STALE_REVISION"
    assert error["message"].startswith(f"At step 2 of 2 (fill): Page 'tab' is at {tab.site.url('/done')}")
    assert "Done before: 1 click: navigated to" in error["message"]
    revision = (await tab.agent.reply("get_current_url")).json()["page"]["revision"]
    assert (await tab.error("batch", steps=[do("content")], ifRevision=revision - 1))["code"] == "STALE_REVISION"


async def test_a_ref_of_a_snapshot_among_the_steps_is_good_from_then_on(tab: Tab) -> None:
    await tab.show("<button>One</button>")
    await tab.call("batch", steps=[do("snapshot")])
    tree = (await tab.call("batch", steps=[do("snapshot"), do("get_page_title")]))["steps"][0]["snapshot"]
    ref = tree.split("[ref=")[1].split("]")[0]
    assert (await tab.call("batch", steps=[do("hover", selector=ref)]))["steps"][0]["action"] == "hover"


async def test_reading_steps_share_the_room_of_the_reply(tab: Tab) -> None:
    await tab.show("<p>" + "x" * 30_000)
    steps = [do("content"), do("content", budget=100), do("content")]
    reply = await tab.agent.reply("batch", steps=steps, headers={wire.INLINE: "3000"})
    read = reply.json()["result"]["steps"]
    assert [len(each["content"]) for each in read] == [1000, 100, 1000]
    rest = (await tab.call("batch", steps=[do("content", cursor=read[1]["cursor"], budget=200)]))["steps"][0]
    whole = (await tab.call("content"))["content"]
    assert read[1]["content"] + rest["content"] == whole[:300]


async def test_a_page_can_be_closed_as_the_last_step(tab: Tab) -> None:
    url = await tab.show(FORM)
    result = await tab.call("batch", steps=[do("get_page_title"), do("close_page")])
    observed = f"page tab is closed; it was at {url}"
    closed = {"action": "close_page", "closed": "tab", "url": url, "observed": observed}
    assert result["steps"] == [{"action": "get_page_title", "title": "/page-1"}, closed]
    assert (await tab.error("content", pageId="tab"))["code"] == "PAGE_NOT_FOUND"


# --- sharing -----------------------------------------------------------------------------------------------------


async def test_a_batch_that_only_reads_needs_no_lease_and_one_that_acts_takes_it(
    agent: Agent, other: Agent, tab: Tab
) -> None:
    await tab.show(FORM)
    reads = await other.call("batch", pageId="tab", steps=[do("get_page_title"), do("content")])
    assert reads["steps"][0]["title"] == "/page-1"
    for act in (do("click", selector="#go"), do("close_page")):
        assert (await other.error("batch", pageId="tab", steps=[do("content"), act]))["code"] == "PAGE_OWNED"
    await agent.call("release_page", pageId="tab")
    await other.call("batch", pageId="tab", steps=[do("fill", selector="#a", value="x")])
    assert (await agent.error("fill", pageId="tab", selector="#a", value="y"))["code"] == "PAGE_OWNED"


async def test_no_other_call_comes_between_the_steps(agent: Agent, tab: Tab) -> None:
    await tab.show("<script>window.seen = []</script>")
    note = [do("evaluate", expression=f"void seen.push({n})") for n in range(20)]
    batch = asyncio.create_task(agent.call("batch", pageId="tab", steps=[*note]))
    others = [agent.call("evaluate", pageId="tab", expression="void seen.push('x')") for _ in range(5)]
    await asyncio.gather(batch, *others)
    seen = await tab.sees("seen")
    first = seen.index(0)
    assert seen[first : first + 20] == [*range(20)]
    assert len(seen) == 25


async def test_a_cancelled_batch_says_which_steps_were_done(agent: Agent, tab: Tab) -> None:
    await tab.show(FORM)
    answer = threading.Event()
    tab.site.page("/held", Answer("late", hold=answer))
    steps = [do("fill", selector="#a", value="1"), do("fetch", url="/held"), do("fill", selector="#b", value="2")]
    calling = asyncio.create_task(agent.reply("batch", pageId="tab", steps=steps, headers={wire.CALL_ID: "long"}))
    await become(lambda: tab.site.counts["/held"] == 1)
    await agent.call("cancel_call", callId="long")
    error = (await calling).json()["error"]
    answer.set()
    assert error["code"] == "UNKNOWN_OUTCOME"
    assert error["message"] == (
        "At step 2 of 3 (fetch): batch was cancelled while it ran. Done before: 1 fill. Not begun: 3 fill."
    )
    assert await tab.sees("[a.value, b.value]") == ["1", ""]


async def test_a_dialog_holds_the_batch_up_and_its_answer_lets_it_go_on(tab: Tab) -> None:
    await tab.show("<button onclick=\"out.textContent = confirm('Sure?') ? 'yes' : 'no'\">Ask</button><p id=out></p>")
    steps = [do("click", selector="button"), do("content", selector="#out", format="text")]
    asked = await tab.call("batch", steps=steps)
    assert asked["suspended"] is True
    assert "shows confirm 'Sure?', and batch waits for its answer" in asked["observed"]
    ended = await tab.call("handle_dialog", pageId="tab", accept=True)
    click, out = ended["steps"]
    assert "confirm 'Sure?' was accepted" in click["observed"]
    assert out["content"] == "yes"


async def test_a_step_that_times_out_after_a_dialog_of_another_step_is_a_plain_timeout(tab: Tab) -> None:
    await tab.show("<button onclick=\"alert('hi')\">Ask</button>")
    steps = [do("click", selector="button"), do("click", selector="#none", timeout=300)]
    await tab.call("batch", steps=steps)
    ended = await tab.call("handle_dialog", pageId="tab", accept=True)
    assert ended["error"]["code"] == "ELEMENT_NOT_FOUND"
    assert "At step 2 of 2 (click): " in ended["error"]["message"]


async def test_each_acting_step_counts_as_one_revision(tab: Tab) -> None:
    await tab.show(FORM)
    before = (await tab.agent.reply("get_current_url")).json()["page"]["revision"]
    steps = [do("fill", selector="#a", value="1"), do("content"), do("fill", selector="#b", value="2")]
    after = (await tab.agent.reply("batch", steps=steps)).json()["page"]["revision"]
    assert after == before + 2


# --- steps that one page's turn cannot hold ----------------------------------------------------------------------


@pytest.mark.own_window
async def test_steps_of_several_pages_and_of_none_are_done_in_order(agent: Agent, tab: Tab) -> None:
    await tab.show(FORM)
    other = tab.site.page("/other", "<title>Other</title><h1>Other</h1>")
    result = await tab.call(
        "batch",
        pageId="tab",
        steps=[
            do("fill", selector="#a", value="1"),
            do("open_page", pageId="second", url=other),
            do("content", pageId="second", selector="h1", format="text"),
            do("call_tool", name="content", arguments={"selector": "#p", "format": "text"}),
            do("set_cookies", cookies=[{"name": "step", "value": "1", "url": other}], affectOthers=True),
            do("list_pages"),
            do("close_page", pageId="second"),
        ],
    )
    fill, opened, there, here, _, listed, closed = result["steps"]
    assert (fill["pageId"], fill["observed"]) == ("tab", "as given: '1'")
    assert opened["pageId"] == "second"
    assert (there["pageId"], there["content"], there["url"]) == ("second", "Other", other)
    assert (here["pageId"], here["content"]) == ("tab", "Hello")
    assert {"tab", "second"} <= {page["pageId"] for page in listed["yours"]}
    assert closed["closed"] == "second"
    cookies = await agent.call("get_cookies")
    assert "step" in {cookie["name"] for cookie in cookies["cookies"]}
    records = (await agent.call("get_activity", client="me", format="records", limit=10))["records"]
    actions = [record["action"] for record in records]
    assert "batch" not in actions, "each step is on record as what it was"
    assert {"fill", "open_page", "set_cookies", "close_page"} <= {*actions}


async def test_a_batch_that_names_no_page_goes_on_where_its_last_step_was(agent: Agent, tab: Tab) -> None:
    await tab.show(FORM)
    other = tab.site.page("/other", "<title>Other</title><h1 onclick=\"this.textContent = 'Hit'\">Other</h1>")
    steps = [do("open_page", url=other), do("click", selector="h1"), do("content", selector="h1", format="text")]
    reply = (await agent.reply("batch", steps=[*steps, do("close_page"), do("list_downloads")])).json()
    opened, click, read, closed, _ = reply["result"]["steps"]
    assert len({step["pageId"] for step in (opened, click, read)}) == 1
    assert read["content"] == "Hit"
    assert closed["closed"] == opened["pageId"]
    assert await tab.sees("location.pathname") == "/page-1"


async def test_a_dialog_is_answered_by_a_step(tab: Tab) -> None:
    await tab.show("<button onclick=\"out.textContent = confirm('Sure?') ? 'yes' : 'no'\">Ask</button><p id=out></p>")
    ask, read = do("click", selector="button"), do("content", selector="#out", format="text")
    result = await tab.call("batch", steps=[ask, do("handle_dialog", accept=True), read])
    click, handled, out = result["steps"]
    assert click["suspended"] is True
    assert "confirm 'Sure?' was accepted" in handled["observed"]
    assert out["content"] == "yes"
    error = await tab.error("batch", steps=[ask, do("hover", selector="p"), do("handle_dialog", accept=False)])
    assert error["code"] == "DIALOG_OPEN"
    assert error["message"].startswith("At step 2 of 3 (hover): ")
    assert error["message"].endswith("Not begun: 3 handle_dialog.")
    await tab.call("handle_dialog", accept=False)


async def test_a_wait_with_its_act_is_a_step(tab: Tab) -> None:
    await tab.show("<button onclick=\"fetch('/data')\">Load</button>")
    tab.site.page("/data", "{}")
    wait = do("wait_for_response", pattern="*/data", during=do("click", selector="button"))
    waited, title = (await tab.call("batch", steps=[wait, do("get_page_title")]))["steps"]
    assert "/data" in str(waited)
    assert title["title"] == "/page-1"


async def test_each_steps_rules_apply_and_nothing_is_done_if_one_is_refused(
    agent: Agent, other: Agent, tab: Tab
) -> None:
    await tab.show(FORM)
    await agent.call("create_session", sessionId="mine")
    await other.call("open_page", pageId="theirs")
    fill = do("fill", pageId="theirs", selector="#a", value="x")
    for foreign in (do("get_cookies", sessionId="mine"), do("open_page", sessionId="mine")):
        error = await other.error("batch", steps=[do("open_page", pageId="never"), foreign])
        assert error["code"] == "FORBIDDEN"
        assert "At step" not in error["message"], "refused before the first step"
    assert (await other.error("content", pageId="never"))["code"] == "PAGE_NOT_FOUND"
    acts = [do("click", selector="#go"), do("close_page"), do("hold_page", reason="x")]
    for step in ({**act, "pageId": "tab"} for act in acts):
        error = await other.error("batch", steps=[do("get_page_title", pageId="theirs"), step, fill])
        assert error["code"] == "PAGE_OWNED", error
        assert error["message"].startswith(f"At step 2 of 3 ({step['action']}): ")
        assert error["message"].endswith("Done before: 1 get_page_title. Not begun: 3 fill.")
    await agent.call("close_session", sessionId="mine")
    await other.call("close_page", pageId="theirs")


async def test_a_batchs_timeout_covers_all_steps_and_a_cancel_ends_the_running_one(agent: Agent, tab: Tab) -> None:
    await tab.show(FORM)
    fill, pages = do("fill", selector="#a", value="1"), do("list_pages")
    error = await tab.error("batch", steps=[fill, pages, do("wait", duration=20_000), pages], timeout=800)
    assert error["code"] in {"TIMEOUT", "UNKNOWN_OUTCOME"}
    assert error["message"].startswith("At step 3 of 4 (wait): batch did not end within 800 ms.")
    assert error["message"].endswith("Not begun: 4 list_pages.")
    answer = threading.Event()
    tab.site.page("/held", Answer("late", hold=answer))
    steps = [pages, do("fetch", url="/held"), fill]
    calling = asyncio.create_task(agent.reply("batch", pageId="tab", steps=steps, headers={wire.CALL_ID: "apart"}))
    await become(lambda: tab.site.counts["/held"] == 1)
    await agent.call("cancel_call", callId="apart")
    error = (await calling).json()["error"]
    answer.set()
    assert error["code"] == "UNKNOWN_OUTCOME"
    assert error["message"].startswith("At step 2 of 3 (fetch): ")
    assert error["message"].endswith("Not begun: 3 fill.")
