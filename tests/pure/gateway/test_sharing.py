"""Tests what is sent again to the next process, and where a launcher finds it."""

import asyncio
import json
import os
import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from browse_together.contract.wire import ATTEMPT_META, CALL_ID_META, MOST_SUBSCRIBED
from mcp_gateway import logs
from mcp_gateway.jsonrpc import Message
from mcp_gateway.sharing import process
from mcp_gateway.sharing.shared_socket import NotShared, SharedSocket
from mcp_gateway.stdio import hello
from mcp_gateway.unanswered import Unanswered
from tests.support.waiting import PATIENCE_S


def message(method: str, request_id: int | None = None, **params: object) -> Message:
    return {"jsonrpc": "2.0", "method": method, "params": params} | ({} if request_id is None else {"id": request_id})


def kept(*messages: Message, answered: tuple[int, ...] = ()) -> Unanswered:
    found = Unanswered("It ended")
    for each in messages:
        _, request = found.note(each, len(json.dumps(each)), is_answered=each.get("id") in answered)
        if request:
            request.is_sent = True
    return found


def resumed(found: Unanswered) -> list[tuple[object, object, bool]]:
    """Return method and id of each message that the next process is sent, and whether its answer is waited for."""
    return [(message["method"], message.get("id"), request is not None) for message, request in found.resumed()]


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
    told = [*found.lose()]
    assert [each["id"] for each in told] == [1, 2]
    assert "It ended during goto, twice. It may have happened" in str(told[1]["error"])
    assert list(found.waiting) == [3]


def test_a_call_keeps_its_id_and_is_marked_when_it_is_sent_again() -> None:
    found = Unanswered("It ended")
    sent, request = found.note(message("tools/call", 1, name="goto"), 9)
    assert request
    request.is_sent = True
    assert [*found.lose()] == []
    ((again, _),) = found.resumed()
    first, second = (dict[str, object](each["params"]["_meta"]) for each in (sent, again))  # type: ignore[index] # JSON
    assert second == {**first, ATTEMPT_META: True}
    assert first == {CALL_ID_META: request.call_id}


def test_an_answer_to_a_process_that_has_died_goes_to_no_other() -> None:
    found = kept(*HANDSHAKE)

    def asked_of_client(request_id: object) -> object:
        return found.to_client({"jsonrpc": "2.0", "id": request_id, "method": "roots/list"})["id"]

    def answered(request_id: object) -> Message | None:
        return found.from_client({"jsonrpc": "2.0", "id": request_id, "result": {}})

    first = asked_of_client(1)
    (told,) = found.lose()
    assert told == message("notifications/cancelled", requestId=first, reason="It ended.")
    second = asked_of_client(1)
    assert (first == second, answered(first)) == (False, None)
    withdrawn = found.to_client(message("notifications/cancelled", requestId=1))
    assert withdrawn == message("notifications/cancelled", requestId=second)
    assert [answered(second), answered(second)] == [{"jsonrpc": "2.0", "id": 1, "result": {}}, None]


@pytest.mark.parametrize("odd", [[], {}, [1], None, 1.5])
def test_an_id_that_no_request_has_is_nobodys(odd: object) -> None:
    found = kept(*HANDSHAKE, message("tools/call", 2), message("notifications/cancelled", requestId=odd))
    assert found.from_client({"jsonrpc": "2.0", "id": odd, "result": {}}) is None
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
    said = hello.Hello("x", [], os.fsdecode(name), {}, {}, [], 0.5)
    assert os.fsencode(hello.hello(hello.line(hello.HELLO, said._asdict())).folder) == name


@pytest.mark.parametrize("line", [b"", b"{}", b"[]", b"[3]", b'["hello"]', b'["hello", {}]', b"[", b'["welcome"]'])
def test_what_no_launcher_says_is_no_hello(line: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        hello.hello(line)


def test_another_accounts_folder_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    environment = {"XDG_RUNTIME_DIR": "/dev", "TMPDIR": "/short"}
    owner = Path("/dev").stat().st_uid
    monkeypatch.setattr(os, "getuid", lambda: owner)
    assert SharedSocket.of(environment).path.startswith("/dev/")
    monkeypatch.setattr(os, "getuid", lambda: owner + 1)
    assert SharedSocket.of(environment).path.startswith("/short/")


@pytest.mark.anyio
async def test_a_process_whose_folder_went_before_it_looked_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "_FIRST_WITHIN_S", 0.01)
    monkeypatch.setattr(logs, "to_stderr", lambda _: None)  # it would be so for all tests of this process
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "x.sock"))
        listener.listen()
        gone = SharedSocket(str(tmp_path / "gone"), "x")
        await asyncio.wait_for(process.SharedProcess(listener, gone, None).run(), PATIENCE_S)


def test_programs_that_look_in_other_places_have_other_processes() -> None:
    here = {"HOME": "/home/a", "TMPDIR": "/short", "PATH": "/bin", "BROWSE_TOOLSETS": "core"}
    same = [{**here, "BROWSE_TOOLSETS": "all", "PATH": "/usr/bin", "BROWSE_TOKEN": "t"}]
    others = [{**here, name: "/x"} for name in ("HOME", "PYTHONPATH", "BROWSE_DATA_DIR", "BROWSE_CONFIG")]
    assert {SharedSocket.of(each).path for each in same} == {SharedSocket.of(here).path}
    assert len({SharedSocket.of(each).path for each in (here, *others)}) == 5


def test_a_folder_that_others_can_enter_or_change_is_not_used(tmp_path: Path) -> None:
    def usable(name: str) -> bool:
        try:
            SharedSocket(str(tmp_path / name), "x").prepare()
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
        SharedSocket.of({"TMPDIR": f"/{'long' * 30}"})
