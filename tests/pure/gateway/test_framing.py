"""Tests that lines become messages, and what every other line gets."""

import codecs
import json
import os
import threading
from typing import NamedTuple

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from browse_together.contract.json_lines.lines import Lines
from browse_together.contract.wire import MAX_MESSAGE_BYTES
from mcp_gateway import jsonrpc
from mcp_gateway.jsonrpc import Message, answer


class Heard(NamedTuple):
    messages: list[Message]
    replies: list[Message]


def hear(*chunks: bytes) -> Heard:
    """Return what a pair of descriptors makes of these writes, each of which it may get in pieces."""
    (incoming, client_out), (client_in, outgoing) = os.pipe(), os.pipe()

    def write() -> None:
        with os.fdopen(client_out, "wb") as client:
            for chunk in chunks:
                client.write(chunk)
                client.flush()

    writer = threading.Thread(target=write)
    writer.start()
    messages = [message for message, _ in jsonrpc.messages(Lines(incoming, outgoing))]
    writer.join(10)
    os.close(incoming)
    os.close(outgoing)
    with os.fdopen(client_in, "rb") as replies:
        return Heard(messages, [json.loads(line) for line in replies])


def refusal(line: bytes) -> tuple[object, object]:
    """Return the code and id of the only reply to a line that is no message."""
    heard = hear(line + b"\n")
    assert heard.messages == []
    (reply,) = heard.replies
    error = reply["error"]
    assert isinstance(error, dict)
    assert error["message"]
    return error["code"], reply["id"]


PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'


def test_a_line_is_a_message_and_its_end_may_be_dos_or_missing() -> None:
    message = json.loads(PING)
    assert hear(PING + b"\r\n" + PING + b"\n\n  \n" + PING) == Heard([message] * 3, [])


def test_a_message_may_come_in_pieces() -> None:
    assert hear(PING[:9], PING[9:] + b"\n" + PING[:20], PING[20:] + b"\n").messages == [json.loads(PING)] * 2


@pytest.mark.parametrize(
    ("line", "request_id"),
    [
        (b"{bad", None),
        (b"hello", None),
        (b"[" * 200_000, None),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping"', 1),
        (b'{"jsonrpc":"2.0","id":1,"method":"\xff"}', 1),
        (b'{"method":"ping","params":{"x":"\xed\xa0\xbd"},"id":"a"}', "a"),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":NaN}}', 1),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}', 1),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":1e999}}', 1),
    ],
)
def test_what_is_not_json_gets_a_parse_error_under_its_id_where_one_is_found(line: bytes, request_id: object) -> None:
    assert refusal(line) == (-32700, request_id)


@pytest.mark.parametrize(
    "line",
    [
        b'{"method":"ping","id":1,"jsonrpc":"2.0","params":{"x":"half \\ud83d"}}',
        b'{"method":"ping","id":1,"jsonrpc":"2.0","params":{"\\udc00":1}}',
        b'{"method":"\\ud800","id":1,"jsonrpc":"2.0"}',
    ],
)
def test_half_a_character_is_quoted_under_the_id_of_its_request(line: bytes) -> None:
    assert refusal(line) == (-32602, 1)


def test_half_a_character_as_id_is_sent_back_as_it_came() -> None:
    (reply,) = hear(b'{"jsonrpc":"2.0","id":"\\ud83d","method":"ping"}\n').replies
    assert reply["id"] == "\ud83d"


def test_a_byte_order_mark_before_a_message_is_passed_over() -> None:
    assert hear(b"\xef\xbb\xbf" + PING + b"\n").messages == [json.loads(PING)]


@pytest.mark.parametrize(
    ("line", "request_id"),
    [
        (b"[]", None),
        (b"[" + PING + b"]", None),
        (b"3", None),
        (b"null", None),
        (b"{}", None),
        (b'{"jsonrpc":"1.0","id":5,"method":"ping"}', 5),
        (b'{"id":"a","method":"ping"}', "a"),
        (b'{"jsonrpc":"2.0","id":6}', 6),
        (b'{"jsonrpc":"2.0","id":7,"method":7}', 7),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', None),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', None),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', None),
    ],
)
def test_json_that_is_no_request_is_refused_under_its_id_where_it_has_one(line: bytes, request_id: object) -> None:
    assert refusal(line) == (-32600, request_id)


@pytest.mark.parametrize("params", [b"[]", b"0", b'"x"', b"false"])
def test_params_that_are_no_object_are_invalid_params(params: bytes) -> None:
    assert refusal(b'{"jsonrpc":"2.0","id":8,"method":"ping","params":' + params + b"}") == (-32602, 8)


@pytest.mark.parametrize("reply", [b'{"jsonrpc":"2.0","id":1,"result":{}}', b'{"jsonrpc":"2.0","id":null,"error":{}}'])
def test_a_reply_is_passed_on_and_never_replied_to(reply: bytes) -> None:
    assert hear(reply + b"\n") == Heard([json.loads(reply)], [])


@settings(deadline=None)
@example(codecs.BOM_UTF8)
@given(st.binary(max_size=200) | st.from_regex(rb'\{"\w*":.{0,40}\}', fullmatch=True))
def test_every_line_is_a_message_or_refused(line: bytes) -> None:
    heard, lines = hear(line), line.removeprefix(codecs.BOM_UTF8).split(b"\n")
    assert len(heard.messages) + len(heard.replies) == sum(1 for part in lines if part.strip())


def padded(head: bytes, tail: bytes, size: int) -> bytes:
    return head + b"x" * (size - len(head) - len(tail)) + tail


def test_a_message_of_exactly_the_limit_is_read() -> None:
    line = padded(b'{"jsonrpc":"2.0","id":1,"method":"', b'"}', MAX_MESSAGE_BYTES)
    heard = hear(line + b"\n")
    assert heard.replies == []
    assert len(str(heard.messages[0]["method"])) == MAX_MESSAGE_BYTES - 36


@pytest.mark.parametrize(
    ("head", "tail", "request_id"),
    [
        (b'{"jsonrpc":"2.0","id":3,"method":"x","params":{"a":"', b'"}}', 3),
        (b'{"method":"x","params":{"id":9,"a":"', b'"},"jsonrpc":"2.0","id":"last"}', "last"),
        (b'{"method":"x","params":{"id":9,"a":"', b'"}}', None),
    ],
)
def test_a_message_over_the_limit_is_refused_by_name_and_the_connection_goes_on(
    head: bytes, tail: bytes, request_id: object
) -> None:
    heard = hear(padded(head, tail, MAX_MESSAGE_BYTES + 1) + b"\n", PING + b"\n")
    (reply,) = heard.replies
    assert reply["id"] == request_id
    assert reply["error"] == {"code": -32600, "message": "Invalid Request: a message has at most 10485760 bytes"}
    assert heard.messages == [json.loads(PING)]


def test_a_client_that_stopped_reading_is_no_error() -> None:
    incoming, outgoing = os.pipe()
    os.close(incoming)
    Lines(0, outgoing).write(answer(1, {}))
    os.close(outgoing)
