"""Tests that an act's effects are reported by that act: its requests, what their answers change, and where it leads."""

import asyncio
import threading
from typing import Any

import pytest

from browser_service.host.stages import delta
from browser_service.host.tabs import late_effects
from tests.support.json import AnyJson
from tests.support.service import RunningService
from tests.support.site import Answer, Received
from tests.support.tab import NOTHING, Tab, Unhurried

pytestmark = [pytest.mark.anyio, pytest.mark.one_window]

OUT = "<p id=out>-</p><p id=two>-</p><button id=dead>Dead</button>"
READS = """<button id=b onclick="fetch('/d').then(r => r.text()).then(t => out.textContent = t)">Read</button>"""
BY_ITSELF = "since the last act, the page changed by itself:"


def _late(body: str) -> Any:  # Any: a route
    def answer(_: Received) -> Answer:
        threading.Event().wait(0.4)
        return Answer(body)

    return answer


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let waits last longer than any call may take."""
    monkeypatch.setattr(late_effects, "_REQUESTS_END_WITHIN_S", 100.0)
    monkeypatch.setattr(late_effects, "_EFFECTS_END_WITHIN_S", 100.0)


# --- requests that read ----------------------------------------------------------------------------------------------


async def test_a_change_by_a_gets_answer_is_reported_by_the_act_that_sent_it(tab: Tab) -> None:
    tab.site.page("/d", _late("Tea"))
    await tab.show(OUT + READS)
    told = await tab.call("click", selector="#b")
    assert told["observed"] == "GET /d → 200"
    assert told["requests"] == [{"method": "GET", "url": tab.site.url("/d"), "status": 200}]
    assert told["changes"].endswith(": Tea")
    assert await tab.call("click", selector="#dead") == {"observed": NOTHING}


async def test_requests_that_follow_from_answers_are_awaited_too(tab: Tab) -> None:
    for path in ("/one", "/two"):
        tab.site.page(path, _late(path))
    tab.site.page("/part.js", lambda _: Answer("out.textContent = 'all of it'", content_type="text/javascript"))
    await tab.show(
        OUT + "<button id=b onclick=\"fetch('/one', {method: 'POST'}).then(() => fetch('/two')).then(() => {"
        " const s = document.createElement('script'); s.src = '/part.js'; document.body.append(s) })\">Go</button>"
    )
    told = await tab.call("click", selector="#b")
    assert told["observed"] == "POST /one → 200; GET /two → 200"
    assert "all of it" in told["changes"]


async def test_a_step_of_a_batch_finds_the_page_as_the_one_before_left_it(tab: Tab) -> None:
    tab.site.page("/d", _late("Tea"))
    await tab.show(OUT + READS)
    steps = [{"action": "click", "selector": "#b"}, {"action": "content", "selector": "#out", "format": "text"}]
    clicked, read = (await tab.call("batch", steps=steps))["steps"]
    assert (clicked["observed"], read["content"]) == ("GET /d → 200", "Tea")


@pytest.mark.usefixtures("patient")
async def test_streams_beacons_and_pictures_are_not_waited_for(tab: Tab) -> None:
    release = threading.Event()
    tab.site.page("/stream", Answer("endless", pause=release))
    for path in ("/picture", "/beacon", "/events"):
        tab.site.page(path, Answer("", hold=release))
    await tab.show(
        OUT + "<button id=s onclick=\"fetch('/stream').then(() => out.textContent = 'it begins')\">Stream</button>"
        "<button id=p onclick=\"new Image().src = '/picture'; new EventSource('/events')\">Picture</button>"
        "<button id=c onclick=\"navigator.sendBeacon('/beacon')\">Beacon</button>"
    )
    streamed = await tab.call("click", selector="#s")
    assert streamed["observed"] == "GET /stream → 200, more of it is still to come"
    assert "it begins" in streamed["changes"]
    pictured = await tab.call("click", selector="#p")
    nothing = "nothing observable: no navigation, popup, dialog or change of the document"
    assert pictured["observed"] == Unhurried(f"{nothing}; an event stream is open")
    sent = await tab.call("click", selector="#c")
    assert sent["observed"] == "POST /beacon → a beacon, not waited for"
    assert not release.is_set()
    release.set()


@pytest.mark.usefixtures("patient")
async def test_polling_is_neither_reported_nor_waited_for(tab: Tab) -> None:
    release = threading.Event()
    tab.site.page("/poll", Answer("", hold=release))
    await tab.show(
        OUT + "<script>let n = 0; setInterval(() => { fetch('/poll?t=' + Date.now());"
        " if (++n === 20) document.body.insertAdjacentHTML('beforeend', '<b id=polls>It polls</b>') }, 80)</script>"
    )
    await tab.call("wait_for_selector", selector="#polls")
    for _ in range(4):
        told = await tab.call("click", selector="#dead")
        assert told["observed"].startswith("nothing observable within ")
    assert not release.is_set()
    release.set()


# --- whose a change is -----------------------------------------------------------------------------------------------


async def test_a_change_between_two_acts_is_no_effect_of_the_second(
    service: RunningService, tab: Tab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delta, "_SOON_S", 0)  # as for a model, which does not act again within a quarter of a second
    await tab.show(OUT + "<button id=now onclick=\"two.textContent = 'now'\">Now</button>")
    by_itself = "text => { out.textContent = text; document.title = 'Late' }"
    assert await tab.call("click", selector="#dead") == {"observed": NOTHING}
    await service.window("tab").evaluate(by_itself, "x")
    told = await tab.call("click", selector="#dead")
    assert told["observed"] == NOTHING
    heading, title, change = told["changes"].splitlines()
    assert (heading, title, change.endswith(": x")) == (BY_ITSELF, '~ title "Late"', True)
    await service.window("tab").evaluate(by_itself, "xx")
    told = await tab.call("click", selector="#now")
    assert told["observed"] == "done; the page changed"
    by_this, change, heading, earlier = told["changes"].splitlines()
    assert (by_this, change.endswith(": now")) == ("by this act:", True)
    assert (heading, earlier.endswith(": xx")) == (BY_ITSELF, True)


async def test_a_script_that_throws_an_empty_text_is_reported_and_recorded_too(tab: Tab) -> None:
    await tab.show("<button onclick=\"queueMicrotask(() => { throw '' })\">b</button>")
    told = await tab.call("click", selector="button")
    assert told["scriptErrors"] == ["(no message)"]
    (message,) = (await tab.call("get_console_messages", types=["exception"]))["messages"]
    assert message["text"] == ""


async def test_changes_of_title_and_style_are_reported(tab: Tab) -> None:
    await tab.show(
        OUT + "<button id=t onclick=\"document.title = 'Inbox (1)'\">Title</button>"
        "<button id=s onclick=\"out.style.color = 'red'\">Style</button>"
    )
    reply = (await tab.agent.reply("click", selector="#t")).json()
    titled = reply["result"]
    assert reply["page"]["title"] == "Inbox (1)"
    assert titled == {"observed": "done; the page changed", "changes": '~ title "Inbox (1)"'}
    styled = await tab.call("click", selector="#s")
    assert styled["observed"].startswith("done; the document changed, in what a snapshot does not show (a style")


# --- where it leads --------------------------------------------------------------------------------------------------

NEVER = """<a id=link href=/slow>Link</a><form action=/slow><input id=q name=q><button id=go>Go</button></form>
<select id=s onchange="location = '/slow'"><option>a<option>b</select>"""


LEADING: dict[str, dict[str, AnyJson]] = {
    "click": {"selector": "#link"},
    "press": {"selector": "#q", "key": "Enter"},
    "fill_form": {"fields": [{"selector": "#q", "value": "tea"}], "submit": "#go"},
    "select_option": {"selector": "#s", "value": "b"},
}


@pytest.mark.thorough
async def test_an_act_that_leads_to_an_unresponsive_server_succeeds_and_its_navigation_continues(tab: Tab) -> None:
    async def leads(act: str) -> None:
        release, slow, page = threading.Event(), f"/slow-{act}", {"pageId": act}
        tab.site.page(slow, Answer("<h1>At last</h1>", hold=release))
        await tab.agent.call("goto", **page, url=tab.site.page(f"/{act}", NEVER.replace("/slow", slow)))
        told = await tab.agent.call(act, **page, **LEADING[act], timeout=600)
        assert told["navigatingTo"].startswith(tab.site.url(slow))
        under_way = f"the navigation to {told['navigatingTo']} is under way: its server has not answered yet"
        assert (under_way in told["observed"], "nothing observable" in told["observed"]) == (True, False)
        assert not release.is_set()
        error = await tab.agent.error("snapshot", **page, timeout=300)
        assert error["code"] == "TIMEOUT"
        assert f"the page goes to {told['navigatingTo']}, whose server has not answered yet" in error["message"]
        release.set()
        assert "At last" in (await tab.agent.call("snapshot", **page, timeout=30_000))["snapshot"]
        assert tab.site.counts[slow] == 1

    await asyncio.gather(*map(leads, LEADING))  # each takes as long as such a server is waited for


async def test_a_form_that_navigates_while_it_is_filled_has_an_unknown_outcome(tab: Tab) -> None:
    release = threading.Event()
    tab.site.page("/slow", Answer("<h1>At last</h1>", hold=release))
    await tab.show(NEVER + "<input id=c type=checkbox>")
    fields = [{"selector": "#s", "value": "b"}, {"selector": "#c", "value": True}]
    error = await tab.error("fill_form", fields=fields, timeout=600)
    assert error["code"] == "UNKNOWN_OUTCOME"
    assert f"began to go to {tab.site.url('/slow')}, whose server has not answered yet" in error["message"]
    assert not release.is_set()
    release.set()
    assert "At last" in (await tab.call("snapshot", timeout=30_000))["snapshot"]


async def test_a_page_whose_server_does_not_answer_can_be_left(tab: Tab) -> None:
    release = threading.Event()
    tab.site.page("/slow", Answer("<h1>At last</h1>", hold=release))
    url = await tab.show(NEVER)
    await tab.call("click", selector="#link", timeout=600)
    gone = await tab.call("goto", pageId="tab", url=url)
    assert gone["observed"] == f"HTTP 200; navigated to {url}"
    assert (await tab.call("click", selector="#q"))["observed"] == NOTHING
    assert not release.is_set()
    release.set()


async def test_requests_alike_are_told_in_one_line(tab: Tab) -> None:
    tab.site.page("/ask", lambda _: Answer("{}", content_type="application/json"))
    post = "fetch('/ask', {method: 'POST'})"
    await tab.show(f"<button id=b onclick=\"{post}; {post}; fetch('/d', {{method: 'DELETE'}}); {post}\">Ask</button>")
    tab.site.page("/d", lambda _: Answer("", status=204))
    told = await tab.call("click", selector="#b")
    assert told["observed"] == "POST /ask → 200 (3 times); DELETE /d → 204"
    assert len(told["requests"]) == 4
