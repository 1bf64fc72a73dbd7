"""Tests waiting beside the turns of a page: for an element, and for time to pass."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import anyio
import httpx
import pytest

from browse_together.contract import wire
from browse_together.contract.catalogue import ACTIONS
from tests.support.json import AnyJson
from tests.support.site import Answer
from tests.support.tab import Tab
from tests.support.waiting import PATIENCE_S, found

pytestmark = [pytest.mark.anyio, pytest.mark.one_window]


class Under:
    """A call that runs while the test goes on."""

    def __init__(self) -> None:
        self.replies: list[httpx.Response] = []


@asynccontextmanager
async def _under_way(tab: Tab, action: str, **arguments: AnyJson) -> AsyncIterator[Under]:
    """Run a call around the block: the service has it when the block begins, and has answered when the block has
    ended."""
    under, call_id = Under(), f"under-way-{time.monotonic_ns()}"

    async def run() -> None:
        under.replies.append(await tab.agent.reply(action, headers={wire.CALL_ID: call_id}, **arguments))

    with anyio.fail_after(PATIENCE_S):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run)
            await found(lambda: tab.agent.reply("get_call", callId=call_id, wait=0), lambda reply: reply.is_success)
            yield under


# --- wait_for_selector -------------------------------------------------------------------------------------------


async def test_wait_for_selector_is_ended_by_another_call_on_the_same_page(tab: Tab) -> None:
    await tab.show(
        "<button onclick=\"document.body.append(Object.assign(document.createElement('p'), {id: 'new', "
        "textContent: 'x'}))\">Add</button>"
    )
    async with _under_way(tab, "wait_for_selector", selector="#new") as under:
        assert await tab.sees("document.querySelector('#new')") is None
        assert under.replies == []
        await tab.call("click", selector="text=Add")
    assert under.replies[0].json()["result"] == {"observed": "#new is visible"}


@pytest.mark.parametrize(
    ("state", "before", "change"),
    [
        ("visible", "<p id=e hidden>x</p>", "e.hidden = false"),
        ("hidden", "<p id=e>x</p>", "e.hidden = true"),
        ("attached", "", "document.body.innerHTML = '<p id=e hidden>'"),
        ("detached", "<p id=e hidden>x</p>", "e.remove()"),
    ],
)
async def test_wait_for_selector_ends_when_the_state_comes_true_and_not_before(
    tab: Tab, state: str, before: str, change: str
) -> None:
    await tab.show(before)
    async with _under_way(tab, "wait_for_selector", selector="#e", state=state) as under:
        await tab.sees("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")
        assert under.replies == []
        await tab.sees(f"({change}, 0)")
    assert under.replies[0].json()["result"] == {"observed": f"#e is {state}"}


async def test_wait_for_selector_answers_at_once_if_the_state_is_true_already(tab: Tab) -> None:
    await tab.show("<p id=shown>x</p><p id=unseen hidden>x</p>")
    for selector, state in {
        "#shown": "visible",
        "#unseen": "attached",
        "p[hidden]": "hidden",
        "#none": "detached",
    }.items():
        result = await tab.call("wait_for_selector", selector=selector, state=state)
        assert result == {"observed": f"{selector} is {state}"}


async def test_wait_for_selector_looks_into_a_frame(tab: Tab) -> None:
    tab.site.page("/in", "<script>setTimeout(() => document.body.innerHTML = '<p id=e>x', 200)</script>")
    await tab.show(f"<iframe src={tab.site.url('/in', 'localhost')}></iframe>")
    assert await tab.call("wait_for_selector", selector="#e", frame="iframe") == {"observed": "#e is visible"}


async def test_wait_for_selector_takes_the_first_of_several_unless_strict(tab: Tab) -> None:
    await tab.show("<p>a<p>b")
    assert await tab.call("wait_for_selector", selector="p") == {"observed": "p is visible"}
    error = await tab.error("wait_for_selector", selector="p", strict=True)
    assert error["code"] == "AMBIGUOUS_SELECTOR"


async def test_wait_for_selector_looks_at_every_match(tab: Tab) -> None:
    await tab.show("<p hidden>Saved<p hidden>Saved<div id=e hidden>All is saved</div>")
    async with _under_way(tab, "wait_for_selector", selector="text=saved") as under:
        assert under.replies == []
        await tab.sees("(e.hidden = false, 0)")
    assert under.replies[0].json()["result"] == {"observed": "text=saved is visible"}
    async with _under_way(tab, "wait_for_selector", selector="text=saved", state="hidden") as under:
        assert under.replies == []
        await tab.sees("(e.hidden = true, 0)")
    assert under.replies[0].json()["result"] == {"observed": "text=saved is hidden"}


async def test_wait_for_selector_of_a_ref_waits_until_that_element_goes(tab: Tab) -> None:
    await tab.show("<button>Busy</button>")
    ref = (await tab.call("snapshot", interactiveOnly=True))["snapshot"].split("[ref=")[1].split("]")[0]
    async with _under_way(tab, "wait_for_selector", selector=ref, state="detached") as under:
        assert under.replies == []
        await tab.sees("(document.querySelector('button').remove(), 0)")
    assert under.replies[0].json()["result"] == {"observed": f"{ref} is detached"}


async def test_wait_for_selector_that_never_comes_true_says_what_was_there_instead(tab: Tab) -> None:
    await tab.show("<p id=shown>x</p><p id=unseen hidden>x</p>")
    waits = [("#none", "visible"), ("#shown", "hidden"), ("#unseen", "visible"), ("#shown", "detached")]
    missing, *errors = await asyncio.gather(
        *(tab.error("wait_for_selector", selector=selector, state=state, timeout=1_000) for selector, state in waits)
    )
    assert (missing["code"], missing["message"]) == (
        "ELEMENT_NOT_FOUND",
        "Element matching selector '#none' not found after 1000ms",
    )
    for error in errors:
        assert (error["code"], error["status"]) == ("TIMEOUT", 504)
        assert "1000 ms" in error["message"]
    assert await tab.sees("1 + 1") == 2


# --- wait_for_url, wait_for_navigation, wait_for_load ------------------------------------------------------------


async def test_wait_for_url_goes_on_once_the_page_is_at_it(tab: Tab) -> None:
    url = tab.site.page("/cart", "cart") + "?a=1"
    await tab.show("<a href='/cart?a=1'>go</a>")
    patterns = ("**/cart*", "/cart?*", r"/CART\?a=\d$/i", url, "*/{shop,cart}?a=1")
    async with AsyncExitStack() as stack:
        waits = [await stack.enter_async_context(_under_way(tab, "wait_for_url", url=each)) for each in patterns]
        assert [under.replies for under in waits] == [[] for _ in patterns]
        await tab.call("click", selector="a")
    for under in waits:
        assert under.replies[0].json()["result"] == {"url": url, "observed": f"the page is at {url}"}


async def test_wait_for_url_sees_what_a_script_makes_of_the_address(tab: Tab) -> None:
    url = await tab.show("<button onclick=\"location.hash = '#/cart'\">go</button>")
    async with _under_way(tab, "wait_for_url", url="*#/cart"):
        await tab.call("click", selector="button")
    await tab.sees("(history.pushState({}, '', '/orders/7'), 1)")
    assert (await tab.call("wait_for_url", url="/orders/*"))["url"] == url.rpartition("/")[0] + "/orders/7"
    error = await tab.error("wait_for_url", url="/never", timeout=1_000)
    assert (error["code"], "/orders/7" in error["message"]) == ("TIMEOUT", True)
    error = await tab.error("wait_for_url", url="/(/")
    assert (error["code"], error["details"]["context"]["field"]) == ("VALIDATION_ERROR", "url")


async def test_wait_for_navigation_waits_for_the_next_or_counts_one_since_the_last_act(tab: Tab) -> None:
    cart = tab.site.page("/cart", "<button onclick=\"setTimeout(() => location = '/later', 50)\">later</button>")
    later = tab.site.page("/later", "later")
    await tab.show("<a href=/cart>go</a>")
    await tab.call("click", selector="a")  # which waits for what it began
    assert (await tab.call("wait_for_navigation"))["url"] == cart
    assert (await tab.error("wait_for_navigation", timeout=1_000))["code"] == "TIMEOUT"  # it counted once
    await tab.call("click", selector="button")
    assert (await tab.call("wait_for_navigation", url="/later"))["url"] == later
    async with _under_way(tab, "wait_for_navigation", url="*/cart", waitUntil="commit") as under:
        await tab.sees("(location.href = '/cart', 1)")
    assert under.replies[0].json()["result"]["url"] == cart


async def test_wait_for_load_waits_for_what_a_document_still_loads(tab: Tab) -> None:
    release = threading.Event()
    tab.site.page("/slow.png", Answer("", hold=release))
    tab.site.page("/slow", "<img src=/slow.png>")
    await tab.call("goto", pageId="tab", url=tab.site.url("/slow"), waitUntil="domcontentloaded")
    assert "domcontentloaded" in (await tab.call("wait_for_load", state="domcontentloaded"))["observed"]
    assert (await tab.error("wait_for_load", timeout=1_000))["code"] == "TIMEOUT"
    async with _under_way(tab, "wait_for_load", waitUntil="networkidle") as under:
        release.set()
    assert "networkidle" in under.replies[0].json()["result"]["observed"]


# --- wait --------------------------------------------------------------------------------------------------------


async def test_wait_waits_that_long_while_other_calls_on_the_page_go_on(tab: Tab) -> None:
    await tab.show("<button onclick='window.hit = 1'>Go</button>")
    began = time.monotonic()
    async with _under_way(tab, "wait", duration=1_500) as under:
        await tab.call("click", selector="text=Go")
        assert await tab.sees("window.hit") == 1
        assert under.replies == []
    assert time.monotonic() - began >= 1.5
    assert under.replies[0].json()["result"] == {"observed": "waited 1500 ms"}


async def test_wait_of_more_than_a_minute_is_refused_at_once(tab: Tab) -> None:
    await tab.show("x")
    for duration in (60_001, -1):
        error = await tab.error("wait", duration=duration)
        assert (error["code"], error["status"]) == ("VALIDATION_ERROR", 422)
        assert error["message"].startswith("duration of wait:")


# --- how long ----------------------------------------------------------------------------------------------------


def test_actions_on_elements_may_take_5_seconds_and_navigations_and_waits_30() -> None:
    defaults = {
        name: action.model_fields["timeout"].default
        for name, action in ACTIONS.items()
        if "timeout" in action.model_fields
    }
    long = {"goto", "go_back", "go_forward", "reload_page", "open_page", "evaluate_script", "fetch", "handle_dialog"}
    long |= {
        "browser_navigate",
        "call_page_tool",
        "export_har",
        *(name for name in defaults if name.startswith("wait_for_")),
    }
    assert {name: ms for name, ms in defaults.items() if name in long} == dict.fromkeys(sorted(long), 30_000)
    slower = {
        "request_human": 45_000,
        "batch": 60_000,
        "fill_form": 30_000,
        "refill": 30_000,
    }  # a person, and several acts
    assert {name: defaults[name] for name in slower} == slower
    assert {defaults[name] for name in defaults.keys() - long - slower.keys()} == {5_000}


async def test_timeouts_of_navigations_and_waits_are_between_1_and_120_seconds(tab: Tab) -> None:
    await tab.show("x")
    needed = {"goto": {"url": "http://127.0.0.1/"}, "wait_for_selector": {"selector": "p"}}
    for name in ("goto", "go_back", "go_forward", "reload_page", "open_page", "wait_for_selector"):
        for timeout in (999, 120_001):
            error = await tab.error(name, timeout=timeout, **needed.get(name, {}))
            assert (error["code"], error["status"]) == ("VALIDATION_ERROR", 422)
            assert error["message"].startswith(f"timeout of {name}:")
