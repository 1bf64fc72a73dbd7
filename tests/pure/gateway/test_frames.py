"""Tests what bounds a message: one over the limit is cut to its ends, one of countless arrays is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.frames import Frame, Opcode
from websockets.server import ServerProtocol

from mcp_gateway import jsonrpc
from mcp_gateway.transports.frames import Trimmer

MOST = 2_000
MESSAGES = st.lists(st.binary(max_size=3 * MOST), min_size=1, max_size=4)


def frames(message: bytes, pieces: int) -> list[Frame]:
    size = max(len(message) // pieces, 1)
    parts = [message[at : at + size] for at in range(0, len(message), size)] or [b""]
    return [
        Frame(Opcode.CONT if at else Opcode.BINARY, part, fin=at == len(parts) - 1) for at, part in enumerate(parts)
    ]


@given(MESSAGES, st.integers(1, 5), st.integers(1, 4_000))
def test_messages_come_through_whole_or_as_their_ends(messages: list[bytes], pieces: int, chunk: int) -> None:
    ping = Frame(Opcode.PING, b"between").serialize(mask=True)
    wire = b"".join(frame.serialize(mask=True) + ping for each in messages for frame in frames(each, pieces))
    trimmer = Trimmer(MOST)
    passed = b"".join(trimmer.feed(wire[at : at + chunk]) for at in range(0, len(wire), chunk))
    assert list(trimmer.was_cut) == [len(each) > MOST for each in messages]
    for each, message in zip(messages, read(passed), strict=True):
        assert message == each if len(each) <= MOST else ends_of(message, each)


def ends_of(message: bytes, whole: bytes) -> bool:
    return len(message) <= MOST + 1_024 and message[:512] == whole[:512] and message[-512:] == whole[-512:]


def read(wire: bytes) -> list[bytes]:
    """Return the messages as the library reads them, which refuses frames that are none."""
    server = ServerProtocol(max_size=MOST + 1_024)
    server.receive_data(
        b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n"
    )
    (request,) = server.events_received()
    server.send_response(server.accept(request))  # type: ignore[arg-type] # it is a request
    server.receive_data(wire)
    assert server.parser_exc is None
    messages, message = list[bytes](), b""
    for event in server.events_received():
        assert isinstance(event, Frame)
        if event.opcode is not Opcode.PING:
            message += event.data
            if event.fin:
                messages.append(message)
                message = b""
    return messages


def test_a_message_of_countless_arrays_is_refused_before_it_is_read() -> None:
    text = b'{"jsonrpc": "2.0", "id": 5, "method": "ping", "params": {"x": [' + b"[]," * 1_500_000 + b"[]]}}"
    with pytest.raises(jsonrpc.InvalidMessage, match="more than 20,000 values") as refused:
        jsonrpc.parse(text)
    assert refused.value.request_id == 5
