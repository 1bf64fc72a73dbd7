"""Tests the limits of one account: what a client may ask for, what all may ask of a site, and the pauses that sites ask
for.

It is longer than 300 lines because all limits are told by one throttle, and its clock and helpers serve every test.
"""

import asyncio
import threading
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx
import pytest

from shared import wire
from shared.calls import CallState
from shared.events import EventBatch
from tests.support.carriers import LONGEST_DELAY_S, JsonCarrier
from tests.support.clock import Clock
from tests.support.json import AnyJson
from tests.support.listening import become, sent, watching
from tests.support.service import Agent
from tests.support.sharing import StartService
from tests.support.site import Answer, Site

pytestmark = pytest.mark.anyio


@pytest.fixture
def clock() -> Clock:
    return Clock()


class LateNews(JsonCarrier):
    """A host whose events come later than its answers."""

    async def events_after(self, seq: int, wait_ms: int, limit: int) -> EventBatch:
        batch = await super().events_after(seq, wait_ms, limit)
        await asyncio.sleep(LONGEST_DELAY_S)  # on purpose
        return batch


def throttle(site: Site, path: str, retry_after: str | None = None, status: int = 429) -> str:
    headers = {"retry-after": retry_after} if retry_after else {}
    return site.page(path, Answer("<title>slow down</title>", status, headers=headers))


async def refused(agent: Agent, action: str, **arguments: AnyJson) -> tuple[httpx.Response, dict[str, AnyJson]]:
    """Return the reply to a call that a limit refuses, and the facts in its error. Any: JSON."""
    reply = await agent.reply(action, **arguments)
    error = reply.json()["error"]
    assert (reply.status_code, error["code"]) == (429, "RATE_LIMITED"), error
    context = dict(error["details"]["context"])
    assert reply.headers["Retry-After"] == str(context["retryAfter"])
    assert f"(in {context['retryAfter']} s)" in error["message"]
    return reply, context


# --- a client's quotas ---------------------------------------------------------------------------------------------


async def test_too_many_calls_a_minute_are_refused_until_the_first_is_a_minute_old(
    start: StartService, clock: Clock, site: Site
) -> None:
    service = await start(clock=clock, client_calls_per_minute=3)
    async with service.agent() as agent, service.agent() as other:
        await agent.call("goto", pageId="p", url=site.page("/", "hello"))
        clock.pass_s(20)
        await agent.call("get_page_title", pageId="p")
        await agent.call("get_page_title", pageId="p")
        reply, context = await refused(agent, "get_page_title", pageId="p")
        assert context == {"limit": "callsPerMinute", "value": 3, "retryAfter": 40}
        assert "You made 3 calls within a minute" in reply.json()["error"]["message"]
        assert "Repeat get_page_title then" in reply.json()["error"]["hint"]
        await other.call("content", pageId="p")
        await agent.call("list_pages")
        clock.pass_s(40)
        await agent.call("get_page_title", pageId="p")
        await refused(agent, "get_page_title", pageId="p")
        await agent.call("close_page", pageId="p")


async def test_a_cards_requests_are_limited_separately_from_its_chats_calls(
    start: StartService, clock: Clock, site: Site
) -> None:
    service = await start(clock=clock, client_calls_per_minute=3)
    async with service.agent() as agent, service.agent() as other:
        await agent.call("goto", pageId="p", url=site.page("/", "hello"))
        await other.call("goto", pageId="q", url=site.url("/"))
        asked = [(await agent.http.get(f"{wire.WALL_CARD}/p")).status_code for _ in range(4)]
        assert asked == [200, 200, 200, 429]
        assert (await agent.http.post(f"{wire.WALL_CARD}/p", json={})).status_code == 429
        await agent.call("get_page_title", pageId="p")
        assert (await other.http.post(f"{wire.WALL_CARD}/q", json={})).status_code == 200


async def test_the_steps_of_a_batch_count_like_calls_and_like_requests_to_their_sites(
    start: StartService, clock: Clock, site: Site
) -> None:
    service = await start(clock=clock, client_calls_per_minute=9, origin_per_minute=6, origin_local=True)
    url = site.page("/", "hello")
    async with service.agent() as agent:
        await agent.call("goto", pageId="p", url=url)
        steps = [{"action": "get_page_title"}, {"action": "goto", "url": url}, {"action": "fetch", "url": "/"}]
        await agent.call("batch", pageId="p", steps=[*steps, *steps[1:], steps[2]])
        _, context = await refused(agent, "reload_page", pageId="p")
        assert (context["limit"], context["value"]) == ("originPerMinute", 6)
        _, context = await refused(agent, "batch", pageId="p", steps=[steps[0]] * 5)
        assert (context["limit"], context["value"]) == ("callsPerMinute", 9)
        await agent.call("batch", pageId="p", steps=steps[:1])


async def test_a_batch_stops_where_a_site_asks_for_a_pause(start: StartService, clock: Clock, site: Site) -> None:
    service = await start(clock=clock, origin_pause_s=900)
    slow, more = throttle(site, "/", "60"), site.page("/more", "more")
    async with service.agent() as agent:
        await agent.call("open_page", pageId="p")
        steps = [{"action": "goto", "url": slow}, {"action": "get_page_title"}, {"action": "fetch", "url": more}]
        error = await agent.error("batch", pageId="p", steps=steps)
        assert error["code"] == "NETWORK_ERROR"
        assert error["message"].startswith(f"At step 3 of 3 (fetch): {site.url('')} asked for a pause")
        assert "Done before: 1 goto: HTTP 429" in error["message"]
        assert site.counts["/more"] == 0
        await refused(agent, "fetch", pageId="p", url=more)


async def test_a_refused_call_may_come_again_under_its_id(start: StartService, clock: Clock, site: Site) -> None:
    """As a program does that heeds Retry-After and repeats the very request."""
    service = await start(clock=clock, client_calls_per_minute=1, origin_pause_s=900)
    async with service.agent() as agent:
        await agent.call("goto", pageId="p", url=throttle(site, "/", "120"))
        clock.pass_s(59)
        again = {wire.CALL_ID: "c-again", wire.ATTEMPT: "1"}
        assert (await agent.reply("reload_page", pageId="p", headers=again)).status_code == 429  # the client's limit
        clock.pass_s(1)
        site.page("/", "better")
        assert (await agent.reply("reload_page", pageId="p", headers=again)).status_code == 429  # the site's pause
        clock.pass_s(60)
        again[wire.ATTEMPT] = "2"
        assert (await agent.reply("reload_page", pageId="p", headers=again)).status_code == 200
        assert site.counts["/"] == 2
        assert (await agent.reply("reload_page", pageId="p", headers=again)).status_code == 200
        assert site.counts["/"] == 2, "the same call, done once"


async def test_calls_over_a_limit_do_not_push_acts_out_of_the_record(
    start: StartService, clock: Clock, site: Site
) -> None:
    service = await start(clock=clock, client_calls_per_minute=1)
    async with service.agent() as agent, service.agent() as other:
        await agent.call("goto", pageId="p", url=site.page("/", "hello"))
        await refused(agent, "reload_page", pageId="p")
        lines = str(await other.call("get_activity"))
        assert "goto" in lines
        assert "reload_page" not in lines


async def test_a_client_at_its_limit_of_running_calls_can_still_cancel_and_close(
    start: StartService, site: Site, hold: threading.Event
) -> None:
    assert not hold.is_set()
    service = await start(calls_in_flight=2)
    async with service.agent() as agent, service.agent() as other:
        calls = [sent(agent, f"c-{n}", "goto", pageId=f"p{n}", url=f"{site.url('/held')}?{n}") for n in (1, 2)]
        await become(lambda: site.counts["/held"] == 2)
        reply, context = await refused(agent, "goto", pageId="p3", url=site.url("/held"))
        assert (context["limit"], context["value"]) == ("callsInFlight", 2)
        assert 'cancel_call {"callId": "c-1"}' in reply.json()["error"]["hint"]
        await other.call("goto", pageId="theirs", url=site.page("/", "hello"))
        await agent.call("get_call", callId="c-1", wait=0)
        await agent.call("cancel_call", callId="c-1")
        assert (await calls[0]).json()["error"]["code"] == "UNKNOWN_OUTCOME"
        assert len((await agent.call("list_pages"))["yours"]) == 2
        await agent.call("close_page", pageId="p2")
        await calls[1]
        await agent.call("goto", pageId="p3", url=site.url("/"))


async def test_pages_over_a_clients_limit_are_refused_also_when_all_come_at_once(
    start: StartService, site: Site
) -> None:
    service = await start(carrier=LateNews, client_pages=2)
    url = site.page("/", "hello")
    async with service.agent() as agent, service.agent() as other:
        replies = await asyncio.gather(*(agent.reply("open_page", pageId=f"p{n}", url=url) for n in range(5)))
        assert sorted(reply.status_code for reply in replies) == [200, 200, 503, 503, 503]
        full = await agent.error("goto", url=url)
        assert full["code"] == "RESOURCE_EXHAUSTED"
        context = full["details"]["context"]
        assert (context["limit"], context["value"], len(context["pages"])) == ("pages", 2, 2)
        assert f'close_page {{"pageId": "{context["pages"][0]}"}}' in full["hint"]
        await agent.call("goto", pageId=context["pages"][0], url=url)
        await other.call("goto", url=url)
        await agent.call("close_page", pageId=context["pages"][0])
        await agent.call("goto", url=url)
        assert len((await agent.call("list_pages"))["yours"]) == 2


# --- what a site is asked, over all clients ------------------------------------------------------------------------


async def test_visits_of_all_clients_to_one_origin_are_counted_together(
    start: StartService, clock: Clock, site: Site
) -> None:
    service = await start(clock=clock, origin_per_minute=4, origin_local=True)
    url = site.page("/", "hello")
    async with service.agent("Claude") as first, service.agent("Codex") as second:
        await first.call("goto", pageId="a", url=url)
        await first.call("reload_page", pageId="a")
        await first.call("fetch", pageId="a", url="/")
        await second.call("goto", pageId="b", url=url)
        reply, context = await refused(first, "go_back", pageId="a")
        assert context == {
            "limit": "originPerMinute",
            "value": 4,
            "origin": f"http://127.0.0.1:{site.port}",
            "retryAfter": 60,
        }
        assert "go_back did not happen" in reply.json()["error"]["message"]
        await refused(second, "open_page", url=url)
        await first.call("click", pageId="a", selector="body")
        await first.call("content", pageId="a")
        await first.call("goto", pageId="c", url=site.url("/", host="localhost"))
        clock.pass_s(60)
        await first.call("goto", pageId="a", url=url)
        assert site.counts["/"] == 6
        assert len((await second.call("list_pages"))["yours"]) == 1, "a refused open_page leaves nothing"


async def test_a_call_over_the_limit_at_once_waits_for_its_turn_and_says_so(
    start: StartService, site: Site, hold: threading.Event
) -> None:
    service = await start(origin_at_once=1, origin_local=True)
    site.page("/", "hello")
    async with (
        service.agent("Claude") as first,
        service.agent("Codex") as second,
        watching(service, second.client_id) as progress,
    ):
        held = sent(first, "c-1", "goto", pageId="a", url=site.url("/held"))
        await become(lambda: site.counts["/held"] == 1)
        await second.call("goto", pageId="else", url=site.url("/", host="localhost"))
        calls = [sent(second, f"d-{n}", "goto", pageId=f"d{n}", url=f"{site.url('/')}?{n}") for n in (1, 2, 3)]
        await progress.until(lambda p: p.of("d-3") != [])
        assert [progress.of(f"d-{n}")[0].position for n in (1, 2, 3)] == [1, 2, 3]
        assert progress.of("d-1")[0].behind == f"others at http://127.0.0.1:{site.port}"
        await second.call("cancel_call", callId="d-2")
        cancelled = (await calls[1]).json()["error"]
        assert cancelled["code"] == "CANCELLED"
        assert site.counts["/"] == 1
        hold.set()
        assert [(await call).status_code for call in (held, calls[0], calls[2])] == [200, 200, 200]
        assert [r.path for r in site.received if r.path.startswith("/?")] == ["/?1", "/?3"]
        assert CallState.RUNNING in [moved.state for moved in progress.of("d-3")]


async def test_a_turn_that_does_not_come_in_time_is_refused_with_the_time_to_come_again(
    start: StartService, clock: Clock, site: Site, hold: threading.Event
) -> None:
    service = await start(clock=clock, origin_at_once=1, origin_local=True)
    async with service.agent("Claude") as first, service.agent("Codex") as second:
        held = sent(first, "c-1", "goto", pageId="a", url=site.url("/held"), timeout=20_000)
        await become(lambda: site.counts["/held"] == 1)
        clock.pass_s(5)
        reply, context = await refused(second, "goto", pageId="b", url=site.page("/", "hello"), timeout=1_000)
        assert (context["limit"], context["value"], context["retryAfter"]) == ("originAtOnce", 1, 15)
        assert 'or with "timeout": 16000, which lets it wait' in reply.json()["error"]["hint"]
        hold.set()
        await held
        await second.call("goto", pageId="b", url=site.url("/"))


async def test_local_sites_have_no_limits_and_waits_for_public_ones_are_reported(
    start: StartService, clock: Clock, site: Site, hold: threading.Event
) -> None:
    proxy = site.url().rstrip("/")
    service = await start(clock=clock, origin_at_once=1, origin_per_minute=2, proxy=proxy)
    held, plain = site.page("/held", Answer("held", hold=hold)), site.page("/", "hello")
    async with service.agent("Claude") as first, service.agent("Codex") as second:
        running = sent(first, "c-1", "goto", pageId="a", url=held)
        await become(lambda: site.counts["/held"] == 1)
        for _ in range(3):
            await second.call("goto", pageId="b", url=plain)
        public = sent(first, "c-2", "goto", pageId="c", url="http://shop.example/held")
        await become(lambda: site.counts["/held"] == 2)
        async with watching(service, second.client_id) as progress:
            waits = sent(second, "d-1", "goto", pageId="b", url="http://shop.example/")
            await progress.until(lambda p: p.of("d-1") != [])
        clock.pass_s(7)
        hold.set()
        reply = (await waits).json()
        assert reply["success"]
        (said,) = (notice["text"] for notice in reply["notices"])
        assert said == (
            "goto waited 7 s for its turn at http://shop.example: all clients together may send a site 1 requests at "
            "once."
        )
        assert [(await call).status_code for call in (running, public)] == [200, 200]


# --- pauses --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("carrier", [JsonCarrier, lambda host: host], ids=["across JSON", "in process"])
async def test_a_429_pauses_its_origin_for_everybody_and_no_other(
    start: StartService, clock: Clock, site: Site, carrier: type[JsonCarrier]
) -> None:
    service = await start(carrier=carrier, clock=clock)
    fine = site.page("/fine", "fine")
    async with service.agent("Claude") as first, service.agent("Codex") as second:
        await second.call("goto", pageId="b", url=fine)
        met = (await first.reply("goto", pageId="a", url=throttle(site, "/busy", "90"))).json()
        assert met["result"]["status"] == 429
        origin = f"http://127.0.0.1:{site.port}"
        assert met["notices"][0]["text"].startswith(f"{origin} answered 429 and is left alone")
        assert "(in 90 s)" in met["notices"][0]["text"]
        clock.pass_s(30)
        for agent, action, arguments in [
            (second, "goto", {"pageId": "b", "url": fine}),
            (second, "open_page", {"url": fine}),
            (second, "reload_page", {"pageId": "b"}),
            (second, "go_back", {"pageId": "b"}),
            (second, "fetch", {"pageId": "b", "url": "/fine"}),
            (first, "goto", {"pageId": "a", "url": fine}),
        ]:
            reply, context = await refused(agent, action, **arguments)
            assert context == {
                "limit": "pause",
                "origin": origin,
                "metBy": "Claude",
                "status": 429,
                "retryAfter": 60,
            }
            message = reply.json()["error"]["message"]
            assert 'it answered 429 to "Claude" 30 s ago' in message
            assert f"nobody's {action} goes there" in message
        assert site.counts["/fine"] == 1
        assert (await second.call("content", pageId="b"))["content"]
        await second.call("goto", pageId="b", url=site.url("/fine", host="localhost"))
        clock.pass_s(60)
        await second.call("goto", pageId="b", url=fine)


async def test_a_click_is_not_held_back_and_its_429_pauses_too(start: StartService, clock: Clock, site: Site) -> None:
    service = await start(clock=clock)
    throttle(site, "/busy", "60")
    form = "<a href=/busy>go</a>"
    async with service.agent("Claude") as agent, service.agent("Codex") as other:
        await agent.call("goto", pageId="a", url=site.page("/", form))
        await agent.call("goto", pageId="b", url=site.url("/"))
        await agent.call("click", pageId="a", selector="a")
        _, context = await refused(other, "goto", url=site.url("/"))
        assert (context["metBy"], context["retryAfter"]) == ("Claude", 60)
        clicked = await agent.call("click", pageId="b", selector="a")
        assert "navigated" in clicked["observed"]
        assert site.counts["/busy"] == 2


async def test_the_answer_to_a_fetch_of_another_origin_pauses_that_one(
    start: StartService, clock: Clock, site: Site
) -> None:
    """Also where the page itself may not read the answer."""
    service = await start(clock=clock)
    async with service.agent() as agent:
        await agent.call("goto", pageId="a", url=site.page("/", "hello"))
        throttle(site, "/busy", "60")
        error = await agent.error("fetch", pageId="a", url=site.url("/busy", host="localhost"))
        assert error["code"] == "NETWORK_ERROR"
        await refused(agent, "fetch", pageId="a", url=site.url("/", host="localhost"))
        await agent.call("reload_page", pageId="a")


PAUSES = [
    (429, None, 30),
    (429, "7200", 900),
    (429, "nonsense", 30),
    (429, "0", None),
    (429, format_datetime(datetime.now(UTC) + timedelta(days=1), usegmt=True), 900),
    (429, "Wed, 21 Oct 2015 07:28:00 GMT", None),
    (503, "120", 120),
    (503, None, None),
    (500, "120", None),
    (200, "120", None),
]
"""Statuses and Retry-After headers of a site, with the pause in seconds that follows each."""


async def test_a_pause_is_as_long_as_the_site_asks_and_no_longer_than_the_setting(
    start: StartService, clock: Clock, site: Site
) -> None:
    service = await start(clock=clock)
    async with service.agent() as agent:
        for number, (status, retry_after, seconds) in enumerate(PAUSES):
            throttle(site, f"/{number}", retry_after, status)
            url = site.url(f"/{number}", host=f"site-{number}.localhost")
            await agent.call("goto", pageId="a", url=url)
            if seconds is None:
                await agent.call("goto", pageId="a", url=url)
                continue
            _, context = await refused(agent, "goto", pageId="a", url=url)
            assert context["retryAfter"] == seconds, (status, retry_after)


async def test_a_later_and_shorter_pause_does_not_shorten_one(start: StartService, clock: Clock, site: Site) -> None:
    service = await start(clock=clock)
    throttle(site, "/long", "600")
    throttle(site, "/short", "5")
    links = "<a id=l href=/long>l</a><a id=s href=/short>s</a>"
    async with service.agent() as agent:
        await agent.call("goto", pageId="a", url=site.page("/", links))
        await agent.call("goto", pageId="b", url=site.url("/"))
        await agent.call("click", pageId="a", selector="#l")
        await agent.call("click", pageId="b", selector="#s")
        _, context = await refused(agent, "reload_page", pageId="a")
        assert context["retryAfter"] == 600


async def test_calls_that_wait_for_a_turn_are_refused_as_soon_as_a_pause_begins(
    start: StartService, site: Site
) -> None:
    service = await start(carrier=LateNews, origin_at_once=1, origin_local=True)
    release = threading.Event()
    site.page("/held", Answer("busy", 429, headers={"retry-after": "60"}, hold=release))
    async with service.agent("Claude") as first, service.agent("Codex") as second:
        async with watching(service, second.client_id) as progress:
            met = sent(first, "c-1", "goto", pageId="a", url=site.url("/held"))
            await become(lambda: site.counts["/held"] == 1)
            waits = sent(second, "d-1", "goto", pageId="b", url=site.page("/", "hello"))
            await progress.until(lambda p: p.of("d-1") != [])
            release.set()
            reply = await waits
            assert (await met).json()["result"]["status"] == 429
        assert (reply.status_code, reply.json()["error"]["details"]["context"]["limit"]) == (429, "pause")
        assert site.counts["/"] == 0


async def test_a_pause_does_not_reveal_a_private_pages_url(start: StartService, clock: Clock, site: Site) -> None:
    service = await start(clock=clock)
    async with service.agent("Claude") as first, service.agent("Codex") as second:
        await first.call("goto", pageId="a", url=throttle(site, "/", "60"))
        await first.call("share_page", pageId="a", access="private")
        error = await second.error("reload_page", pageId="a")
        assert error["code"] == "PAGE_OWNED"
        assert "127.0.0.1" not in str(error)
        await refused(first, "reload_page", pageId="a")


async def test_pauses_can_be_switched_off(start: StartService, site: Site) -> None:
    service = await start(origin_pause_s=0)
    url = throttle(site, "/", "600")
    async with service.agent() as agent:
        await agent.call("goto", pageId="a", url=url)
        await agent.call("reload_page", pageId="a")
