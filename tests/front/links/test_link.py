"""Tests the link between the front and a host elsewhere, over real sockets: what a host does here, it does there."""

import asyncio
import re
import sys
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from browse_together.client.credentials import mint
from browse_together.contract.calls import Call
from browse_together.contract.errors import HostGone, InvalidRequest, Relayed
from browse_together.contract.named_secrets import NamedSecret
from browse_together.contract.pages import Answer as PersonsAnswer
from browser_service.carriers import messages
from browser_service.carriers.host_end import Fenced
from browser_service.carriers.remote_host import RemoteHost
from browser_service.rules.leases import Ownership
from tests.support.cuttable import Cuttable, cuttable
from tests.support.json import AnyJson
from tests.support.links import FrontSide, far, front_of, linked, opened, running
from tests.support.listening import listening
from tests.support.site import Answer, Site
from tests.support.waiting import PATIENCE_S, become

pytestmark = pytest.mark.anyio


@pytest.fixture
async def front(tmp_path: Path) -> AsyncIterator[FrontSide]:
    async with listening(tmp_path, hosts=True) as service:
        yield front_of(service)


@pytest.fixture
async def cable(front: FrontSide) -> AsyncIterator[Cuttable]:
    """Carry a host's connections to the front, so that they can be cut."""
    async with cuttable(front.service.settings.port) as cable:
        yield cable


@pytest.fixture
def held(site: Site) -> Iterator[threading.Event]:
    """Serve a page that comes only when a test says so."""
    event = threading.Event()
    site.page("/held", Answer("<title>Held</title>", hold=event))
    yield event
    event.set()


def call(number: int, action: str, client: str = "agent", page: str = "p", **arguments: AnyJson) -> Call:
    body = {"action": action, **arguments}
    about = {"call_id": f"{client}/c-{number}", "seq": number, "client_id": client, "body": body, "page_id": page}
    return Call.model_validate(about | {"session_id": "s", "opens": action == "goto"})


async def result(host: RemoteHost, sent: Call) -> dict[str, AnyJson]:
    outcome = await host.run(sent)
    assert outcome.result is not None, outcome.error
    return outcome.result


async def at(front: FrontSide, host: RemoteHost, site: Site, html: str = "<title>There</title>") -> None:
    """Give a session to the host, with a page at this HTML."""
    site.page("/", html)
    await opened(front, host, "s")
    await result(host, call(1, "goto", url=site.url("/")))


async def test_calls_outcomes_and_events_cross_the_link(front: FrontSide, site: Site) -> None:
    async with linked(front) as (host, _):
        await at(front, host, site, "<title>There</title><h1>Hello</h1>")
        batch = await host.events_after(0, 0, 100)
        assert batch.incarnation == host.incarnation
        assert {event.kind for event in batch.events} >= {"page_opened", "page_changed"}
        read = await host.run(call(2, "content"))
        assert read.result is not None
        assert "Hello" in str(read.result["content"])
        assert (read.as_of and read.as_of.incarnation) == host.incarnation
        assert [page.page_id for page in await host.describe()] == ["p"]
        await become(lambda: host.load is not None and host.load.figures.pages == 1)
        assert (await host.figures()).pages == 1
        assert host.round_trip_s is not None
        spec = await host.close("s")
        assert spec is not None
        assert [page.page_id for page in spec.pages] == ["p"]


async def test_an_error_of_the_far_side_comes_as_it_was(front: FrontSide, site: Site) -> None:
    async with linked(front) as (host, _):
        await at(front, host, site)
        outcome = await host.run(call(2, "click", selector="#none", timeout=50))
        assert outcome.error is not None
        assert outcome.error.code == "ELEMENT_NOT_FOUND"


async def test_events_are_pushed_and_those_that_were_not_applied_come_again(
    front: FrontSide, site: Site, cable: Cuttable
) -> None:
    async with linked(front, f"http://127.0.0.1:{cable.port}") as (host, _):
        await at(front, host, site)
        before = await host.events_after(0, 0, 100)
        cable.cut()
        await become(lambda: not host.linked)
        await become(lambda: host.linked)
        await result(host, call(2, "content"))
        after = await host.events_after(0, 0, 100)
        assert [event.seq for event in after.events][: len(before.events)] == [event.seq for event in before.events]
        assert Counter(event.seq for event in after.events).most_common(1)[0][1] == 1
        assert (await host.events_after(after.last_seq, 0, 100)).events == []


async def test_large_bodies_take_the_other_connection(front: FrontSide, site: Site) -> None:
    text = "ю" * messages.MOST_BESIDE
    async with linked(front) as (host, _):
        await at(front, host, site, f"<p>{text}</p>")
        asked = [host.run(call(n, "content", page="p")) for n in range(2, 5)]
        small = host.refusal_to_read(call(9, "content"))
        outcomes = await asyncio.gather(*asked)
        assert await small is None
        assert all(outcome.result and outcome.result["content"] == text for outcome in outcomes)


async def test_files_are_kept_and_read_by_the_front(front: FrontSide, site: Site) -> None:
    async with linked(front) as (host, ours):
        await at(front, host, site, "<p>" + "long " * 2_000 + "</p>")
        shot = (await result(host, call(2, "screenshot")))["artifact"]
        kept, mime_type = await front.service.parts.artifacts.data(shot["artifactId"], "agent")
        assert (kept[:4], mime_type) == (b"\x89PNG", "image/png")
        first = await result(host, call(3, "content", budget=500))
        rest = await result(host, call(4, "content", cursor=first["cursor"], budget=500))
        assert rest["content"].startswith("long") or "long" in rest["content"]
        path = front.service.settings.data_dir / "written"
        path.write_bytes(b"x" * 3_000_000)
        front.members.clients.add("agent")
        taken = await ours.files.take(path, "application/zip", "agent", name="all.zip")
        assert (taken.size, path.exists()) == (3_000_000, False)


async def test_a_call_goes_on_while_the_link_is_cut_and_is_joined_over_the_next(
    front: FrontSide, site: Site, cable: Cuttable, held: threading.Event
) -> None:
    async with linked(front, f"http://127.0.0.1:{cable.port}") as (host, _):
        await at(front, host, site)
        waiting = asyncio.create_task(host.run(call(2, "goto", url=site.url("/held"))))
        await become(lambda: site.counts["/held"] == 1)
        cable.cut()
        await become(lambda: not host.linked)
        held.set()
        outcome = await asyncio.wait_for(waiting, PATIENCE_S)
        assert outcome.error is None
        assert site.counts["/held"] == 1
        assert front.members.ended == []


async def test_an_answer_of_a_person_is_not_sent_twice(front: FrontSide, site: Site, cable: Cuttable) -> None:
    async with linked(front, f"http://127.0.0.1:{cable.port}") as (host, _):
        await at(front, host, site)
        cable.stop("there", "back")
        waiting = asyncio.create_task(host.answer("req-1", PersonsAnswer(state="done")))
        with pytest.raises(HostGone) as gone:
            await asyncio.wait_for(waiting, PATIENCE_S)
        assert gone.value.sent


BROKEN: dict[str, Callable[[Cuttable], None]] = {
    "cut": Cuttable.cut,
    "half open": Cuttable.half_open,
    "silent": lambda cable: cable.stop("there", "back"),
    "silent one way": lambda cable: cable.stop("there"),
}


@pytest.mark.parametrize("how", BROKEN)
async def test_a_host_that_is_cut_off_kills_its_browsers_and_the_front_waits_longer(
    front: FrontSide, site: Site, cable: Cuttable, held: threading.Event, how: str
) -> None:
    async with linked(front, f"http://127.0.0.1:{cable.port}") as (host, ours):
        await at(front, host, site)
        waiting = asyncio.create_task(host.run(call(2, "goto", url=site.url("/held"))))
        await become(lambda: site.counts["/held"] == 1)
        cable.accepts = False
        BROKEN[how](cable)
        await become(lambda: ours.kills == 1)
        assert front.members.ended == [], "the host acts no more before the front gives its sessions away"
        with pytest.raises(HostGone) as gone:
            await asyncio.wait_for(waiting, PATIENCE_S)
        assert gone.value.sent
        assert front.members.ended == [host.incarnation]
        with pytest.raises(HostGone) as again:
            await host.run(call(3, "content"))
        assert not again.value.sent
        with pytest.raises(Fenced):
            await asyncio.wait_for(ours.running, PATIENCE_S)
        held.set()


async def test_a_host_that_dials_again_takes_the_place_of_its_frozen_link(
    front: FrontSide, site: Site, cable: Cuttable
) -> None:
    async with linked(front, f"http://127.0.0.1:{cable.port}") as (host, ours):
        await at(front, host, site)
        before = cable.connections
        cable.stop("there", "back")
        cable.cut()
        cable.go_on()
        await become(lambda: cable.connections > before and host.linked)
        await result(host, call(2, "content"))
        assert ours.kills == 0


async def test_another_process_with_the_lock_proves_the_old_one_dead(front: FrontSide) -> None:
    async with linked(front) as (first, _):
        twin = far(front, host_id=first.hello.host_id, lock=first.hello.lock)
        async with running(front, twin):
            assert front.members.ended == [first.incarnation]


async def test_a_copy_of_a_host_is_refused_while_the_first_lives(front: FrontSide) -> None:
    async with linked(front) as (first, _):
        copy = far(front, host_id=first.hello.host_id, lock=messages.Lock(boot_id="b", device=1, inode=2))
        with pytest.raises(Relayed, match="hostId") as refused:
            await asyncio.wait_for(copy.end.run(), PATIENCE_S)
        assert "empty" in str(refused.value.advice)
        assert first.linked


async def test_a_revoked_token_ends_its_links_at_once(front: FrontSide) -> None:
    async with linked(front) as (host, ours):
        revoked = front.service.parts.revoked
        revoked.on_token = front.links.revoke
        await revoked.token(host.token.token_id, 0.0)
        with pytest.raises(Relayed, match="revoked"):
            await asyncio.wait_for(ours.running, PATIENCE_S)
        assert ours.kills == 1


async def test_a_host_drains_and_is_let_go(front: FrontSide, site: Site) -> None:
    async with linked(front) as (host, ours):
        await at(front, host, site)
        ours.end.drain()
        await become(lambda: front.members.draining == [host.incarnation])
        assert await host.close("s") is not None
        await host.let_go()
        last = await host.events_after(sys.maxsize, 0, 100)
        assert last.incarnation == host.incarnation, "the last events come before the end"
        await asyncio.wait_for(ours.running, PATIENCE_S)
        assert front.members.ended == [host.incarnation]


async def test_a_new_front_adopts_what_a_host_still_has(front: FrontSide, site: Site) -> None:
    async with linked(front) as (host, ours):
        await at(front, host, site)
        again = front_of(front.service)
        again.members.sessions["s"] = host.incarnation
        await front.links.close()
        anew = await again.host(ours.hello.incarnation)
        assert anew is not host
        assert anew.hello.sessions == ["s"]
        assert "There" in (await result(anew, call(2, "content", format="html")))["content"]
        assert (await anew.events_after(0, 0, 100)).oldest_seq >= 1


async def test_a_host_with_a_callers_token_hears_what_is_wrong_with_it(front: FrontSide) -> None:
    token = mint(front.service.secret, "agent", "agent")
    with pytest.raises(Relayed, match="of another kind") as refused:
        await asyncio.wait_for(far(front, token=token).end.run(), PATIENCE_S)
    assert "browse-together token host" in str(refused.value.advice)


async def test_what_the_front_says_of_a_file_comes_as_it_was(front: FrontSide, site: Site) -> None:
    async with linked(front) as (host, _):
        await at(front, host, site)
        outcome = await host.run(call(2, "content", cursor="art-0123456789abcdef:0"))
        assert outcome.error is not None
        assert "no artifact" in outcome.error.message


@pytest.mark.parametrize("name", ["local", "rack-1"])
async def test_a_host_takes_no_name_that_another_has(front: FrontSide, name: str) -> None:
    async with linked(front, name="rack-1"):
        with pytest.raises(Relayed, match=f"a host '{name}' already"):
            await asyncio.wait_for(far(front, name=name).end.run(), PATIENCE_S)


def test_a_host_reads_what_a_newer_front_says_and_the_front_forbids_what_it_does_not_know() -> None:
    newer = b'{"kind":"call","id":1,"method":"run","priority":"high"}\n{}'
    assert messages.unpacked(newer, "ignore")[1] == b"{}"
    with pytest.raises(InvalidRequest, match="priority"):
        messages.unpacked(newer)


async def test_ten_hosts_a_second_are_let_in(front: FrontSide) -> None:
    for _ in range(10):
        front.links.admit()
    with pytest.raises(Exception, match="10 hosts a second"):
        front.links.admit()


async def test_a_host_hides_the_secrets_that_calls_gave_it_before_a_text_is_cut(front: FrontSide, site: Site) -> None:
    shown = NamedSecret(name="pw", value="K7Q2-9XVB-44TD", origins=("https://elsewhere.example",))
    site.page("/", f"<p>{'x' * 95} {shown.value} and more{' ' + 'y' * 900}</p>")
    async with linked(front) as (host, there):
        await opened(front, host, "s")
        named = call(1, "goto", url=site.url("/")).model_copy(update={"secrets": {"pw": shown}})
        assert (await host.run(named)).error is None
        read = await host.run(call(2, "content", budget=100))
        assert read.result is not None
        assert str(read.result["content"]).endswith("x «sec")
        assert f"127.0.0.1:{front.service.settings.port}" in there.end.own_places


async def test_a_time_that_a_host_tells_is_spelled_by_the_front(
    front: FrontSide, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with linked(front) as (host, _):
        await opened(front, host, "s")
        await host.run(call(1, "goto", url=site.url("/")))
        monkeypatch.setattr(Ownership, "free_at", lambda _: "\ufdd260 0\ufdd3")  # as a process of its own has it
        refused = await host.run(call(1, "goto", client="other", url=site.url("/")))
        assert refused.error is not None
        assert re.search(r"free at \d\d:\d\d:\d\d if idle", refused.error.message)
