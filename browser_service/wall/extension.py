"""Serves the browser's extension, which shows each tab's owner in the tab strip, and lets the person share tabs.

It is longer than 300 lines because the whole protocol of the extension is here.
"""

import asyncio
import contextlib
import json
import time
from dataclasses import dataclass, field
from typing import Annotated, Final, Literal, cast

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import Field, TypeAdapter, ValidationError
from starlette.websockets import WebSocket, WebSocketDisconnect

from browse_together.contract import wire
from browse_together.contract.attached import TAB_ID, AttachmentState, TabShare
from browse_together.contract.background import until_one_ends
from browse_together.contract.errors import BrowseError, Forbidden, InvalidRequest, PageNotFound, RateLimited
from browse_together.contract.model import Json, Model
from browse_together.contract.next_calls import plain
from browse_together.contract.pages import Lent, PageState
from browser_service.clients.presence import handle_of
from browser_service.http.routes import body_of, done, for_owner, services
from browser_service.security.auth import Identity
from browser_service.services import Services
from browser_service.waits import wait_until
from browser_service.wall.entry import check_connection
from browser_service.wall.messages import Give, Reply
from browser_service.wall.pairing import CODE_LIVES_S
from browser_service.wall.seat import Seat
from browser_service.wall.viewing import Viewer

router = APIRouter(include_in_schema=False)

_HELLO_WITHIN_S: Final = 10.0
_SENDS_WITHIN_S: Final = 20.0
_LOOK_S: Final = 1.0
"""How often to look for changes without an event, such as the state of the attachment."""
_AWAKE_S: Final = 20.0
"""How often something is sent at least: a browser ends an extension's worker after 30 s of silence."""
_ROUND_S: Final = 0.1
"""Collects changes."""
_REFUSED: Final = 4_403
_MOST_TARGETS: Final = 2_000
_ALL: Final = "*"
_PERSON: Final = Identity(client_id="person-extension", label="A person, by the extension", operator=True)
_GONE: Final = (WebSocketDisconnect, RuntimeError)
"""How Starlette reports that the other side is gone; it raises RuntimeError for sending after that."""

Target = Annotated[str, Field(pattern=TAB_ID)]


class Pair(Model):
    """The first message of an extension that has only the code of a link."""

    type: Literal["pair"]
    code: str = Field(max_length=200, repr=False)


class Hello(Model):
    """The first message of a paired extension, which wants to know whether this is its service."""

    type: Literal["hello"]
    id: str = Field(max_length=64)
    nonce: str = Field(pattern=wire.NONCE_PATTERN)


class Token(Model):
    type: Literal["token"]
    token: str = Field(max_length=4_000, repr=False)


class Here(Model):
    """The targets of the browser's tabs. Nothing more is said about tabs that no agent has."""

    type: Literal["here"]
    targets: list[Target] = Field(max_length=_MOST_TARGETS)


class Move(Model):
    """A person's wish to give a tab to an agent, or to take it back."""

    type: Literal["move"]
    number: int
    target: Target
    to: str = Field(max_length=80, description="An agent's handle, `*` for all, or empty: it is taken back.")
    access: Lent | None = Field(default=None, description="As it is shared now, or to act, if it is dragged.")


class Stop(Model):
    type: Literal["stop"]
    number: int
    target: Target


class Answer(Model):
    """What a person says to a request."""

    type: Literal["answer"]
    number: int
    request_id: str = Field(max_length=64)
    state: Literal["done", "refused"]
    answer: str = Field(default="", max_length=2_000, repr=False)


Message = Pair | Hello | Token | Here | Move | Stop | Answer
_MESSAGE: Final[TypeAdapter[Message]] = TypeAdapter(Annotated[Message, Field(discriminator="type")])


@router.post(wire.EXTENSION, dependencies=[for_owner("browse-together extension")])
async def make_link(request: Request) -> Response:
    """Make a pairing link for the account's own command line."""
    await body_of(request)
    parts = services(request)
    host, scheme = request.headers.get("host", ""), "wss" if request.url.scheme == "https" else "ws"
    socket_url = f"{scheme}://{host}{wire.EXTENSION_SOCKET}"
    url = f"{wire.EXTENSION_ORIGIN}/pair.html#{socket_url}#{parts.pairing.code()}"
    return done(request, {"url": url, "worksForS": CODE_LIVES_S})


@router.websocket(wire.EXTENSION_SOCKET)
async def socket(websocket: WebSocket) -> None:
    parts = cast("Services", websocket.app.state.services)  # our application keeps them there
    await websocket.accept()
    try:
        if websocket.headers.get("origin") != wire.EXTENSION_ORIGIN:
            raise Forbidden("This is the extension's own socket.")
        check_connection(websocket)
        if token_id := await _let_in(websocket, parts):
            viewer = parts.viewing.guest(token_id, f"extension {token_id}")  # one for all connections of a token
            with parts.viewing.watching(viewer):
                await _Extension(websocket, parts, token_id, viewer).run()
    except BrowseError as error:
        with contextlib.suppress(*_GONE):
            await _send(
                websocket, {"type": "refused", "reason": plain(error.message), "hint": plain(error.advice or "")}
            )
            await websocket.close(_REFUSED)
    except (TimeoutError, *_GONE):
        pass


async def _let_in(websocket: WebSocket, parts: Services) -> str:
    """Return the id of the extension's token; empty after pairing, when it comes again. Raises Unauthorized."""
    async with asyncio.timeout(_HELLO_WITHIN_S):
        first = await _receive(websocket)
        if isinstance(first, Pair):
            await _send(websocket, {"type": "paired", **await parts.pairing.pair(first.code)})
            return ""
        if not isinstance(first, Hello):
            raise InvalidRequest("An extension begins with hello.")
        proof = parts.pairing.proof(first.id, websocket.headers.get("host", ""), first.nonce)
        await _send(websocket, {"type": "proof", "proof": proof})
        proven = await _receive(websocket)
    if not isinstance(proven, Token):
        raise InvalidRequest("After hello an extension sends its token.")
    return parts.pairing.admit(proven.token)


async def _receive(websocket: WebSocket) -> Message:
    """Return the next message. Raises InvalidRequest for anything else."""
    try:
        return _MESSAGE.validate_json(await websocket.receive_text())
    except (ValidationError, KeyError):  # KeyError for bytes
        raise InvalidRequest("The message is none of the extension's.", hint="Load the extension anew.") from None


async def _send(websocket: WebSocket, message: Json) -> None:
    async with asyncio.timeout(_SENDS_WITHIN_S):
        await websocket.send_text(json.dumps(message, separators=(",", ":")))


@dataclass(eq=False)
class _Extension:
    """One browser with the extension."""

    websocket: WebSocket
    parts: Services
    token_id: str
    viewer: Viewer
    _targets: frozenset[str] = frozenset()
    _told: Json | None = None
    _told_at: float = 0.0
    _changed: asyncio.Event = field(default_factory=asyncio.Event)
    _asked: asyncio.Queue[Move | Stop | Answer] = field(default_factory=lambda: asyncio.Queue(20))
    _seat: Seat = field(init=False)

    def __post_init__(self) -> None:
        self._seat = Seat(self.parts, self.viewer, _PERSON, _PERSON)

    async def run(self) -> None:
        """Serve it until it goes or its token is revoked."""
        with self.parts.wall.telling(self._changed.set):
            await until_one_ends(self._listen(), self._tell(), self._act())

    async def _listen(self) -> None:
        while True:
            message = await _receive(self.websocket)
            self.parts.viewing.receive(self.viewer, 0)
            match message:
                case Here():
                    self._targets = frozenset(message.targets)
                    self._changed.set()
                case Move() | Stop() | Answer():
                    if self._asked.full():
                        raise RateLimited("More was asked than can be done.", hint="Wait a moment.")
                    self._asked.put_nowait(message)
                case _:
                    raise InvalidRequest("An extension says hello once.")

    async def _tell(self) -> None:
        while True:
            self._changed.clear()
            self.parts.pairing.check(self.token_id)
            await self._tell_state()
            await wait_until(self._changed.is_set, self._changed, _LOOK_S)
            await asyncio.sleep(_ROUND_S)

    async def _tell_state(self) -> None:
        state, now = await self._state(), time.monotonic()
        if state != self._told or now - self._told_at >= _AWAKE_S:
            self._told, self._told_at = state, now
            await _send(self.websocket, state)

    async def _act(self) -> None:
        while True:
            message = await self._asked.get()
            try:
                await self._do(message)
                await self.parts.feeds.drain()
                await self._tell_state()  # else the tab would be put back until the next one
                said: Json = {"type": "done"}
            except BrowseError as error:
                said = {"type": "refused", "reason": plain(error.message), "hint": plain(error.advice or "")}
            await _send(self.websocket, {**said, "number": message.number})

    # --- what it sees ------------------------------------------------------------------------------------------------

    async def _state(self) -> Json:
        states = await self.parts.attached.states() or [AttachmentState()]
        pages = self.parts.directory.pages()  # after what waits, so that none is older than what was told
        asked = [page for page in pages if page.person and not page.person.is_hold]
        return {
            "type": "state",
            "wall": self._wall(),
            "browser": " ".join(
                f"{each.words} {each.next_step}".strip() for each in states if each.state != "attached"
            ),
            "agents": [*self._agents(pages)],
            "tabs": {page.target_id: self._tab(page) for page in pages if page.target_id in self._targets},
            "requests": [*map(self._request, asked)],
        }

    def _wall(self, page_id: str = "") -> str:
        return f"{self.parts.requests.address()}{wire.WALL}" + (f"#/page/{page_id}" if page_id else "")

    def _agents(self, pages: list[PageState]) -> list[Json]:
        present = self.parts.clients.present_labels
        labels = {page.holder_id: page.holder_label for page in pages if page.holder_id} | present
        return [
            {
                "to": handle_of(client_id),
                "label": label or "An agent",
                "colour": self.parts.colours.of(client_id, label),
                "present": client_id in present,
            }
            for client_id, label in sorted(labels.items(), key=lambda each: (each[1].casefold(), each[0]))
        ]

    def _tab(self, page: PageState) -> Json:
        """Describe the page in a tab. In the person's own hands it is in no agent's group."""
        held = page.person is not None and page.person.is_hold
        return {
            "pageId": page.page_id,
            "owner": handle_of(page.holder_id) if page.holder_id and not held else None,
            "agents": not page.of_person,
            "readOnly": page.lent == "read",
            "held": held,
        }

    def _request(self, page: PageState) -> Json:
        assert page.person is not None  # noqa: S101 - only such pages come here
        return {
            "requestId": page.person.request_id,
            "askedBy": page.person.asked_by,
            "colour": self.parts.colours.known(page.asker_id or ""),
            "kind": page.person.kind,
            "message": page.person.message,
            "choices": [*page.person.choices],
            "url": self._wall(page.page_id),
        }

    # --- what it asks for --------------------------------------------------------------------------------------------

    async def _do(self, message: Move | Stop | Answer) -> None:
        match message:
            case Move():
                await self._move(message)
            case Stop():
                await self._stop(self._page(message.target))
            case Answer():
                said = message.model_dump(exclude={"number"})
                await Reply.model_validate({**said, "id": message.number}).do(self._seat)

    async def _move(self, move: Move) -> None:
        """Share a tab, hand it over, or take it back. What is so already stays."""
        page = self._page(move.target)
        if page is None or page.lent is not None:
            await self._share(move, page)
        elif not move.to:
            await self._stop(page)
        elif move.to == _ALL:
            if page.person is not None:
                await self._seat.call("give_back", page.page_id)
        elif page.person is not None or not page.holder_id or handle_of(page.holder_id) != move.to:
            await Give(type="give", id=move.number, page_id=page.page_id, to=move.to).do(self._seat)

    async def _share(self, move: Move, page: PageState | None) -> None:
        """Share a tab of the person's own browser, or take it back. One that an agent asked for is the answer."""
        if not move.to:
            if page is not None:
                await self.parts.attached.unshare(move.target, _PERSON)
            return
        lent = page.lent if page is not None else None
        now = handle_of(page.lent_to) if page is not None and page.lent_to else _ALL
        access = move.access or lent or "act"
        if (lent, now) != (access, move.to):
            asked = next((each for each in self.parts.directory.pages() if _asks(each, move.to)), None)
            request_id = asked.person.request_id if asked is not None and asked.person is not None else None
            to = "" if move.to == _ALL else move.to
            share = TabShare(tab_id=move.target, access=access, label=to, request_id=request_id)
            await self.parts.attached.share(share, _PERSON)

    async def _stop(self, page: PageState | None) -> None:
        if page is None:
            raise PageNotFound("No agent has this tab.")
        await self._seat.call("take_over", page.page_id, stop=True)

    def _page(self, target: str) -> PageState | None:
        if target not in self._targets:
            raise InvalidRequest("This browser has no such tab.")
        return next((page for page in self.parts.directory.pages() if page.target_id == target), None)


def _asks(page: PageState, handle: str) -> bool:
    """Return whether this is the page of an agent that asks for a tab."""
    asks = page.person is not None and page.person.kind == "tab" and page.asker_id is not None
    return asks and handle_of(page.asker_id or "") == handle
