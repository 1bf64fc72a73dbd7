"""Serves one viewer of the wall by a websocket, at the pace at which the viewer reads."""

import asyncio
import time
from typing import Final, cast

import structlog
from fastapi import APIRouter
from starlette.websockets import WebSocket, WebSocketDisconnect

from browse_together.contract import wire
from browse_together.contract.background import AtMost, Background, until_one_ends
from browse_together.contract.calls import ActivityRecord
from browse_together.contract.errors import BrowseError, InvalidRequest, RateLimited, Unauthorized
from browse_together.contract.model import Json, object_at
from browse_together.contract.next_calls import plain
from browser_service.security.auth import Identity
from browser_service.services import Services
from browser_service.store.activity import RowFilter
from browser_service.waits import wait_until
from browser_service.wall import messages
from browser_service.wall.by_hand import Input
from browser_service.wall.entry import let_in
from browser_service.wall.pictures import Channel, packed
from browser_service.wall.seat import Asked, Seat, identity_of
from browser_service.wall.state import WallState, timeline_row
from browser_service.wall.viewing import Viewer

router = APIRouter()

_SENDS_WITHIN_S: Final = 20.0
"""A viewer that takes longer to read a message is disconnected."""
_ENDS_WITHIN_S: Final = 2.0
_ROUND_S: Final = 0.1
"""Pause between two rounds of sending changes."""
_LOOK_S: Final = 1.0
_THERE_EVERY_S: Final = 60.0
_MOST_INPUTS: Final = 100
"""Longest line of a person's input for a slow page."""
_PAGE: Final = messages.Drawn(width=1_280, fps=10)
_ROWS: Final = 60
_REFUSED: Final = 4_403
_SHED: Final = 1_013
_GONE: Final = (WebSocketDisconnect, RuntimeError)
"""How Starlette reports that the other side is gone; it raises RuntimeError for sending after that."""

log = structlog.get_logger(__name__)


@router.websocket(wire.WALL_SOCKET)
async def socket(websocket: WebSocket) -> None:
    parts = cast("Services", websocket.app.state.services)  # our application keeps them there
    await websocket.accept()
    try:
        viewer, identity = await let_in(websocket, parts)
        with parts.viewing.watching(viewer):  # only after the proof: a stolen cookie alone takes nobody's place
            await Watcher(websocket, parts, viewer, identity).run()
    except BrowseError as error:
        await _end(websocket, _REFUSED, error)
    except TimeoutError:
        log.info("a viewer of the wall stopped reading, and is shed")
        await _end(websocket, _SHED)
    except _GONE:
        pass


async def _end(websocket: WebSocket, code: int, error: BrowseError | None = None) -> None:
    """End the connection, with the reason if the viewer still reads."""
    async with AtMost(_ENDS_WITHIN_S, *_GONE):
        if error is not None:
            await websocket.send_json({"type": "refused", "over": True, **_said(error)})
        await websocket.close(code, error.message[:120] if error is not None else None)


class Watcher:
    """One viewer in front of the wall."""

    def __init__(self, websocket: WebSocket, parts: Services, viewer: Viewer, identity: Identity) -> None:
        self._websocket, self._parts, self._viewer, self._identity = websocket, parts, viewer, identity
        self._seat = Seat(parts, viewer, identity, identity_of(viewer) if identity.request_id else identity)
        self._channels: dict[str, Channel] = {}
        self._sent: dict[str, int] = {}
        """The number of the last picture that was sent of a page."""
        self._fresh: dict[str, None] = {}
        self._state: WallState | None = None
        self._version = -1
        self._looked_at = 0.0
        self._wanted: messages.Watch | None = None
        self._page: str | None = None
        self._hidden = False
        self._timeline: asyncio.Task[None] | None = None
        self._outbox: asyncio.Queue[Json] = asyncio.Queue(30)  # short, because some messages have pictures
        self._changed = asyncio.Event()
        self._inputs: asyncio.Queue[Input] = asyncio.Queue()
        self._acting = Background()

    async def run(self) -> None:
        """Serve the viewer until it goes, its time is over, or it stops reading."""
        try:
            with self._parts.wall.telling(self._changed.set):
                await until_one_ends(
                    self._receive(), self._send(), self._hand_in(), self._be_there(), self._end_in_time()
                )
        finally:
            for channel in self._channels.values():
                self._parts.pictures.leave(self, channel)
            if self._timeline is not None:
                self._timeline.cancel()
            await self._acting.stop()
            self._hide(hidden=False)  # last: nobody sees a window that closes

    async def _end_in_time(self) -> None:
        while (left_s := self._parts.viewing.left_s(self._viewer)) > 0:  # noqa: ASYNC110 - a moment is waited for
            await asyncio.sleep(left_s)  # it may be renewed meanwhile
        raise Unauthorized("Your time at the wall is over.", hint="browse-together show")

    # --- what comes --------------------------------------------------------------------------------------------------

    async def _receive(self) -> None:
        while True:
            try:
                text = await self._websocket.receive_text()
            except KeyError:  # bytes
                raise InvalidRequest("A viewer sends text alone.", hint="Load the page anew.") from None
            self._parts.viewing.receive(self._viewer, len(text))
            try:
                self._take(messages.parse(text))
            except BrowseError as error:
                self._tell({"type": "refused", **_said(error)})

    def _take(self, message: messages.Message) -> None:
        match message:
            case messages.Watch():
                self._wanted = message  # for the next round; an older one is obsolete
                self._changed.set()
            case Input():
                message.check(self._seat)
                if self._inputs.qsize() >= _MOST_INPUTS:
                    raise RateLimited("The page is slower than your hand.", hint="Wait until it has caught up.")
                self._inputs.put_nowait(message)
            case messages.Hello():
                raise InvalidRequest("A viewer says hello once.", hint="Load the page anew.")
            case Asked():
                self._acting.spawn(self._answer(message))

    def _watch(self, message: messages.Watch) -> None:
        """Watch what the viewer draws now, and nothing else."""
        self._hide(hidden=message.hidden)
        is_there = self._parts.directory.get
        drawn = {page_id: each for page_id, each in message.tiles.items() if is_there(page_id)}
        if message.page is not None:
            drawn[message.page] = _PAGE
            if message.page != self._page:  # it is drawn from scratch
                self._sent.pop(message.page, None)
        for page_id in self._channels.keys() - drawn.keys():
            self._parts.pictures.leave(self, self._channels.pop(page_id))
            self._sent.pop(page_id, None)
        for page_id, each in drawn.items():
            if not self._parts.wall.is_locked(page_id, self._identity):
                view = each.view(masked=self._viewer.read_only)
                self._channels[page_id] = self._parts.pictures.watch(self, page_id, view, self._note_frame)
                self._note_frame(page_id)
        if message.page != self._page:
            self._page = message.page
            if self._timeline is not None:
                self._timeline.cancel()
            self._timeline = asyncio.create_task(self._follow(message.page)) if message.page else None

    def _hide(self, *, hidden: bool) -> None:
        """Note whether the window is out of view, for who counts on being seen."""
        self._viewer.hidden += hidden - self._hidden
        self._hidden = hidden

    async def _answer(self, message: Asked) -> None:
        try:
            message.check(self._seat)
            with self._parts.viewing.answering(self._viewer):
                self._tell({"type": "done", "id": message.id, "result": await message.do(self._seat)})
        except BrowseError as error:
            self._tell({"type": "refused", "id": message.id, **_said(error)})

    async def _follow(self, page_id: str) -> None:
        """Send the record of a page, then whatever is recorded there from now on."""
        if self._identity.request_id or self._parts.wall.is_locked(page_id, self._identity):
            return
        activity, row_filter = self._parts.activity, RowFilter(equal={"page_id": page_id})
        who, sees_all = self._identity.client_id, self._identity.operator
        with activity.watch(row_filter, who, all_rows=sees_all) as watcher:
            row: ActivityRecord | int | None = 0
            while row is not None:
                told: Json = {"type": "timeline", "pageId": page_id, "whole": isinstance(row, int)}
                if isinstance(row, int):  # the number of missed rows; 0 at first, when all are
                    rows, _ = await activity.find(row_filter, who, _ROWS, all_rows=sees_all)
                    told["rows"] = [timeline_row(each) for each in reversed(rows)]
                else:
                    told["rows"] = [timeline_row(row)]
                await self._outbox.put(told)
                self._changed.set()
                row = await watcher.next()

    async def _hand_in(self) -> None:
        """Perform the person's input in order. A refusal is reported, and drops whatever input waited behind it."""
        while True:
            message = await self._inputs.get()
            try:
                await message.perform(self._seat)
            except BrowseError as error:
                while not self._inputs.empty():
                    self._inputs.get_nowait()
                self._tell({"type": "refused", **_said(error)})

    async def _be_there(self) -> None:
        """Report, now and then, that a person is at the page that they hold and look at."""
        while True:
            page = self._parts.directory.get(self._page)
            is_theirs = page is not None and not self._parts.wall.is_locked(page.page_id, self._identity)
            if page is not None and page.person is not None and is_theirs and not self._viewer.read_only:
                await self._seat.be_there(page.person.request_id)
            await asyncio.sleep(_THERE_EVERY_S)

    # --- what goes out -----------------------------------------------------------------------------------------------

    def _tell(self, message: Json) -> None:
        if not self._outbox.full():  # if it is, the viewer asks for more than it reads
            self._outbox.put_nowait(message)
        self._changed.set()

    def _note_frame(self, page_id: str) -> None:
        self._fresh[page_id] = None
        self._changed.set()

    async def _send(self) -> None:
        asked = self._identity.request_id or None
        first: Json = {"name": self._viewer.name, "readOnly": self._viewer.read_only, "request": asked}
        left = round(self._parts.viewing.left_s(self._viewer))
        await self._send_json({"type": "viewer", **first, "leftS": left, "version": wire.VERSION})
        while not self._viewer.left:
            wanted, self._wanted = self._wanted, None
            if wanted is not None:
                self._watch(wanted)
            await self._send_state()
            while not self._outbox.empty():
                await self._send_json(self._outbox.get_nowait())
            fresh, self._fresh = self._fresh, {}
            for page_id in fresh:
                await self._send_frame(page_id)
            round_s = _ROUND_S / 2 if self._page else _ROUND_S  # collects changes; answers end the wait at once
            await wait_until(lambda: not self._outbox.empty(), self._changed, round_s)
            await wait_until(self._has_news, self._changed, _LOOK_S)
        raise Unauthorized("You left the wall.", hint="browse-together show")

    def _has_news(self) -> bool:
        is_told = self._version == self._parts.wall.version and self._outbox.empty()
        return bool(self._fresh or self._wanted or not is_told)

    async def _send_state(self) -> None:
        now = time.monotonic()
        if self._version == self._parts.wall.version and now - self._looked_at < _LOOK_S:
            return
        self._version, self._looked_at = self._parts.wall.version, now
        self._state, told = self._parts.wall.news(self._identity, self._state)
        if told:
            async with asyncio.timeout(_SENDS_WITHIN_S):
                await self._websocket.send_text(told)

    async def _send_frame(self, page_id: str) -> None:
        """Send the newest frame of a page, with its picture only if the viewer has not had that one."""
        channel = self._channels.get(page_id)
        frame = channel.frame if channel is not None else None
        if channel is None or frame is None or self._parts.wall.is_locked(page_id, self._identity):
            return
        is_new = self._sent.get(page_id, 0) != channel.pictures
        self._sent[page_id] = channel.pictures
        if is_new not in channel.packed:
            colour = self._parts.colours.known(frame.act.client_id) if frame.act else None
            channel.packed[is_new] = packed(frame, channel.picture if is_new else b"", colour)
        async with asyncio.timeout(_SENDS_WITHIN_S):
            await self._websocket.send_bytes(channel.packed[is_new])

    async def _send_json(self, message: Json) -> None:
        async with asyncio.timeout(_SENDS_WITHIN_S):
            await self._websocket.send_json(message)


def _said(error: BrowseError) -> Json:
    body = error.body()
    context = object_at(body.details, "context")
    field = {"field": context.get("field", "")} if context else {}
    return {"code": body.code, "reason": plain(error.message), "hint": plain(error.advice or ""), **field}
