"""Tests how people are called by Web Push: when, with which words, and by whom."""

import asyncio
import re
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import httpx
import pytest

from browser_service.clients.push import SERVICES, Push
from client.credentials import mint_key
from shared import wire
from tests.front.service.test_person import DECISION, LOGIN, pending
from tests.support.called import CalledBrowser, proven
from tests.support.json import AnyJson
from tests.support.listening import PATIENCE_S, become, connected, listening
from tests.support.service import Agent, RunningService
from tests.support.site import Answer, Site
from tests.support.wall import Seat, door, entered, guest, seat, socket

pytestmark = pytest.mark.anyio


@pytest.fixture
async def running(tmp_path: Path, site: Site) -> AsyncIterator[RunningService]:
    async with listening(tmp_path / "push") as service:
        service.parts.push.services = re.compile(re.escape(site.url("/")) + "[!-~]+")
        yield service


@pytest.fixture
async def claude(running: RunningService, site: Site) -> AsyncIterator[Agent]:
    async with connected(running, "c-1", "Claude") as agent:
        await agent.call("goto", pageId="cart", url=site.page("/cart", "<title>Cart</title>"))
        yield agent


@pytest.fixture
def phone(site: Site) -> CalledBrowser:
    return CalledBrowser(site.page("/push/phone", Answer(status=201)))


async def key_of(viewer: Seat, **what: AnyJson) -> str:
    """Return our key, as the answer to where a browser is called. Any: JSON."""
    await viewer.send("push", id=1, **what)
    answer = await viewer.until(lambda message: message.get("id") == 1)
    assert answer["type"] == "push", answer
    return str(answer["key"])


async def asks_again(claude: Agent, request_id: str, **what: AnyJson) -> str:
    """Withdraw a request, and make another."""
    await claude.call("request_human", pageId="cart", requestId=request_id, withdraw=True)
    return await pending(claude, **what)


async def subscribe(running: RunningService, *browsers: CalledBrowser) -> str:
    """Have browsers called, close the wall, and return our key."""
    async with seat(running) as viewer:
        keys = {await key_of(viewer, subscription=each.subscription) for each in browsers}
    await become(lambda: not running.parts.viewing.watched)
    return keys.pop()


async def called(running: RunningService) -> list[str]:
    """Return where browsers are called."""
    return [each.endpoint for each in await running.parts.push.table.since(0)]


async def test_whoever_does_not_look_is_called_once_and_without_a_word_of_a_page_or_an_agent(
    running: RunningService, claude: Agent, phone: CalledBrowser, site: Site
) -> None:
    async with seat(running) as viewer:
        key = await key_of(viewer)
        assert await key_of(viewer, subscription=phone.subscription) == key
        first = await pending(claude, **LOGIN)  # whose wall is in view
        await viewer.send("watch", hidden=True)
        await become(lambda: not running.parts.viewing.watched)
        second = await asks_again(claude, first, **LOGIN)
        await become(lambda: site.counts["/push/phone"] == 1)
    third = await asks_again(claude, second, **DECISION)  # the wall is closed by now
    await become(lambda: site.counts["/push/phone"] == 2)
    received = [each for each in site.received if each.path == "/push/phone"]
    assert [phone.read(each.body) for each in received] == [
        {"id": second, "kind": "login"},
        {"id": third, "kind": "decision"},
    ]
    assert len({len(each.body) for each in received}) == 1, "the length tells the kind"
    said = proven(received[0], key, site.url(""))
    assert 0 < said["exp"] - time.time() <= 3_600
    assert said["sub"] == "mailto:browse-together@example.com"
    headers = {name.lower(): value for name, value in received[0].headers.items()}
    assert (headers["ttl"], headers["urgency"], headers["content-encoding"]) == ("3600", "high", "aes128gcm")


async def test_no_call_waits_for_a_push_service_and_nobody_is_led_elsewhere_by_one(
    running: RunningService, claude: Agent, phone: CalledBrowser, site: Site
) -> None:
    release = threading.Event()
    site.page("/push/phone", Answer(status=307, headers={"location": "/elsewhere"}, hold=release))
    await subscribe(running, phone)
    await pending(claude, **LOGIN)
    await become(lambda: site.counts["/push/phone"] == 1)
    await claude.call("list_pages")
    release.set()
    await running.parts.push.call("ask-00000000", "login")
    assert (site.counts["/push/phone"], site.counts["/elsewhere"]) == (2, 0)


async def _is_gone(running: RunningService, claude: Agent, phone: CalledBrowser, site: Site) -> None:
    site.page("/push/phone", Answer(status=410))
    await subscribe(running, phone)
    await pending(claude, **LOGIN)


async def _turns_off(running: RunningService, _: Agent, phone: CalledBrowser, __: Site) -> None:
    async with seat(running) as viewer:
        await key_of(viewer, subscription=phone.subscription)
        await key_of(viewer, off=True)


async def _leaves(running: RunningService, _: Agent, phone: CalledBrowser, __: Site) -> None:
    cookie, proof = await entered(running)
    async with socket(running, cookie) as viewer:
        await viewer.send("hello", proof=proof)
        await key_of(viewer, subscription=phone.subscription)
    cookies = {door(running).cookie: cookie}
    async with httpx.AsyncClient(base_url=running.base_url, cookies=cookies, trust_env=False) as http:
        assert (await http.post(wire.WALL_LEAVE, json={}, headers={wire.PROOF: proof})).is_success


@pytest.mark.parametrize("ends", [_is_gone, _turns_off, _leaves])
async def test_a_browser_is_forgotten_once_its_service_or_its_person_says_so(
    running: RunningService,
    claude: Agent,
    phone: CalledBrowser,
    site: Site,
    ends: Callable[[RunningService, Agent, CalledBrowser, Site], Awaitable[None]],
) -> None:
    tablet = CalledBrowser(site.page("/push/tablet", Answer(status=201)))
    await subscribe(running, tablet)
    await ends(running, claude, phone, site)
    async with asyncio.timeout(PATIENCE_S):
        while await called(running) != [tablet.endpoint]:  # noqa: ASYNC110 - it tells nobody
            await asyncio.sleep(0.01)


async def test_another_secret_of_the_account_calls_nobody_who_came_before(
    running: RunningService, phone: CalledBrowser, site: Site
) -> None:
    before = await subscribe(running, phone)
    await running.parts.push.call("ask-00000000", "login")
    anew = Push(running.parts.push.table, "another secret", lambda: False, running.parts.push.services)
    await anew.call("ask-00000001", "login")
    assert (anew.key != before, site.counts["/push/phone"]) == (True, 1)


async def test_the_oldest_of_too_many_browsers_goes(running: RunningService, site: Site) -> None:
    browsers = [CalledBrowser(site.url(f"/push/{number}")) for number in range(21)]
    await subscribe(running, *browsers)
    assert await called(running) == [each.endpoint for each in browsers[1:]]


async def test_only_the_accounts_person_is_called_and_by_a_push_service_alone(
    running: RunningService, claude: Agent, phone: CalledBrowser
) -> None:
    request_id = await pending(claude, **LOGIN)
    for others in (seat(running, read_only=True), guest(running, request_id, mint_key(running.secret, request_id))):
        async with others as viewer:
            await viewer.send("push", id=1, subscription=phone.subscription)
            assert (await viewer.until(lambda message: message["type"] == "refused"))["code"] == "FORBIDDEN"
    off_curve = {**phone.subscription, "p256dh": "B" + "A" * 86}
    for wrong, field in (
        ({**phone.subscription, "endpoint": "http://127.0.0.1:22/x"}, "endpoint"),
        (off_curve, "p256dh"),
    ):
        async with seat(running) as viewer:
            await viewer.send("push", id=1, subscription=wrong)
            refused = await viewer.until(lambda message: message.get("id") == 1)
            assert (refused["code"], refused["field"]) == ("VALIDATION_ERROR", field)
    assert await called(running) == []


@pytest.mark.parametrize(
    ("endpoint", "is_known"),
    [
        ("https://fcm.googleapis.com/fcm/send/a:b-c_d", True),
        ("https://updates.push.services.mozilla.com/wpush/v2/gAAA", True),
        ("https://wns2-am3p.notify.windows.com/w/?token=BQ%3d", True),
        ("https://web.push.apple.com/QGr", True),
        ("http://fcm.googleapis.com/fcm/send/a", False),
        ("https://fcm.googleapis.com:8443/a", False),
        ("https://fcm.googleapis.com.evil.example/a", False),
        ("https://evil.example/fcm.googleapis.com/a", False),
        ("https://a@fcm.googleapis.com/a", False),
        ("https://fcm.googleapis.com\\@evil.example/a", False),
        ("https://evilpush.services.mozilla.com/a", False),
        ("https://x@127.0.0.1/.notify.windows.com/a", False),
        ("https://127.0.0.1#.notify.windows.com/a", False),
        ("https://fcm.googleapis.com/a b", False),
        ("https://fcm.googleapis.com/a\r\nHost: x", False),
        ("https://fcm.googleapis.com", False),
    ],
)
def test_a_push_service_is_known_by_its_whole_host(endpoint: str, *, is_known: bool) -> None:
    assert bool(SERVICES.fullmatch(endpoint)) is is_known
