"""Encodes pictures as a video in memory, of a bounded size."""

import io
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from PIL import Image, ImageOps

from shared.errors import NotInstalled
from shared.installation import install_command

if TYPE_CHECKING:
    from av import VideoFrame

MIME_TYPE: Final = "video/mp4"
_MILLISECONDS: Final = Fraction(1, 1000)
_CODEC: Final = "libx264"
_FAST: Final = {"preset": "ultrafast", "tune": "zerolatency", "crf": "26"}
"""This takes a seventh of the time of VP8, and every player has it."""


def load_encoder() -> None:
    """Import the encoder, which takes 0.1 s and 20 MB. Raises NotInstalled, which says how to get it."""
    try:
        import av  # noqa: F401, PLC0415 - for those who record
    except ImportError as error:
        raise NotInstalled(
            f"Videos need the package av, which cannot be imported here: {error}.",
            hint=f"Whoever runs the service gets it by: {install_command('video')}. Then repeat the call.",
            details={"context": {"extra": "video"}},
        ) from error


class Video:
    """A video that shows each picture until the next, all in the first one's size. Encoding blocks: keep it off the
    event loop."""

    def __init__(self, first: bytes, most_bytes: int) -> None:
        import av  # noqa: PLC0415 - `load_encoder` tells where it is missing

        self._frame_of: Callable[[Image.Image], VideoFrame] = av.VideoFrame.from_image
        self.size = _even(Image.open(io.BytesIO(first)).size)
        self.frames = 0
        self.last_ms = -1
        self._most_bytes = most_bytes
        self._file = io.BytesIO()
        self._container = av.open(self._file, "w", format="mp4")
        self._stream = self._container.add_stream(_CODEC, rate=25, options=_FAST)
        self._stream.width, self._stream.height = self.size
        self._stream.pix_fmt = "yuv420p"
        self._stream.codec_context.time_base = _MILLISECONDS
        self._stream.codec_context.thread_count = 1
        self._latest = first

    @property
    def full(self) -> bool:
        return self._file.tell() >= self._most_bytes

    def show(self, picture: bytes, at_ms: int) -> None:
        """Show this JPEG from `at_ms` on."""
        self._latest = picture
        self.frames += 1
        self._encode(at_ms)

    def finish(self, at_ms: int) -> bytes:
        """Return the file, whose last picture lasts until `at_ms`."""
        self._encode(at_ms)
        self._container.mux(self._stream.encode(None))
        self._container.close()
        return self._file.getvalue()

    def _encode(self, at_ms: int) -> None:
        picture = Image.open(io.BytesIO(self._latest)).convert("RGB")
        fitting = picture if picture.size == self.size else ImageOps.pad(picture, self.size, color="black")
        frame = self._frame_of(fitting)
        self.last_ms = frame.pts = max(at_ms, self.last_ms + 1)
        frame.time_base = _MILLISECONDS
        self._container.mux(self._stream.encode(frame))


def _even(size: tuple[int, int]) -> tuple[int, int]:
    """Make both sides even, because the codec keeps colours for four pixels at a time."""
    return max(2, size[0] - size[0] % 2), max(2, size[1] - size[1] % 2)
