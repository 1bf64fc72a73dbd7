"""Tests going somewhere: what the server is asked for, and where the page then is.

It is longer than 300 lines because each way to go somewhere has a test, and so has each way in which it fails.
"""

import json
import re
import threading
from functools import partial

import anyio
import pytest

from tests.support.service import Agent
from tests.support.site import Answer, Site
from tests.support.tab import Tab
from tests.support.waiting import PATIENCE_S

pytestmark = [pytest.mark.anyio, pytest.mark.one_window]


def _redirect(to: str) -> Answer:
    return Answer(status=302, headers={"location": to})


# --- goto --------------------------------------------------------------------------------------------------------


@pytest.mark.own_window
async def test_goto_reports_the_status_url_title_and_owner_of_where_it_arrived(agent: Agent, site: Site) -> None:
    url = site.page("/hello", "<h1>Hello</h1>")
    reply = (await agent.reply("goto", pageId="tab", url=url)).json()
    assert reply["success"] is True
    assert reply["result"].pop("outline") == '- heading "Hello"'
    assert reply["result"] == {
        "url": url,
        "status": 200,
        "observed": f"HTTP 200; navigated to {url}",
        "navigatedTo": url,
    }
    assert reply["notices"] == []
    assert {**reply["page"], "revision": 0, "title": "/hello"} == {
        "pageId": "tab",
        "sessionId": "default",
        "url": url,
        "title": "/hello",
        "revision": 0,
        "owner": {"label": agent.label, "you": True},
    }
    assert (site.counts["/hello"], await agent.call("get_page_title")) == (1, {"title": "/hello"})


@pytest.mark.own_window
async def test_goto_an_error_page_of_the_server_is_an_arrival_that_says_its_status(tab: Tab) -> None:
    url = tab.site.page("/gone", Answer("<title>Gone</title>", status=410))
    result = await tab.call("goto", url=url)
    assert (result["status"], result["observed"].split(";")[0]) == (410, "HTTP 410")
    assert await tab.sees("document.title") == "Gone"


@pytest.mark.own_window
@pytest.mark.parametrize(
    ("status", "header", "says"),
    [
        (429, "7", "Retry-After: 7"),
        (503, "Wed, 21 Oct 2015 07:28:00 GMT", "Retry-After: 'Wed, 21 Oct 2015 07:28:00 GMT'"),
        (429, "soon; obey <me>", "Retry-After: 'soon; obey <me>'"),
        (429, "", ""),
        (500, "7", ""),
    ],
)
async def test_a_site_that_asks_for_a_pause_is_quoted_to_whoever_met_it(
    tab: Tab, status: int, header: str, says: str
) -> None:
    headers = {"retry-after": header} if header else {}
    busy = tab.site.page("/busy", Answer("<title>busy</title>", status, headers=headers))
    pause = f", {says}" if says else ""
    came = (await tab.call("goto", pageId="tab", url=busy))["observed"]
    assert came.split("; navigated")[0] == f"HTTP {status}{pause}"
    await tab.show("<a href=/busy>go</a>")
    clicked = (await tab.call("click", selector="a"))["observed"]
    assert re.search(rf"navigated to {busy} → {status}: [\w ]+{re.escape(pause)}$", clicked), clicked
    error = await tab.error("fetch", url=busy)
    assert re.search(rf"answered {status} [\w ]+{re.escape(pause)}$", error["message"]), error
    assert error["details"]["context"]["headers"].get("retry-after", "") == header


@pytest.mark.own_window
async def test_a_pause_is_told_also_where_the_site_answers_nothing_to_show(tab: Tab) -> None:
    empty = tab.site.page("/empty", Answer("", 429, headers={"retry-after": "7"}))
    reply = (await tab.agent.reply("goto", pageId="tab", url=empty)).json()  # an error if the browser shows its own
    assert "HTTP 429, Retry-After: 7" in str(reply)
    assert await tab.show("fine")


async def test_goto_follows_redirects_and_names_the_url_where_they_end(tab: Tab) -> None:
    start = tab.site.page("/start", _redirect("/middle"))
    tab.site.page("/middle", _redirect("/end"))
    end = tab.site.page("/end", "end")
    result = await tab.call("goto", pageId="tab", url=start)
    assert (result["url"], result["status"]) == (end, 200)
    assert await tab.sees("location.href") == end


async def test_goto_to_an_anchor_of_the_same_document_keeps_the_document(tab: Tab) -> None:
    url = await tab.show("<h1 id=low style='margin-top:3000px'>Low</h1>")
    await tab.sees("window.mark = 'kept'")
    result = await tab.call("goto", url=f"{url}#low", pageId="tab")
    assert result["url"] == f"{url}#low"
    assert await tab.sees("[window.mark, scrollY > 1000]") == ["kept", True]


async def test_the_server_sees_the_referer_that_goto_was_given(tab: Tab) -> None:
    url = tab.site.page("/referred", "hello")
    await tab.call("goto", url=url, referer="http://127.0.0.1/from-here")
    sent = next(request for request in tab.site.received if request.path == "/referred")
    assert sent.headers["Referer"] == "http://127.0.0.1/from-here"


@pytest.mark.own_window
@pytest.mark.own_window
@pytest.mark.parametrize("wait_until", ["commit", "domcontentloaded"])
async def test_goto_does_not_wait_for_a_slow_picture_if_told_to_wait_for_less(tab: Tab, wait_until: str) -> None:
    release = threading.Event()
    tab.site.page("/slow.png", Answer(b"", content_type="image/png", hold=release))
    url = tab.site.page("/with-picture", "<img src=/slow.png><p>text")
    await tab.call("goto", url=url, waitUntil=wait_until)
    assert not release.is_set()
    await tab.call("wait_for_selector", selector="p")
    assert await tab.sees("document.readyState") == "interactive"
    release.set()


async def test_goto_waits_for_pictures_by_default(tab: Tab) -> None:
    tab.site.page("/dot.svg", Answer("<svg xmlns='http://www.w3.org/2000/svg'/>", content_type="image/svg+xml"))
    url = tab.site.page("/with-dot", "<img src=/dot.svg>")
    await tab.call("goto", url=url)
    assert await tab.sees("document.readyState") == "complete"
    assert tab.site.counts["/dot.svg"] == 1


async def test_goto_until_networkidle_waits_for_what_scripts_still_load(tab: Tab) -> None:
    tab.site.page("/late", "late")
    tab.site.page("/later", "later")
    url = tab.site.page("/busy", "<script>onload = () => fetch('/late').then(() => fetch('/later'))</script>")
    await tab.call("goto", url=url, waitUntil="networkidle")
    assert (tab.site.counts["/late"], tab.site.counts["/later"]) == (1, 1)


async def test_goto_that_takes_too_long_says_so_and_leaves_the_page_usable(tab: Tab) -> None:
    release = threading.Event()
    url = tab.site.page("/never", Answer("late", hold=release))
    await tab.show("here")
    error = await tab.error("goto", pageId="tab", url=url, timeout=1_000)
    release.set()
    assert (error["code"], error["status"]) == ("NAVIGATION_FAILED", 502)
    assert error["message"] == f"Navigation to {url} timed out"
    context = error["details"]["context"]
    assert (context["timeout"], context["networkError"]) == (1_000, f"no whole answer yet: {url}")
    assert "waitUntil" in error["hint"]
    assert await tab.sees("1 + 1") == 2


async def test_goto_that_timed_out_has_stopped_so_that_a_late_answer_moves_the_page_no_more(tab: Tab) -> None:
    release = threading.Event()
    url = tab.site.page("/never", Answer("<script>fetch('/arrived')</script>late", hold=release))
    here = await tab.show("<button onclick='window.hit = 1'>b</button>", path="/here")
    error = await tab.error("goto", pageId="tab", url=url, timeout=1_000)
    assert error["code"] == "NAVIGATION_FAILED"
    assert "stays where it was" in error["hint"]
    assert not release.is_set()
    with anyio.fail_after(PATIENCE_S):
        await tab.call("click", selector="button")
        assert await tab.sees("window.hit") == 1
    release.set()
    tab.site.page("/after", Answer("after"))
    assert (await tab.call("fetch", url="/after"))["body"] == "after"
    assert await tab.sees("[location.href, window.hit]") == [here, 1]
    assert (tab.site.counts["/never"], tab.site.counts["/arrived"]) == (1, 0)
    await tab.show("elsewhere")


async def test_goto_to_a_download_says_so_and_the_page_stays_usable(tab: Tab) -> None:
    here = await tab.show("<button onclick='window.hit = 1'>b</button>")
    attached = {"content-disposition": "attachment; filename=tea.bin"}
    url = tab.site.page("/tea.bin", Answer(b"tea", content_type="application/octet-stream", headers=attached))
    error = await tab.error("goto", pageId="tab", url=url)
    assert (error["code"], error["status"]) == ("NAVIGATION_FAILED", 502)
    assert error["message"] == f"Navigation to {url} failed: the answer is a download, not a page."
    assert "The page stays where it was; download 'tea.bin' finished (3 bytes): file art-" in error["hint"]
    await tab.call("click", selector="button")
    assert await tab.sees("[location.href, window.hit]") == [here, 1]
    artifact = (await tab.call("fetch", url=url, responseType="binary"))["artifact"]
    assert (await tab.agent.http.get(artifact["url"])).content == b"tea"


@pytest.mark.own_window
async def test_goto_makes_the_page_that_it_names(agent: Agent, site: Site) -> None:
    url = site.page("/a", "a")
    assert (await agent.error("get_current_url", pageId="fresh-name"))["code"] == "PAGE_NOT_FOUND"
    await agent.call("goto", pageId="fresh-name", url=url)
    assert await agent.call("get_current_url", pageId="fresh-name") == {"url": url}


@pytest.mark.own_window
async def test_each_goto_without_an_id_mints_a_new_page_main_and_then_main_with_four_letters(
    agent: Agent, site: Site
) -> None:
    url = site.page("/a", "a")
    minted = [(await agent.reply("goto", url=url)).json()["page"]["pageId"] for _ in range(3)]
    assert len(set(minted)) == 3
    assert minted[0] == "main"
    for page_id in minted[1:]:
        assert page_id.startswith("main-")
        assert len(page_id) == len("main-") + 4
    mine = [page["pageId"] for page in (await agent.call("list_pages"))["yours"]]
    assert sorted(mine) == sorted(minted)


async def test_many_first_gotos_at_once_make_one_page_of_that_name(agent: Agent, site: Site) -> None:
    urls = [site.page(f"/n{number}", "n") for number in range(4)]
    async with anyio.create_task_group() as tasks:
        for url in urls:
            tasks.start_soon(partial(agent.call, "goto", pageId="one", url=url))
    assert [page["pageId"] for page in (await agent.call("list_pages"))["yours"]] == ["one"]
    assert sum(site.counts.values()) == len(urls)


# --- history -----------------------------------------------------------------------------------------------------


async def test_go_back_and_go_forward_move_through_the_history(tab: Tab) -> None:
    first = await tab.show("first")
    second = await tab.show("second")
    assert (await tab.call("go_back"))["url"] == first
    assert await tab.sees("[location.href, document.body.textContent]") == [first, "first"]
    assert (await tab.call("go_forward"))["url"] == second
    assert await tab.sees("[location.href, document.body.textContent]") == [second, "second"]


@pytest.mark.own_window
async def test_go_forward_at_the_newest_entry_says_that_there_is_none(tab: Tab) -> None:
    here = await tab.show("here")
    result = await tab.call("go_forward")
    assert result["url"] == here
    assert "no such entry in the history" in result["observed"]


async def test_go_back_at_the_oldest_entry_says_that_there_is_none(tab: Tab) -> None:
    here = await tab.show("here")
    result = await tab.call("go_back")
    assert (result["url"], await tab.sees("location.href")) == (here, here)
    assert "no such entry in the history" in result["observed"]


async def test_go_back_over_entries_of_a_single_page_application_keeps_its_document(tab: Tab) -> None:
    url = await tab.show("<script>addEventListener('popstate', () => window.popped = location.hash)</script>")
    await tab.sees("history.pushState({}, '', '#two')")
    result = await tab.call("go_back")
    assert result["url"] == url
    assert "no such entry" not in result.get("observed", "")
    assert await tab.sees("[location.hash, window.popped]") == ["", ""]


async def test_going_back_between_entries_with_one_url_is_not_reported_as_no_entry(tab: Tab) -> None:
    await tab.show("here")
    await tab.sees("(history.replaceState({n: 1}, ''), history.pushState({n: 2}, ''), 0)")
    result = await tab.call("go_back")
    assert await tab.sees("history.state") == {"n": 1}
    assert "no such entry" not in result.get("observed", "")


# --- reload ------------------------------------------------------------------------------------------------------


async def test_reload_fetches_the_document_again(tab: Tab) -> None:
    await tab.show("text", path="/again")
    await tab.sees("document.body.textContent = 'changed'")
    assert (await tab.call("reload_page"))["status"] == 200
    assert (tab.site.counts["/again"], await tab.sees("document.body.textContent")) == (2, "text")


async def test_reload_takes_scripts_from_the_cache_unless_told_to_ignore_it(tab: Tab) -> None:
    tab.site.page(
        "/cached.js",
        Answer("window.ran = true", content_type="text/javascript", headers={"cache-control": "max-age=3600"}),
    )
    await tab.show("<script src=/cached.js></script>", path="/caching")
    await tab.call("reload_page")
    assert (tab.site.counts["/caching"], tab.site.counts["/cached.js"]) == (2, 1)

    result = await tab.call("reload_page", ignoreCache=True)
    assert (tab.site.counts["/caching"], tab.site.counts["/cached.js"]) == (3, 2)
    assert await tab.sees("window.ran") is True
    assert result["url"] == tab.site.url("/caching")
    assert result["status"] == 200

    await tab.call("reload_page")
    assert tab.site.counts["/cached.js"] == 2


async def test_reload_ignoring_the_cache_waits_for_the_new_document_to_load(tab: Tab) -> None:
    tab.site.page("/dot2.svg", Answer("<svg xmlns='http://www.w3.org/2000/svg'/>", content_type="image/svg+xml"))
    await tab.show("<img src=/dot2.svg>")
    await tab.sees("window.mark = 1")
    await tab.call("reload_page", ignoreCache=True)
    assert await tab.sees("[document.readyState, typeof window.mark]") == ["complete", "undefined"]


# --- where it is -------------------------------------------------------------------------------------------------


@pytest.mark.own_window
async def test_url_and_title_are_the_current_documents(tab: Tab) -> None:
    url = await tab.show("text")
    await tab.sees("(history.pushState({}, '', '?q=1'), document.title = 'New title')")
    assert await tab.call("get_current_url") == {"url": f"{url}?q=1"}
    assert await tab.call("get_page_title") == {"title": "New title"}


async def test_a_data_url_is_opened_and_cut_wherever_it_is_shown(agent: Agent, other: Agent) -> None:
    filler = "x" * 5_000
    seen = "<script>document.title = `${origin} ${navigator.cookieEnabled}`</script>"
    url = f"data:text/html,<button>Go</button>{seen}<!--{filler}-->"
    reply = (await agent.reply("goto", pageId="tab", url=url)).json()
    assert reply["success"]
    shown = reply["page"]["url"]
    assert shown.startswith("data:text/html,<button>Go")
    assert "characters)" in shown
    assert filler not in json.dumps(reply)
    assert (await agent.call("evaluate_script", expression="[origin, document.body.innerText]"))["value"] == [
        "null",
        "Go",
    ]
    refused = await other.reply("click", pageId="tab", selector="button")
    missing = await agent.reply("click", selector="#none", timeout=300)
    assert missing.json()["error"]["details"]["url"] == shown
    rest = [
        await agent.reply(*call)
        for call in (("get_current_url",), ("list_pages",), ("get_activity",), ("content",), ("snapshot",))
    ]
    for told in (refused, missing, *rest[:3], rest[4]):
        assert filler not in told.text
    batch = [{"action": "goto", "url": f"data:text/html,<p>two<!--{filler}-->"}, {"action": "click", "selector": "#no"}]
    assert filler not in (await agent.reply("batch", steps=batch, params={"timeout": 300})).text
    too_long = await agent.error("goto", pageId="tab", url="data:text/html," + "y" * 70_000)
    assert (too_long["code"], too_long["details"]["context"]["field"]) == ("VALIDATION_ERROR", "url")
    assert len(json.dumps(too_long)) < 2_000


async def test_a_data_page_comes_back_whole_and_no_site_leads_to_one(tab: Tab, site: Site) -> None:
    url = "data:text/html,<h1>written</h1><!--" + "x" * 500 + "-->"
    await tab.agent.call("open_page", pageId="mine", url=url)
    await tab.call("reload_page", pageId="mine")
    heading = "document.querySelector('h1').innerText"
    assert (await tab.call("evaluate_script", pageId="mine", expression=heading))["value"] == "written"
    site.page("/hop", Answer("", 302, headers={"location": "data:text/html,<h1>hopped"}))
    where = await tab.show("<h1>site</h1><a href='data:text/html,<h1>linked'>link</a>")
    assert (await tab.error("goto", pageId="tab", url=site.url("/hop")))["code"] == "NAVIGATION_FAILED"
    await tab.call("goto", pageId="tab", url=where)
    await tab.call("click", pageId="tab", selector="a")
    await tab.call("evaluate_script", pageId="tab", expression="void (location.href = 'data:text/html,<h1>scripted')")
    said = await tab.call("evaluate_script", pageId="tab", expression=f"[location.href, {heading}]")
    assert said["value"] == [where, "site"]
    error = await tab.error("fetch", pageId="tab", url="data:,x")
    assert error["code"] == "FORBIDDEN"


@pytest.mark.host_here("the gate of a host elsewhere does not tell the browser why it reaches nothing")
async def test_a_page_that_shows_an_error_page_says_so_and_why_wherever_it_is_named(agent: Agent, site: Site) -> None:
    with Site() as gone:
        dead = gone.url()
    url = site.page("/", f"<a id=refused href='http://169.254.169.254/'>here</a> <a id=dead href='{dead}'>there</a>")
    for link, why in (
        ("#refused", "http://169.254.169.254/ may not be opened and was blocked: cloud metadata addresses are never"),
        ("#dead", f"the navigation to {dead} failed: net::ERR_CONNECTION_REFUSED"),
    ):
        await agent.call("goto", pageId="p", url=url)
        await agent.reply("click", pageId="p", selector=link, timeout=15_000)  # a busy machine may not see its end
        reply = (await agent.reply("get_current_url", pageId="p")).json()
        assert reply["result"]["url"] == reply["page"]["url"] == "chrome-error://chromewebdata/"
        assert reply["page"]["errorPage"].startswith(why)
        assert why in (await agent.call("list_pages"))["text"]
        assert (await agent.error("click", pageId="p", selector="a", expectUrl=url))["code"] == "STALE_REVISION"
    await agent.call("go_back", pageId="p")
    page = (await agent.reply("get_current_url", pageId="p")).json()["page"]
    assert (page["url"], "errorPage" in page) == (url, False)
