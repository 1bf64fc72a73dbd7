"""Fetches the pictures of pages from their host, each once for everybody who watches."""

import asyncio
import base64
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final

from browse_together.contract.frames import Frame, View
from browse_together.contract.model import Json

_FRAME: Final = b"\x01"
_POLL_MS: Final = 5_000
_MASKED_POLL_MS: Final = 1_000
"""Short, because a secret's cover may vanish without any change of the page."""
_NO_PAGE_S: Final = 1.0
_ROUND_S: Final = 0.1
"""Collects changes that belong together, such as an act and its target, unless somebody looks closer."""

FrameAfter = Callable[[str, int, int, View], Awaitable[Frame | None]]
"""Returns a page's frame once it differs from the one with this number, or after this many milliseconds."""
OnFrame = Callable[[str], None]
"""Called with the pageId of a page that has a newer frame."""


@dataclass(eq=False)
class Channel:
    """The newest frame of one page, for all viewers who may see the same of it."""

    page_id: str
    masked: bool
    views: dict[object, tuple[View, OnFrame]] = field(default_factory=dict)
    frame: Frame | None = None
    picture: bytes = b""
    pictures: int = 0
    """Number of pictures so far, so that each viewer is sent each once."""
    packed: dict[bool, bytes] = field(default_factory=dict)
    """The frame as it is sent, without and with its picture; it is the same for all viewers."""
    task: asyncio.Task[None] | None = None

    def wanted(self) -> View:
        """Return a view that is good enough for all viewers."""
        views = [view for view, _ in self.views.values()]
        return View(
            width=max(view.width for view in views),
            fps=max(view.fps for view in views),
            quality=max(view.quality for view in views),
            masked=self.masked,
        )

    def take(self, frame: Frame) -> None:
        """Store the newest frame. If it is hidden, drop the earlier picture too."""
        if frame.picture is not None:
            self.picture, self.pictures = base64.b64decode(frame.picture), self.pictures + 1
        elif frame.state == "hidden":
            self.picture, self.pictures = b"", self.pictures + 1
        self.frame, self.packed = frame.model_copy(update={"picture": None}), {}
        for _, on_frame in [*self.views.values()]:
            on_frame(self.page_id)


class Pictures:
    """The channels, one per page that somebody watches. A viewer who is late gets only the newest frame."""

    def __init__(self, frame_after: FrameAfter) -> None:
        self._frame_after = frame_after
        self._channels: dict[tuple[str, bool], Channel] = {}

    def watch(self, viewer: object, page_id: str, view: View, on_frame: OnFrame) -> Channel:
        """Have a viewer watch a page, with the size and frequency of `view`."""
        key = page_id, view.masked
        channel = self._channels.get(key) or self._channels.setdefault(key, Channel(*key))
        former = channel.wanted() if channel.views else None
        channel.views[viewer] = view, on_frame
        if channel.wanted() != former:
            if channel.task is not None:
                channel.task.cancel()
            channel.task = asyncio.create_task(self._follow(channel))
        return channel

    def leave(self, viewer: object, channel: Channel) -> None:
        """Stop a viewer's watch. After the last one, no more pictures are fetched."""
        channel.views.pop(viewer, None)
        if not channel.views:
            self._channels.pop((channel.page_id, channel.masked), None)
            if channel.task is not None:
                channel.task.cancel()

    async def _follow(self, channel: Channel) -> None:
        seq, wait_ms = channel.frame.seq if channel.frame else 0, _MASKED_POLL_MS if channel.masked else _POLL_MS
        while True:
            view = channel.wanted()
            frame = await self._frame_after(channel.page_id, seq, wait_ms, view)
            if frame is None:
                seq = 0
                await asyncio.sleep(_NO_PAGE_S)  # the page is closed, but another may get its name
            elif frame.seq != seq:
                seq = frame.seq
                channel.take(frame)
                await asyncio.sleep(min(_ROUND_S, 0.3 / view.fps))


def packed(frame: Frame, picture: bytes, colour: str | None) -> bytes:
    """Pack a frame: its kind, the length of its head, the head as JSON, and the picture, if there is a new one."""
    head: Json = frame.model_dump(mode="json", exclude={"picture": True, "act": {"client_id"}}, exclude_none=True)
    if colour is not None:
        head["colour"] = colour
    text = json.dumps({**head, "hasPicture": bool(picture)}, separators=(",", ":")).encode()
    return b"".join((_FRAME, len(text).to_bytes(2, "big"), text, picture))
