"""Tests what a launcher keeps of its chat, and the frames that carry it."""

import itertools
import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_gateway.jsonrpc import Message
from mcp_gateway.sharing import frames
from mcp_gateway.sharing.hello import Hello
from mcp_gateway.sharing.kept import Kept
from mcp_gateway.sharing.place import NotShared, Place
from shared.wire import MOST_SUBSCRIBED


def message(method: str, request_id: int | None = None, **params: object) -> Message:
    return {"jsonrpc": "2.0", "method": method, "params": params} | ({} if request_id is None else {"id": request_id})


def kept(*messages: Message, answered: tuple[int, ...] = ()) -> Kept:
    found = Kept()
    for each in messages:
        request = found.note(each, json.dumps(each).encode(), is_answered=each.get("id") in answered)
        if request:
            request.is_sent = True
    return found


def resumed(found: Kept) -> list[tuple[object, object, bool]]:
    """Return method and id of each message that the next process is sent, and whether its answer is waited for."""
    return [(one.message["method"], one.message.get("id"), one.request is not None) for one in found.resumed()]


HANDSHAKE = message("initialize", 1), message("notifications/initialized")


def test_the_next_process_is_sent_the_handshake_the_subscriptions_and_what_is_not_answered() -> None:
    found = kept(
        *HANDSHAKE,
        message("resources/subscribe", 2, uri="page://a"),
        message("resources/subscribe", 3, uri="page://b"),
        message("resources/unsubscribe", 4, uri="page://b"),
        message("tools/call", 5, name="goto"),
        message("tools/call", 6, name="click"),
        message("notifications/cancelled", requestId=6),
        answered=(1,),
    )
    assert found.answer(4)
    assert not found.answer(1)
    assert resumed(found) == [
        ("initialize", 1, False),
        ("notifications/initialized", None, False),
        ("resources/subscribe", 2, True),
        ("resources/subscribe", 3, True),
        ("tools/call", 5, True),
    ]
    assert len(found.cancelled) == 1


def test_a_call_that_may_have_been_done_is_sent_again_once_and_then_answered() -> None:
    found = kept(*HANDSHAKE, message("tools/call", 2, name="goto"), message("tools/list", 3))
    found.waiting[3].is_sent = False  # the process died before it was sent a byte of that
    assert [*found.lose()] == []
    assert {number: request.attempt for number, request in found.waiting.items()} == {1: 2, 2: 2, 3: 1}
    for request in found.waiting.values():
        request.is_sent = True
    told = [json.loads(line) for line in found.lose()]
    assert [error["id"] for error in told] == [1, 2]
    assert "It may have happened" in told[1]["error"]["message"]
    assert list(found.waiting) == [3]


def test_an_answer_to_a_process_that_has_died_goes_to_no_other() -> None:
    found = kept(*HANDSHAKE)
    found.asked[7] = None
    answer: Message = {"jsonrpc": "2.0", "id": 7, "result": {}}
    told = [json.loads(line) for line in found.lose()]
    assert (told[-1]["method"], told[-1]["params"]["requestId"]) == ("notifications/cancelled", 7)
    assert not found.expects(answer)
    found.asked["1-7"] = None
    assert found.expects({**answer, "id": "1-7"})
    assert not found.expects({**answer, "id": "1-7"})


@pytest.mark.parametrize("odd", [[], {}, [1], None, 1.5])
def test_an_id_that_no_request_has_is_nobodys(odd: object) -> None:
    found = kept(*HANDSHAKE, message("tools/call", 2), message("notifications/cancelled", requestId=odd))
    assert not found.expects({"jsonrpc": "2.0", "id": odd, "result": {}})
    assert list(found.waiting) == [1, 2]


def test_what_is_kept_of_a_chat_is_bounded() -> None:
    many = [message("resources/subscribe", number, uri=f"page://{number}") for number in range(2, 2_000)]
    assert len(resumed(kept(*many, answered=(*range(2_000),)))) == MOST_SUBSCRIBED
    twice = kept(*[message("tools/call", 1, name="x" * 900_000)] * 9)
    assert not twice.is_full  # an id that is given twice counts once
    assert kept(*(message("tools/call", number, name="x" * 900_000) for number in range(3))).is_full
    assert kept(*(message("ping", number) for number in range(256))).is_full


@given(name=st.binary(min_size=1).filter(lambda name: b"\0" not in name))
def test_a_folder_of_any_name_goes_along(name: bytes) -> None:
    hello = {"arguments": [], "folder": frames.spelt(os.fsdecode(name)), "client_id": "x"}
    assert os.fsencode(Hello.model_validate_json(json.dumps(hello)).folder) == name


def test_another_accounts_folder_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    environment = {"XDG_RUNTIME_DIR": "/dev", "TMPDIR": "/short"}
    owner = Path("/dev").stat().st_uid
    monkeypatch.setattr(os, "getuid", lambda: owner)
    assert Place.of(environment).path.startswith("/dev/")
    monkeypatch.setattr(os, "getuid", lambda: owner + 1)
    assert Place.of(environment).path.startswith("/short/")


FRAME = st.tuples(st.integers(frames.HELLO, frames.STATE), st.binary(max_size=40), st.binary(max_size=90))


@given(sent=st.lists(FRAME), cuts=st.lists(st.integers(0, 900)))
def test_frames_come_out_as_they_went_in_however_they_are_cut(sent: list[frames.Frame], cuts: list[int]) -> None:
    data, taken, reader = b"".join(frames.frame(*each) for each in sent), list[frames.Frame](), frames.Frames()
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    for start, end in itertools.pairwise(edges):
        taken += reader.feed(data[start:end])
    assert taken == sent


@pytest.mark.parametrize("data", [b"\0" * 9, frames.SIZES.pack(frames.LINE, 2**31, 0), frames.SIZES.pack(99, 1, 1)])
def test_what_no_program_of_ours_sends_is_no_frame(data: bytes) -> None:
    with pytest.raises(frames.WrongFrame):
        list(frames.Frames().feed(data))


def test_programs_that_look_in_other_places_have_other_processes() -> None:
    here = {"HOME": "/home/a", "TMPDIR": "/short", "PATH": "/bin", "BROWSE_TOOLSETS": "core"}
    same = [{**here, "BROWSE_TOOLSETS": "all", "PATH": "/usr/bin", "BROWSE_TOKEN": "t"}]
    others = [{**here, name: "/x"} for name in ("HOME", "PYTHONPATH", "BROWSE_DATA_DIR", "BROWSE_CONFIG")]
    assert {Place.of(each).path for each in same} == {Place.of(here).path}
    assert len({Place.of(each).path for each in (here, *others)}) == 5


def test_a_folder_that_others_can_enter_or_change_is_not_used(tmp_path: Path) -> None:
    def usable(name: str) -> bool:
        try:
            Place(str(tmp_path / name), "x").prepare()
        except NotShared:
            return False
        return True

    (tmp_path / "open").mkdir(mode=0o755)
    (tmp_path / "link").symlink_to("open")
    (tmp_path / "file").write_text("", encoding="ascii")
    (tmp_path / "own").mkdir(mode=0o700)
    found = [usable(name) for name in ("open", "link", "file", "none/below", "own", "new")]
    assert found == [False, False, False, False, True, True]
    with pytest.raises(NotShared, match="too long"):
        Place.of({"TMPDIR": f"/{'long' * 30}"})
