"""Tests dialogs: a page with an open dialog waits for its answer, no call waits with it, and nobody answers for
another.

It is longer than 300 lines because each kind of dialog and each call that meets one has a test."""

import asyncio
import json
import re
from typing import Any

import pytest

from browse_together.contract import wire
from browser_service.host.record.life import Life
from tests.support.dialogs import CONFIRM, OPENER, asking, asks, notices
from tests.support.json import AnyJson
from tests.support.listening import sent
from tests.support.service import Agent, RunningService
from tests.support.site import Site
from tests.support.waiting import become

pytestmark = pytest.mark.anyio

ASKS = "confirm('Still there?')"
QUEUED: dict[str, dict[str, Any]] = {  # Any: whatever JSON a call takes
    "click": {"selector": "button"},
    "fill": {"selector": "#i", "value": "x"},
    "evaluate_script": {"expression": "1"},
    "goto": {"url": "about:blank"},
    "reload_page": {},
    "snapshot": {},
    "content": {},
    "screenshot": {},
    "get_page_title": {},
    "wait_for_selector": {"selector": "button"},
}


# --- the call that a dialog holds up ---------------------------------------------------------------------------------


async def test_a_click_that_asks_replies_at_once_with_the_dialog_and_the_next_call(agent: Agent, site: Site) -> None:
    await agent.call("goto", pageId="p", url=site.page("/", CONFIRM))
    reply = (await agent.reply("click", pageId="p", selector="button", headers={wire.CALL_ID: "k"})).json()
    assert reply["success"] is True
    assert reply["result"]["dialog"] == {"type": "confirm", "message": "Delete all?", "pageId": "p"}
    assert reply["result"]["suspended"] is True
    assert "p shows confirm 'Delete all?', and click waits for its answer" in reply["result"]["observed"]
    assert 'handle_dialog {"pageId": "p", "accept": true} (or false)' in reply["result"]["observed"]
    assert reply["page"]["dialog"] == "confirm 'Delete all?'"
    assert reply["notices"] == []


@pytest.mark.parametrize("accept", [True, False])
async def test_the_answer_to_a_confirm_reaches_the_page_and_returns_what_came_of_the_click(
    agent: Agent, site: Site, *, accept: bool
) -> None:
    script = "if (confirm('Delete all?')) fetch('/all', {method: 'DELETE'})"
    site.page("/all", "gone")
    await agent.call("goto", pageId="p", url=site.page("/", f'<button onclick="{script}">b</button>'))
    await agent.call("click", pageId="p", selector="button")
    result = await agent.call("handle_dialog", pageId="p", accept=accept)
    how = "accepted" if accept else "dismissed"
    assert result["answered"] == {
        "type": "confirm",
        "message": "Delete all?",
        "pageId": "p",
        "accepted": accept,
    }
    assert f"confirm 'Delete all?' was {how}" in result["observed"]
    assert result["observed"].startswith("click: ")
    assert ("DELETE /all → 200" in result["observed"]) is accept
    assert site.counts["/all"] == int(accept)
    assert "dialog" not in result


ASKING: list[tuple[str, dict[str, AnyJson], str | None]] = [
    ("confirm('q') ? 'yes' : 'no'", {"accept": True}, "yes"),
    ("confirm('q') ? 'yes' : 'no'", {"accept": False}, "no"),
    ("prompt('Name?', 'Ana')", {"accept": True, "promptText": "Bo"}, "Bo"),
    ("prompt('Name?', 'Ana')", {"accept": True}, "Ana"),
    ("prompt('Name?', 'Ana')", {"accept": True, "promptText": ""}, ""),
    ("prompt('Name?', 'Ana')", {"accept": False}, None),
    ("(alert('hi'), 'after')", {"accept": True}, "after"),
    ("(alert('hi'), 'after')", {"accept": False}, "after"),
]


async def test_the_value_of_a_script_that_asked_comes_with_the_answer(agent: Agent, site: Site) -> None:
    await agent.call("goto", pageId="p", url=site.page("/", "x"))
    for script, answer, value in ASKING:
        asked = await agent.call("evaluate_script", pageId="p", expression=script)
        assert asked["dialog"]["type"] == re.split(r"\W+", script.lstrip("("))[0]
        assert "value" not in asked
        result = await agent.call("handle_dialog", pageId="p", **answer)
        assert result["value"] == value, (script, answer)
        assert result["callId"] == asked["callId"]
        assert "evaluate_script gave a value" in result["observed"]
        assert result["gave"] == (value if isinstance(value, str) else json.dumps(value))
        assert (await agent.call("get_call", callId=asked["callId"]))["value"] == value


async def test_a_prompt_shows_its_default_value_and_where_to_answer(agent: Agent, site: Site) -> None:
    await agent.call("goto", pageId="p", url=site.page("/", "x"))
    asked = await agent.call("evaluate_script", pageId="p", expression="prompt('Name?', 'Ana')")
    assert asked["dialog"] == {"type": "prompt", "message": "Name?", "defaultValue": "Ana", "pageId": "p"}
    assert '"accept": true, "promptText": "..."}' in asked["observed"]


async def test_two_dialogs_in_a_row_are_answered_one_after_the_other(agent: Agent, site: Site) -> None:
    await agent.call("goto", pageId="p", url=site.page("/", "x"))
    script = "(prompt('First?') + prompt('Second?'))"
    first = await agent.call("evaluate_script", pageId="p", expression=script)
    second = await agent.call("handle_dialog", pageId="p", accept=True, promptText="a")
    assert second["answered"]["message"] == "First?"
    assert second["dialog"]["message"] == "Second?"
    assert "Now p shows prompt 'Second?'" in second["observed"]
    assert "value" not in second
    end = await agent.call("handle_dialog", pageId="p", accept=True, promptText="b")
    assert (end["value"], end["callId"]) == ("ab", first["callId"])


async def test_a_dialog_that_is_open_longer_than_its_clicks_timeout_still_gives_what_came_of_it(
    service: RunningService, agent: Agent, site: Site
) -> None:
    """Playwright's timeout goes on while a dialog is open."""
    script = "if (confirm('Delete all?')) fetch('/all', {method: 'DELETE'})"
    site.page("/all", "gone")
    await agent.call("goto", pageId="p", url=site.page("/", f'<button onclick="{script}">b</button>'))
    asked = await agent.call("click", pageId="p", selector="button", timeout=300)
    entry = service.entry("p")
    await become(lambda: entry.record.life is Life.SUSPECT)  # Playwright has given up
    result = await agent.call("handle_dialog", pageId="p", accept=True)
    assert "error" not in result
    assert "its end not seen" in result["observed"]
    assert "DELETE /all → 200; confirm 'Delete all?' was accepted" in result["observed"]
    assert (await agent.call("get_call", callId=asked["callId"]))["observed"] in result["observed"]


async def test_an_element_that_does_not_come_while_a_dialog_is_open_is_not_found(
    service: RunningService, agent: Agent, site: Site
) -> None:
    await agent.call("goto", pageId="p", url=site.page("/", "x"))
    entry = service.entry("p")
    clicking = sent(agent, "c", "click", pageId="p", selector="#none", timeout=3_000)
    await become(lambda: entry.queue.current is not None)
    await asks(service, "p", "alert('wait')")
    assert (await clicking).json()["result"]["suspended"] is True
    await become(lambda: entry.record.life is Life.SUSPECT)
    result = await agent.call("handle_dialog", pageId="p", accept=True)
    assert result["error"]["code"] == "ELEMENT_NOT_FOUND"
    assert "click failed: ELEMENT_NOT_FOUND" in result["observed"]


async def test_an_answer_is_a_new_revision(service: RunningService, agent: Agent, site: Site) -> None:
    await agent.call("goto", pageId="p", url=site.page("/", "x"))
    await asks(service, "p", ASKS)
    before = (await agent.reply("get_current_url", pageId="p")).json()["page"]["revision"]
    answered = (await agent.reply("handle_dialog", pageId="p", accept=True)).json()
    assert answered["page"]["revision"] > before


# --- the calls beside it ---------------------------------------------------------------------------------------------


async def test_every_call_that_would_hang_on_an_open_dialog_is_refused_at_once_with_the_next_call(
    service: RunningService, agent: Agent, site: Site
) -> None:
    """The deadlock of an open dialog: nothing may wait for what only a next call can end."""
    await agent.call("goto", pageId="p", url=site.page("/", CONFIRM))
    await agent.call("click", pageId="p", selector="button")
    for action, arguments in QUEUED.items():
        error = await agent.error(action, pageId="p", **arguments)
        assert (error["status"], error["code"]) == (409, "DIALOG_OPEN"), action
        assert "confirm 'Delete all?'" in error["message"]
        assert 'handle_dialog {"pageId": "p", "accept": true}' in error["hint"]
        assert error["details"]["context"]["dialog"]["type"] == "confirm"
    assert service.entry("p").queue.busy
    await agent.call("handle_dialog", pageId="p", accept=True)
    assert (await agent.call("evaluate_script", pageId="p", expression="window.said"))["value"] is True


async def test_calls_that_ask_nothing_of_the_page_work_while_a_dialog_is_open(
    agent: Agent, other: Agent, site: Site
) -> None:
    url = site.page("/", CONFIRM)
    await agent.call("goto", pageId="p", url=url)
    await agent.call("click", pageId="p", selector="button")
    for who in (agent, other):
        assert (await who.call("get_current_url", pageId="p"))["url"] == url
        listed = await who.call("list_pages")
        (page,) = [
            page
            for part in (listed["yours"], listed["people"], listed["others"])
            for page in part
            if page["pageId"] == "p"
        ]
        assert page["dialog"] == "confirm 'Delete all?'"
        await who.call("wait", pageId="p", duration=1)
    assert (await agent.error("get_call", callId="none"))["status"] == 404
    await agent.call("handle_dialog", pageId="p", accept=True)
    (page,) = (await agent.call("list_pages"))["yours"]
    assert "dialog" not in page


async def test_queued_calls_are_refused_when_a_dialog_opens(
    service: RunningService, agent: Agent, other: Agent, site: Site
) -> None:
    await agent.call("goto", pageId="p", url=site.page("/", CONFIRM))
    script = "new Promise(done => { window.ask = () => done(confirm('Now?')) })"
    holding = sent(agent, "h", "evaluate_script", pageId="p", expression=script)
    queue = service.entry("p").queue
    await become(lambda: queue.current is not None)
    behind = [sent(agent, "q", "fill", pageId="p", selector="#i", value="x"), sent(other, "r", "snapshot", pageId="p")]
    beside = sent(other, "w", "wait_for_selector", pageId="p", selector="#never")
    await become(lambda: len(service.running_calls()) == 4)
    live = service.window("p")
    await live.wait_for_function("!!window.ask")  # its call has the turn before its script has run
    await live.evaluate("void setTimeout(() => window.ask(), 0)")
    assert (await holding).json()["result"]["dialog"]["message"] == "Now?"
    for call in (*behind, beside):
        assert (await call).json()["error"]["code"] == "DIALOG_OPEN"
    assert f'Only "{agent.label}"' in (await beside).json()["error"]["hint"]
    assert (await agent.call("handle_dialog", pageId="p", accept=True))["value"] is True
    value = await agent.call("evaluate_script", pageId="p", expression="document.querySelector('#i').value")
    assert value["value"] == ""


async def test_pages_of_others_in_the_same_session_go_on_while_a_dialog_is_open(
    agent: Agent, other: Agent, site: Site
) -> None:
    await agent.call("goto", pageId="p", url=site.page("/", CONFIRM))
    await other.call("goto", pageId="o", url=site.page("/o", "<button onclick='window.n = 1'>b</button>"))
    await agent.call("click", pageId="p", selector="button")
    await other.call("click", pageId="o", selector="button")
    assert (await other.call("evaluate_script", pageId="o", expression="window.n"))["value"] == 1
    await other.call("goto", pageId="new", url=site.url("/o"))
    assert (await agent.call("handle_dialog", pageId="p", accept=False))["answered"]["accepted"] is False


async def test_nobody_answers_for_another(agent: Agent, other: Agent, site: Site) -> None:
    await agent.call("goto", pageId="p", url=site.page("/", CONFIRM))
    asked = await agent.call("click", pageId="p", selector="button")
    error = await other.error("handle_dialog", pageId="p", accept=True)
    assert (error["status"], error["code"]) == (423, "PAGE_OWNED")
    assert (await other.error("get_call", callId=asked["callId"]))["status"] == 404
    seen = await other.error("snapshot", pageId="p")
    assert seen["code"] == "DIALOG_OPEN"
    assert "handle_dialog" not in seen["hint"]
    await agent.call("handle_dialog", pageId="p", accept=False)
    assert (await agent.call("evaluate_script", pageId="p", expression="window.said"))["value"] is False


# --- windows that scripts share --------------------------------------------------------------------------------------


async def test_a_popups_alert_that_blocks_its_openers_click_is_answered_there(
    service: RunningService, agent: Agent, site: Site
) -> None:
    """The deadlock of a popup's alert: the click of one page waits for the dialog of another."""
    site.page("/popup", "<script>alert('hi')</script>loaded")
    await agent.call("goto", pageId="p", url=site.page("/", OPENER))
    asked = await agent.call("click", pageId="p", selector="button")
    if "dialog" not in asked:  # the click had ended before the popup asked
        await asking(service, "p~1")
    else:
        assert asked["dialog"] == {"type": "alert", "message": "hi", "pageId": "p~1"}
        assert 'handle_dialog {"pageId": "p~1", "accept": true}' in asked["observed"]
    refused = await agent.error("evaluate_script", pageId="p", expression="1")
    assert refused["code"] == "DIALOG_OPEN"
    assert 'handle_dialog {"pageId": "p~1"' in refused["hint"]
    wrong = await agent.error("handle_dialog", pageId="p", accept=True)
    assert (wrong["status"], wrong["code"]) == (409, "INVALID_REQUEST")
    assert 'handle_dialog {"pageId": "p~1"' in wrong["hint"]
    result = await agent.call("handle_dialog", pageId="p~1", accept=True)
    if "dialog" in asked:
        assert "click: " in result["observed"]
    assert (await agent.call("content", pageId="p~1", format="text"))["content"] == "loaded"
    assert (await agent.call("evaluate_script", pageId="p", expression="1"))["value"] == 1


async def test_a_private_windows_dialog_text_is_not_shown_to_its_openers_holder(
    service: RunningService, agent: Agent, other: Agent, site: Site
) -> None:
    site.page("/popup", "<button onclick=\"setTimeout(() => alert('the secret'))\">b</button>")
    await agent.call("goto", pageId="p", url=site.page("/", OPENER))
    await agent.call("click", pageId="p", selector="button")
    await agent.call("share_page", pageId="p~1", access="private")
    await other.call("claim_page", pageId="p", reason="the user asked")
    await agent.call("click", pageId="p~1", selector="button")
    await asking(service, "p~1")
    refused = await other.reply("evaluate_script", pageId="p", expression="1")
    assert refused.json()["error"]["code"] == "DIALOG_OPEN"
    assert "the secret" not in refused.text
    await agent.call("handle_dialog", pageId="p~1", accept=True)
    slow = "new Promise((done) => { window.begun = 1; setTimeout(() => done(1), 5000) })"
    running = asyncio.create_task(other.reply("evaluate_script", pageId="p", expression=slow))
    await become(lambda: any(run.call.client_id == other.client_id for run in service.running_calls().values()))
    await agent.call("click", pageId="p~1", selector="button")
    suspended = await running
    assert not [word for word in ("the secret", "p~1", agent.label) if word in suspended.text], suspended.text
    await agent.call("handle_dialog", pageId="p~1", accept=True)


async def test_a_dialog_that_an_opener_raises_in_its_popup_returns_the_openers_value(agent: Agent, site: Site) -> None:
    await agent.call("goto", pageId="p", url=site.page("/", "x"))
    asked = await agent.call("evaluate_script", pageId="p", expression="window.open('').confirm('in the popup?')")
    popup = asked["dialog"]["pageId"]
    assert popup == "p~1"
    assert (await agent.call("handle_dialog", pageId=popup, accept=True))["value"] is True


# --- dialogs that nobody asked for -----------------------------------------------------------------------------------


async def test_a_dialog_that_opens_while_no_call_runs_is_told_to_the_holder(
    service: RunningService, agent: Agent, site: Site
) -> None:
    await agent.call("goto", pageId="p", url=site.page("/", "x"))
    await asks(service, "p", ASKS)
    (told,) = notices(await agent.reply("list_pages"))
    assert told.startswith("p shows confirm 'Still there?'. Answer it: handle_dialog")
    result = await agent.call("handle_dialog", pageId="p", accept=True)
    assert result["observed"] == "confirm 'Still there?' was accepted"
    assert notices(await agent.reply("list_pages")) == []


async def test_an_answer_that_nothing_waited_for_says_what_the_page_made_of_it(
    service: RunningService, agent: Agent, site: Site
) -> None:
    home = site.page("/home", "home")
    await agent.call("goto", pageId="p", url=site.page("/", "x"))
    await asks(service, "p", "if (confirm('Home?')) location = '/home'")
    result = await agent.call("handle_dialog", pageId="p", accept=True)
    assert (result["navigatedTo"], "dialog" in result) == (home, False)


async def test_an_answer_without_an_open_dialog_is_refused_with_a_reason(agent: Agent, site: Site) -> None:
    await agent.call("goto", pageId="p", url=site.page("/", CONFIRM))
    error = await agent.error("handle_dialog", pageId="p", accept=True)
    assert (error["status"], error["code"]) == (409, "INVALID_REQUEST")
    assert "p shows no dialog" in error["message"]
    before = (await agent.reply("get_current_url", pageId="p")).json()["page"]["revision"]
    await agent.error("handle_dialog", pageId="p", accept=True)
    assert (await agent.reply("get_current_url", pageId="p")).json()["page"]["revision"] == before
    await agent.call("click", pageId="p", selector="button")
    wrong = await agent.error("handle_dialog", pageId="p", accept=True, promptText="x")
    assert (wrong["code"], wrong["details"]["context"]["field"]) == ("VALIDATION_ERROR", "promptText")
    assert (await agent.error("handle_dialog", pageId="p", accept=False, promptText="x"))["code"] == "VALIDATION_ERROR"
    await agent.call("handle_dialog", pageId="p", accept=True)


async def test_one_of_two_simultaneous_answers_counts(agent: Agent, site: Site) -> None:
    await agent.call("goto", pageId="p", url=site.page("/", CONFIRM))
    await agent.call("click", pageId="p", selector="button")
    replies = await asyncio.gather(*(agent.reply("handle_dialog", pageId="p", accept=True) for _ in range(4)))
    assert sorted(reply.status_code for reply in replies) == [200, 409, 409, 409]
