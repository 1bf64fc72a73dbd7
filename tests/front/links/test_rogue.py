"""Tests that a host gains nothing by what it says: what is no message of ours ends its link with a reason, and what
concerns others is dropped and counted."""

import asyncio
import json
from collections.abc import AsyncIterator
from urllib.parse import quote

import httpx
import pytest
from websockets.exceptions import InvalidStatus

from browse_together.client.credentials import mint, mint_host
from browse_together.contract import wire
from browse_together.contract.calls import Call, ClientRef
from browse_together.contract.errors import HostGone
from browse_together.contract.frames import View
from browse_together.contract.pages import Answer
from browse_together.contract.strokes import Strokes
from browser_service.carriers import checks, front_end, link
from browser_service.carriers.messages import FILE, LINK
from tests.support.json import AnyJson
from tests.support.links import FrontSide, dialled, front_of, hello, rogue
from tests.support.listening import listening
from tests.support.service import RunningService
from tests.support.waiting import PATIENCE_S, become

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
async def service(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RunningService]:
    async with listening(tmp_path_factory.mktemp("links"), hosts=True) as service:
        yield service


@pytest.fixture
def front(service: RunningService) -> FrontSide:
    """Return a front that gave the session `mine`, with the page `p`, to whoever dials in as `rogue`."""
    front = front_of(service, lease_ms=10_000)
    front.members.sessions |= {"mine": "rogue", "theirs": "another"}
    front.members.pages |= {"p": "mine", "q": "theirs"}
    return front


def call(**changes: AnyJson) -> Call:
    about: dict[str, AnyJson] = {
        "call_id": "victim/c-1",
        "seq": 1,
        "client_id": "victim",
        "body": {"action": "content"},
    }
    return Call.model_validate(about | {"page_id": "p", "session_id": "mine"} | changes)


# --- the door --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "status", "said"),
    [
        ({"Authorization": ""}, 401, "no bearer token"),
        ({"Authorization": "Bearer nonsense"}, 401, "not valid"),
        ({"Authorization": "caller"}, 401, "of another kind"),
        ({"Authorization": "expired"}, 401, "expired"),
        ({LINK: "guessed"}, 401, "names no link"),
        ({"Origin": "https://site.example"}, 403, "origin"),
    ],
)
async def test_who_is_not_let_in_is_told_why(front: FrontSide, headers: dict[str, str], status: int, said: str) -> None:
    secret = front.service.secret
    tokens = {"caller": mint(secret, "agent", "agent"), "expired": mint_host(secret, "old", "old", -10)}
    given = {name: f"Bearer {tokens[value]}" if value in tokens else value for name, value in headers.items()}
    with pytest.raises(InvalidStatus) as refused:
        async with dialled(front, given):
            pass
    assert refused.value.response.status_code == status
    assert said in json.loads(refused.value.response.body)["error"]["message"]


async def test_a_revoked_token_is_not_let_in(front: FrontSide) -> None:
    async with rogue(front, incarnation="rogue") as (host, known, _):
        revoked = front.service.parts.revoked
        revoked.on_token = front.links.revoke
        await revoked.token(known.token.token_id, 0.0)
        await become(host.ended.is_set)
        assert "revoked" in host.refusal["message"]


SAID = json.loads(hello(incarnation="rogue").model_dump_json())
HELLOS: dict[str, tuple[AnyJson, str]] = {
    "no JSON": ("nonsense", "cannot be read"),
    "another message": ({"kind": "answer", "id": 1}, "first message is 'answer'"),
    "an unknown kind": ({"kind": "shell"}, "cannot be read"),
    "an unknown field": (SAID | {"root": True}, "root"),
    "a name that is none": (SAID | {"name": "../x"}, "name"),
    "an incarnation that is none": (SAID | {"incarnation": "a b"}, "incarnation"),
    "other actions": (SAID | {"catalogue": "other"}, "other actions"),
    "a clock that is off": (SAID | {"unixMs": 0}, "clock"),
}


@pytest.mark.parametrize("which", HELLOS)
async def test_a_wrong_hello_is_refused(front: FrontSide, which: str) -> None:
    said, why = HELLOS[which]
    async with dialled(front) as host:
        await (host.say_bytes(said.encode()) if isinstance(said, str) else host.say(said))
        await host.live()
        assert why in host.refusal["message"]
        assert front.links.hosts == {}


async def test_a_hello_that_does_not_come_is_not_waited_for(front: FrontSide, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(front_end, "_HELLO_WITHIN_S", 0.05)
    async with dialled(front) as host:
        await host.live()
        assert "No hello came" in host.refusal["message"]


# --- the link --------------------------------------------------------------------------------------------------------


CALL = {"kind": "call", "id": 1, "method": "bye"}
MESSAGES: dict[str, tuple[list[tuple[AnyJson, AnyJson]], str]] = {
    "hello twice": ([(SAID, None)], "'hello' has no place"),
    "a refusal": ([({"kind": "refused", "error": {"code": "X", "message": "no", "status": 1}}, None)], "no"),
    "an unknown method": ([(CALL | {"method": "run"}, {})], "no method 'run'"),
    "an unknown field": ([(CALL | {"sudo": True}, {})], "sudo"),
    "an unknown argument": ([(CALL | {"method": "drain"}, {"all": True})], "all"),
    "a missing argument": ([(CALL | {"method": "note"}, {})], "batch"),
    "no body": ([(CALL | {"method": "note"}, None)], "cannot be read"),
    "a number that was there": ([(CALL | {"method": "drain"}, {}), (CALL | {"method": "drain"}, {})], "was there"),
    "a number below one": ([(CALL | {"id": 0}, {})], "id"),
    "an answer nobody asked for": ([({"kind": "answer", "id": 900}, {})], "Nobody asked"),
    "an answer once more": ([({"kind": "answer", "id": 1}, {})], "Nobody asked"),
    "a part beside the calls": ([({"kind": "part", "of": "call", "id": 1, "last": True}, {})], "has no place"),
}


@pytest.mark.parametrize("which", MESSAGES)
async def test_what_has_no_place_ends_the_link_with_a_reason(front: FrontSide, which: str) -> None:
    said, why = MESSAGES[which]
    async with rogue(front, incarnation="rogue") as (host, known, _):
        for head, body in said:
            await host.say(head, body)
        await become(host.ended.is_set)
        assert why in host.refusal["message"]
        await become(lambda: not known.linked)


@pytest.mark.parametrize("message", [b"x" * (wire.MAX_LINK_BYTES + 1), "text"])
async def test_what_is_too_long_or_no_bytes_ends_the_link(front: FrontSide, message: bytes | str) -> None:
    async with rogue(front, incarnation="rogue") as (host, known, _):
        await host.say_bytes(message)
        await become(lambda: not known.linked)


async def test_an_answer_of_another_kind_ends_the_link(front: FrontSide) -> None:
    async with rogue(front, incarnation="rogue") as (host, known, _):
        host.answers["answer"] = "perhaps"
        with pytest.raises(HostGone):
            await known.answer("req-1", Answer(state="done"))
        await become(host.ended.is_set)
        assert "answer to 'answer'" in host.refusal["message"]


async def test_who_asks_too_much_at_once_is_cut_off(front: FrontSide) -> None:
    event = {"kind": "page_closed", "pageId": "p", "sessionId": "mine"}
    async with rogue(front, incarnation="rogue") as (host, _, _):
        for number in range(1, 300):
            batch = {"incarnation": "i", "events": [event | {"seq": number}], "lastSeq": number}
            await host.say({"kind": "call", "id": number, "method": "note"}, {"batch": batch})
        await become(host.ended.is_set)
        assert "More than 200 calls" in host.refusal["message"]


async def test_who_holds_too_many_incomplete_bodies_is_cut_off(
    front: FrontSide, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link, "MOST_BULK", 1_000)
    async with rogue(front, incarnation="rogue") as (host, _, key), dialled(front, {LINK: key}) as bulk:
        for number in range(1, 4):
            await bulk.say_bytes(b'{"kind":"part","of":"call","id":%d,"last":false}\n' % number + b"x" * 500)
        await become(host.ended.is_set)
        assert "incomplete" in host.refusal["message"]


async def test_who_stops_reading_is_cut_off(service: RunningService) -> None:
    front = front_of(service)
    async with rogue(front, incarnation="rogue") as (host, known, _):
        host.stop_reading()
        await become(lambda: not known.linked)


async def test_what_waits_for_one_who_reads_slowly_is_bounded(
    front: FrontSide, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link, "_MOST_WAITING", 500_000)
    async with rogue(front, incarnation="rogue") as (host, known, _):
        host.stop_reading()
        sent = [asyncio.create_task(known.run(call(body={"action": "x" * 200_000}))) for _ in range(100)]
        await become(lambda: not known.linked)
        for task in sent:
            task.cancel()
        await asyncio.gather(*sent, return_exceptions=True)


# --- what it tells ---------------------------------------------------------------------------------------------------


def page(page_id: str, session_id: str) -> AnyJson:
    return {"pageId": page_id, "sessionId": session_id}


DOWNLOAD = {"downloadId": "d", "pageId": "p", "url": "u", "name": "n", "beganAt": "now"}
OF_OTHERS: list[AnyJson] = [
    {"kind": "page_opened", "page": page("q", "theirs")},
    {"kind": "page_changed", "page": page("q", "mine")},
    {"kind": "page_changed", "page": page("p", "unknown")},
    {"kind": "page_closed", "pageId": "q", "sessionId": "theirs"},
    {"kind": "page_closed", "pageId": "q", "sessionId": "mine"},
    {"kind": "page_retired", "page": page("q", "theirs")},
    {"kind": "page_retired", "page": page("p", "mine"), "newcomer": {"clientId": "victim"}},
    {"kind": "call_moved", "callId": "victim/c-9", "clientId": "victim", "state": "running"},
    {"kind": "call_ended", "clientId": "victim", "outcome": {"callId": "victim/c-9"}},
    {"kind": "notice", "clientId": "victim", "notice": {"text": "Give me your password."}},
    {"kind": "notice", "clientId": "", "notice": {"text": "To all of you."}},
    {"kind": "state", "sessionId": "theirs", "state": {"cookies": []}},
    {"kind": "state", "sessionId": "mine", "name": "bank", "clientId": "victim", "state": {}},
    {"kind": "download", "download": DOWNLOAD | {"clientId": "victim"}},
    {"kind": "page_opened", "page": page("squatted", "mine")},
    {"kind": "page_opened", "page": page("squatted~1", "mine")},
    {"kind": "page_opened", "page": page("p~x", "mine")},
    {"kind": "page_changed", "page": page("p", "mine") | {"holderId": "victim"}},
    {"kind": "page_changed", "page": page("p", "mine") | {"leftById": "victim"}},
    {"kind": "page_changed", "page": page("p", "mine") | {"askerId": "victim"}},
]


async def test_events_of_others_are_dropped_and_counted(front: FrontSide) -> None:
    own = [{"kind": "page_opened", "page": page(name, "mine")} for name in ("p~1", "mine", "mine~2")]
    told = [each | {"seq": number} for number, each in enumerate([*OF_OTHERS, *own], 1)]
    async with rogue(front, incarnation="rogue") as (host, known, _):
        batch = {"incarnation": "another", "events": told, "lastSeq": len(told)}
        await host.say({"kind": "call", "id": 1, "method": "note"}, {"batch": batch})
        taken = await known.events_after(0, PATIENCE_S * 1000, 100)
        assert [event.seq for event in taken.events] == [event["seq"] for event in told[-len(own) :]]
        assert (taken.incarnation, taken.last_seq) == ("rogue", len(told))
        assert known.checks.dropped.total() == len(OF_OTHERS)


RAN = {"callId": "victim/c-1", "clientId": "victim"}
OVER_CALLS: list[AnyJson] = [
    {"kind": "page_opened", "page": page("given-not", "mine")},
    {"kind": "call_moved", "state": "running", "waitsFor": "x" * 60_000} | RAN,
    {"kind": "call_ended", "clientId": "victim", "outcome": {"callId": "victim/c-1", "page": page("q", "theirs")}},
    {"kind": "call_ended", "clientId": "victim", "outcome": {"callId": "victim/c-1", "takenLogins": [{}]}},
    {"kind": "notice", "clientId": "victim", "notice": {"text": "x" * 60_000}},
    {"kind": "state", "sessionId": "mine", "name": "bank", "clientId": "victim", "state": {}},
    {"kind": "download", "download": DOWNLOAD | {"clientId": "victim", "name": "x" * 60_000}},
    {"kind": "page_retired", "page": page("p", "mine"), "newcomer": {"clientId": "stranger"}},
]


async def test_a_call_lets_its_host_tell_of_it_and_of_no_more(front: FrontSide) -> None:
    about = page("given~1", "mine") | {"holderId": "victim", "askerId": "friend"}
    own = {"kind": "page_opened", "page": about}
    told = [each | {"seq": number} for number, each in enumerate([*OVER_CALLS, own], 1)]
    given = call(page_id="given", opens=True, recipient=ClientRef(client_id="friend"))
    async with rogue(front, incarnation="rogue") as (host, known, _):
        running = asyncio.create_task(known.run(given))
        await become(lambda: known.checks.running)
        await host.say({"kind": "call", "id": 1, "method": "note"}, {"batch": batch(told)})
        taken = await known.events_after(0, PATIENCE_S * 1000, 100)
        assert [event.seq for event in taken.events] == [len(told)]
        assert known.checks.dropped.total() == len(OVER_CALLS)
        picture = {"clientId": "victim", "callId": "c-1", "picture": {"data": "x" * 300_000}}
        assert (await host.ask(2, "keep_picture", picture))[0] == "ok"
        assert known.checks.dropped["picture"] == 1
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


def batch(told: list[AnyJson]) -> AnyJson:
    return {"incarnation": "another", "events": told, "lastSeq": len(told)}


async def test_more_pages_than_a_host_may_have_are_not_taken(front: FrontSide) -> None:
    most = 2 * front.service.settings.max_pages
    pages = [page(f"p~{number}", "mine") for number in range(1, most + 10)]
    async with rogue(front, incarnation="rogue") as (host, known, _):
        host.answers["describe"] = pages
        assert len(await known.describe()) == most
        host.answers["close"] = {"sessionId": "mine", "pages": pages}
        spec = await known.close("mine")
        assert spec is not None
        assert len(spec.pages) == most
        ended = {"kind": "page_closed", "pageId": "p~1", "sessionId": "mine", "seq": 1}
        more = {"kind": "page_opened", "page": pages[-1], "seq": 2}
        await host.say({"kind": "call", "id": 1, "method": "note"}, {"batch": batch([ended, more])})
        assert len((await known.events_after(0, PATIENCE_S * 1000, 100)).events) == 2
        front.members.sessions |= {"mine": "another", "next": "rogue"}
        host.answers["describe"] = [page("next", "next")]
        assert len(await known.describe()) == 1


async def test_pages_with_more_text_than_the_front_can_hold_are_not_taken(
    front: FrontSide, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checks, "_MOST_BYTES", 100_000)
    async with rogue(front, incarnation="rogue") as (host, known, _):
        host.answers["describe"] = [page(f"p~{number}", "mine") | {"title": "x" * 30_000} for number in range(1, 9)]
        assert len(await known.describe()) == 3


@pytest.mark.parametrize(("most", "said"), [(100, "events at once"), (1, "more than 1 bytes")])
async def test_what_a_host_tells_at_once_is_bounded(
    front: FrontSide, most: int, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    event = {"kind": "page_closed", "pageId": "p", "sessionId": "mine", "seq": 1}
    if most == 1:
        monkeypatch.setattr(link, "MOST_BULK", most)
    async with rogue(front, incarnation="rogue") as (host, _, _):
        await host.say({"kind": "call", "id": 1, "method": "note"}, {"batch": batch([event] * (most + 1))})
        await become(lambda: host.refusal or host.told)
        assert said in json.dumps([host.refusal, [*host.told.values()]])


@pytest.mark.parametrize("many", [10**400, -(10**400)], ids=["large", "small"])
async def test_numbers_that_cannot_be_computed_with_end_the_link(
    front: FrontSide, many: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(front_end, "_KEEP_EVERY_S", 0.05)
    figures = {"nowMs": 1, "load": {"figures": {"memoryMb": many}}}
    async with rogue(front, incarnation="rogue") as (host, known, _):
        host.answers["describe"] = [page("p", "mine") | {"idleMs": many}]
        asked = asyncio.ensure_future(known.describe())
        await become(host.ended.is_set)
        front.links.end(known, "its lease has ended")
        with pytest.raises(HostGone):
            await asked
    async with rogue(front, incarnation="rogue-2") as (host, _, _):
        host.answers["grant"] = figures
        await become(host.ended.is_set)
        assert "memoryMb" in host.refusal["message"]


OUTCOMES: list[AnyJson] = [
    {"callId": "victim/c-2", "result": {}},
    {"callId": "victim/c-1", "page": page("q", "theirs")},
    {"callId": "victim/c-1", "page": page("q", "mine")},
    {"callId": "victim/c-1", "takenLogins": [{"cookies": []}]},
    {"callId": "victim/c-1", "page": page("squatted", "mine")},
]


@pytest.mark.parametrize("outcome", OUTCOMES)
async def test_an_outcome_about_others_is_no_outcome(front: FrontSide, outcome: AnyJson) -> None:
    async with rogue(front, incarnation="rogue") as (host, known, _):
        host.answers["run"] = outcome
        with pytest.raises(HostGone) as gone:
            await known.run(call())
        assert gone.value.sent
        assert known.checks.dropped == {"outcome": 1}


async def test_pages_frames_and_specs_of_others_are_left_out(front: FrontSide) -> None:
    async with rogue(front, incarnation="rogue") as (host, known, _):
        host.answers["describe"] = [page("q", "theirs"), page("p", "mine"), page("q", "mine")]
        assert [each.page_id for each in await known.describe()] == ["p"]
        host.answers["frame_after"] = {"pageId": "q", "seq": 1, "state": "live"}
        assert await known.frame_after("p", 0, 0, View()) is None
        host.answers["close"] = {"sessionId": "mine", "pages": [page("q", "mine")]}
        with pytest.raises(HostGone):
            await known.close("mine")


# --- what it asks for ------------------------------------------------------------------------------------------------


async def asked(front: FrontSide, key: str, about: AnyJson, data: bytes | None = None) -> httpx.Response:
    headers = {"Authorization": f"Bearer {front.token()}", LINK: key, FILE: quote(json.dumps(about))}
    async with httpx.AsyncClient(base_url=front.service.base_url, headers=headers, trust_env=False) as http:
        if data is None:
            return await http.get(wire.HOSTS_FILES)
        return await http.put(wire.HOSTS_FILES, content=data, headers={"Content-Type": "application/octet-stream"})


async def test_files_of_others_are_not_given_and_not_taken(front: FrontSide) -> None:
    kept = await front.service.parts.artifacts.put(b"private", "text/plain", "victim")
    read: AnyJson = {"artifactId": kept.artifact_id, "clientId": "victim"}
    async with rogue(front, incarnation="rogue") as (host, known, key):
        for about, data in (
            (read, None),
            (read | {"clientId": None}, None),
            ({"upload": "/etc/passwd", "most": 9}, None),
            ({"clientId": "victim", "mimeType": "text/plain"}, b"planted"),
        ):
            assert (await asked(front, key, about, data)).status_code == 403
        for key_of_none in ("guessed", ""):
            assert (await asked(front, key_of_none, read)).status_code == 401
        assert (await asked(front, key, {"artifactId": kept.artifact_id, "all": True})).status_code == 400
        assert (await host.ask(1, "describe_file", read))[0] == "error"
        picture = {"clientId": "victim", "callId": "c-9", "picture": {"data": None}}
        assert (await host.ask(2, "keep_picture", picture))[0] == "ok"
        assert known.checks.dropped == {"read": 3, "upload": 1, "file": 1, "picture": 1}


async def test_a_call_that_names_a_file_gives_that_one_and_only_while_it_runs(front: FrontSide) -> None:
    artifacts = front.service.parts.artifacts
    named, other = [await artifacts.put(text, "text/plain", "victim") for text in (b"named", b"other")]
    async with rogue(front, incarnation="rogue") as (_, known, key):
        body = {"action": "content", "cursor": f"{named.artifact_id}:0"}
        running = asyncio.create_task(known.run(call(body=body)))
        await become(lambda: known.checks.running)
        found = await asked(front, key, {"artifactId": named.artifact_id, "clientId": "victim"})
        assert (found.status_code, found.content) == (200, b"named")
        for about in (
            {"artifactId": named.artifact_id, "clientId": "another"},
            {"artifactId": named.artifact_id, "clientId": None},
            {"artifactId": other.artifact_id, "clientId": "victim"},
        ):
            assert (await asked(front, key, about)).status_code == 403
        given = await asked(front, key, {"clientId": "victim", "mimeType": "text/plain"}, b"result")
        assert (await artifacts.data(given.json()["artifactId"], "victim"))[0] == b"result"
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        assert (await asked(front, key, {"artifactId": named.artifact_id, "clientId": "victim"})).status_code == 403


async def test_a_persons_hand_gives_the_files_that_they_chose(front: FrontSide) -> None:
    chosen = await front.service.parts.artifacts.put(b"chosen", "text/plain", "person")
    strokes = {"batchId": "b", "made": [{"do": "files", "files": [{"artifactId": chosen.artifact_id, "name": "f"}]}]}
    async with rogue(front, incarnation="rogue") as (_, known, key):
        about = {"artifactId": chosen.artifact_id, "clientId": None}
        assert (await asked(front, key, about)).status_code == 403
        handing = asyncio.create_task(known.hand("p", Strokes.model_validate(strokes)))
        await asyncio.wait([handing], timeout=0)
        assert (await asked(front, key, about)).content == b"chosen"
        handing.cancel()
        await asyncio.gather(handing, return_exceptions=True)
