"""Cuts a websocket's message short that is over the limit, so that the connection lives on and nobody holds it."""

from collections import deque
from typing import Final

from shared.json_lines.lines import END_BYTES

_FINAL: Final = 0x80
_OPCODE: Final = 0x0F
_CONTROL: Final = 0x08
_MASKED: Final = 0x80
_LENGTH: Final = 0x7F
_LENGTH_16: Final = 126
_LENGTH_64: Final = 127
_KEY_BYTES: Final = 4


class Trimmer:
    """Passes a client's frames on as they come. Of a message over the limit it passes on the beginning and, as its last
    frame, the two ends of what was cut out."""

    def __init__(self, most_bytes: int) -> None:
        self.was_cut = deque[bool]()
        """Says of each message that has ended, in their order, whether it was cut."""
        self.frames = 0
        """How many frames began so far, and `fragments` of them of the message that is coming."""
        self.fragments = 0
        self.left = 0
        """How many bytes of the frame's payload are still to come."""
        self._most_bytes = most_bytes
        self._head = bytearray()
        """The bytes of a frame's header until it is whole."""
        self._size = 0
        """How many bytes the message has so far."""
        self._first, self._last = bytearray(), bytearray()

    @property
    def _is_cut(self) -> bool:
        return self._size > self._most_bytes

    @property
    def held(self) -> int:
        """How many bytes are kept of the message that is coming."""
        return min(self._size - self.left, self._most_bytes)

    def feed(self, data: bytes) -> bytes:
        """Return what is passed on of the bytes that came."""
        out, at = bytearray(), 0
        while at < len(data):
            if self.left:
                piece = data[at : at + self.left]
                self._payload(piece, out)
                at += len(piece)
            else:
                missing = _header_size(self._head) - len(self._head)
                self._head += data[at : at + missing]
                at += missing
                if len(self._head) == _header_size(self._head):
                    self._begin(out)
        return bytes(out)

    def _begin(self, out: bytearray) -> None:
        """Begin a frame, whose header is whole."""
        self.left = _payload_size(self._head)
        self.frames += 1
        if not self._is_control:
            self.fragments += 1
            self._size += self.left
        if self._is_control or not self._is_cut:
            out += self._head
        if not self.left:
            self._end(out)

    def _payload(self, piece: bytes, out: bytearray) -> None:
        done = _payload_size(self._head) - self.left
        self.left -= len(piece)
        if self._is_control or not self._is_cut:
            out += piece
        else:
            self._keep(piece, done)
        if not self.left:
            self._end(out)

    def _keep(self, piece: bytes, done: int) -> None:
        """Keep the ends of what is cut out, unmasked. `done` bytes of the frame came before this piece."""
        room = END_BYTES - len(self._first)
        self._first += self._unmasked(piece[:room], done)
        end = piece[-END_BYTES:]
        self._last += self._unmasked(end, done + len(piece) - len(end))
        del self._last[:-END_BYTES]

    def _unmasked(self, piece: bytes, offset: int) -> bytes:
        if not self._head[1] & _MASKED:
            return piece
        key = self._head[-_KEY_BYTES:]
        return bytes(byte ^ key[(offset + at) % _KEY_BYTES] for at, byte in enumerate(piece))

    def _end(self, out: bytearray) -> None:
        """End a frame. In the place of one that was cut comes one with the ends, or with nothing before the last."""
        is_last = bool(self._head[0] & _FINAL)
        if not self._is_control:
            if self._is_cut:
                ends = bytes(self._first + self._last) if is_last else b""
                size = bytes([_MASKED | _LENGTH_16]) + len(ends).to_bytes(2) if is_last else bytes([_MASKED])
                out += self._head[:1] + size + bytes(_KEY_BYTES) + ends  # a key of zeros leaves the bytes as they are
            if is_last:
                self.was_cut.append(self._is_cut)
                self._size = self.fragments = 0
                self._first.clear()
                self._last.clear()
        self._head.clear()

    @property
    def _is_control(self) -> bool:
        return bool(self._head[0] & _OPCODE & _CONTROL)


def _header_size(head: bytes | bytearray) -> int:
    """Return how many bytes a frame's header has, as far as its first bytes tell."""
    if len(head) < 2:  # noqa: PLR2004 - flags, and the length
        return 2
    length = {_LENGTH_16: 2, _LENGTH_64: 8}.get(head[1] & _LENGTH, 0)
    return 2 + length + (_KEY_BYTES if head[1] & _MASKED else 0)


def _payload_size(head: bytes | bytearray) -> int:
    size = head[1] & _LENGTH
    if size == _LENGTH_16:
        return int.from_bytes(head[2:4])
    return int.from_bytes(head[2:10]) if size == _LENGTH_64 else size
