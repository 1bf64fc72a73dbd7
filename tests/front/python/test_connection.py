"""Tests how the Python client makes its calls: it waits for long ones, repeats those that came too soon, cancels, and
frees what it holds."""

import asyncio
from collections.abc import Callable
from concurrent.futures import CancelledError
from pathlib import Path

import pytest
from pydantic import JsonValue
from starlette.responses import Response

from browse_together import AsyncBrowser, Browser
from browse_together.contract import wire
from browse_together.errors import PageOwned, RateLimited, SessionNotFound
from tests.support.standin import Answer, Seen, StandIn, failure, success

pytestmark = pytest.mark.anyio


def in_turn(*answers: Response | Callable[[Seen], Response]) -> Answer:
    """Answer calls one after the other, and further ones with an empty success."""
    left = list(answers)

    async def answer(seen: Seen) -> Response:
        following = left.pop(0) if left else success({})
        return following if isinstance(following, Response) else following(seen)

    return answer


def bodies(standin: StandIn) -> list[dict[str, JsonValue]]:
    return [standin.calls.get_nowait().body for _ in range(standin.calls.qsize())]


def too_soon(seconds: int) -> Response:
    return failure("RATE_LIMITED", "Too many.", 429, details={"context": {"retryAfter": seconds}})


async def test_it_is_present_before_its_first_call(standin: StandIn, browser: AsyncBrowser) -> None:
    await browser.list_pages()
    assert (await standin.stream())["pages"] == "0"


async def test_a_long_call_is_waited_for_to_its_end(standin: StandIn, browser: AsyncBrowser) -> None:
    running = success({"stillRunning": True, "callId": "x"}, notices=[{"text": "A person writes."}])
    standin.answer = in_turn(running, running, success({"observed": "done at last"}))
    reached = await browser.page("slow").goto("https://shop.example/")
    assert (reached.observed, reached.notices) == ("done at last", ["A person writes."] * 2)
    begun = await standin.call()
    call_id = begun.headers[wire.CALL_ID.lower()]
    assert begun.body == {"action": "goto", "pageId": "slow", "url": "https://shop.example/"}
    assert bodies(standin) == [{"action": "get_call", "callId": call_id}] * 2


async def test_what_became_of_a_call_is_asked_once(standin: StandIn, browser: AsyncBrowser) -> None:
    standin.answer = in_turn(success({"callId": "x", "state": "running", "stillRunning": True}))
    await browser.get_call("x", wait=0)
    assert bodies(standin) == [{"action": "get_call", "callId": "x", "wait": 0}]


async def test_a_person_is_waited_for_unless_a_time_is_given(standin: StandIn, browser: AsyncBrowser) -> None:
    pending, done = (success({"requestId": "ask-1", "state": state}) for state in ("pending", "done"))
    standin.answer = in_turn(pending, pending, done, pending)
    page = browser.page("form")
    assert (await page.request_human(kind="code")).done
    assert bodies(standin)[1:] == [{"action": "request_human", "pageId": "form", "requestId": "ask-1"}] * 2
    assert (await page.request_human(kind="code", timeout=1000)).state == "pending"


async def test_a_call_that_came_too_soon_comes_again_if_that_is_soon(standin: StandIn, browser: AsyncBrowser) -> None:
    standin.answer = in_turn(too_soon(1), success({"observed": "now"}), too_soon(600))
    page = browser.page("fast")
    assert (await page.click("#a")).observed == "now"
    with pytest.raises(RateLimited):
        await page.click("#a")
    assert len({(await standin.call()).headers[wire.CALL_ID.lower()] for _ in range(3)}) == 3


async def test_a_cancelled_task_cancels_its_call(standin: StandIn, browser: AsyncBrowser) -> None:
    never = asyncio.Event()

    async def hang(_: Seen) -> Response:
        await never.wait()
        return success({})

    standin.answer = hang
    clicking = asyncio.create_task(browser.page("p").click("#a"))
    call_id = (await standin.call()).headers[wire.CALL_ID.lower()]
    clicking.cancel()
    assert await standin.cancelled() == call_id
    never.set()
    with pytest.raises(asyncio.CancelledError):
        await clicking


def on_page(page_id: str, **result: JsonValue) -> Response:
    page: JsonValue = {"pageId": page_id, "sessionId": "default", "owner": {"label": "tester", "you": True}}
    return success(result, page=page)


async def test_it_frees_what_it_used_and_nothing_else(standin: StandIn, browser: AsyncBrowser) -> None:
    others: JsonValue = {"pageId": "c", "sessionId": "default", "owner": {"label": "other", "you": False}}
    standin.answer = in_turn(
        on_page("a", popups=["a~1"]),
        on_page("b", heldUntil="14:20"),
        success({"text": "x"}, page=others),
    )
    await browser.page("a").click("#open")
    await browser.page("b").hold_page("a code")
    await browser.page("c").extract_text("h1")
    bodies(standin)
    await browser.close()
    released = [body["pageId"] for body in bodies(standin)]
    assert sorted(map(str, released)) == ["a", "a~1"]


async def test_a_session_of_its_own_is_made_once(standin: StandIn, browser: AsyncBrowser) -> None:
    standin.answer = in_turn(success({"sessionId": "s-1"}))
    pages = [browser.page(name, session_id="new") for name in ("a", "b")]
    await asyncio.gather(*(page.goto("https://shop.example/") for page in pages))
    made, *went = bodies(standin)
    assert made == {"action": "create_session", "from": "default"}
    assert [body["sessionId"] for body in went] == ["s-1", "s-1"]


async def test_waiting_for_a_page_makes_the_call_that_its_owner_was_named_with(
    standin: StandIn, browser: AsyncBrowser
) -> None:
    hint = 'Own copy: open_page {"url": "x"}. Wait: claim_page {"pageId": "cart", "waitSeconds": 30}.'
    calls: list[JsonValue] = [
        {"text": 'open_page {"url": "x"}'},
        {"text": 'claim_page {"pageId": "cart", "waitSeconds": 30}'},
    ]
    standin.answer = in_turn(failure("PAGE_OWNED", "It is in use.", 423, hint=hint, calls=calls))
    with pytest.raises(PageOwned) as caught:
        await browser.page("cart").click("#pay")
    await caught.value.wait(5)
    assert bodies(standin)[1:] == [{"action": "claim_page", "pageId": "cart", "waitSeconds": 5}]


async def test_closing_ends_the_calls_of_other_threads(standin: StandIn, data_dir: Path) -> None:
    async def never(_: Seen) -> Response:
        await asyncio.Event().wait()
        return success({})

    standin.answer = never
    browser = Browser(standin.url, data_dir=data_dir, autostart=False)

    def call() -> None:
        with pytest.raises(CancelledError):
            browser.clear_cookies()

    calling = asyncio.create_task(asyncio.to_thread(call))
    await standin.call()
    await asyncio.to_thread(browser.close)
    await asyncio.wait_for(calling, 10)


async def test_calls_of_the_browser_are_in_its_session_and_an_own_one_that_ended_is_made_anew(
    standin: StandIn, data_dir: Path
) -> None:
    gone = failure("SESSION_NOT_FOUND", "It has ended.", 404)
    standin.answer = in_turn(success({"sessionId": "s-1"}), gone, success({"sessionId": "s-2"}))
    async with AsyncBrowser(standin.url, data_dir=data_dir, autostart=False, session="new") as browser:
        with pytest.raises(SessionNotFound):
            await browser.clear_cookies()
        await browser.clear_cookies()
    assert [each.get("sessionId") for each in bodies(standin)] == [None, "s-1", None, "s-2"]


async def test_a_browser_of_another_event_loop_says_what_to_do(browser: AsyncBrowser) -> None:
    await browser.list_pages()

    def in_another_loop() -> None:
        with pytest.raises(RuntimeError, match=r"Make one in each asyncio\.run"):
            asyncio.run(browser.list_pages())

    await asyncio.to_thread(in_another_loop)
    await browser.list_pages()
