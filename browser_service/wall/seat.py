"""Where one viewer sits: who they are to the spine, what they may ask for, and how what they do is recorded."""

import contextlib
from abc import abstractmethod
from dataclasses import dataclass
from typing import Annotated
from uuid import uuid4

from pydantic import Field, JsonValue

from browse_together.contract import catalogue
from browse_together.contract.calls import Outcome
from browse_together.contract.errors import Forbidden, HostGone, Relayed
from browse_together.contract.limits import Limits
from browse_together.contract.model import Json, Model
from browse_together.contract.pages import Answer
from browse_together.contract.strokes import Stroke, Strokes
from browse_together.contract.wire import ANY_PAGE_ID_PATTERN, nearest_valid_id
from browser_service.security.auth import Identity
from browser_service.services import Services
from browser_service.spine.call import FrontCall
from browser_service.spine.rendering.own_words import spell_words
from browser_service.wall.viewing import Viewer

PageId = Annotated[str, Field(pattern=ANY_PAGE_ID_PATTERN)]


def identity_of(viewer: Viewer) -> Identity:
    """Return a viewer's identity for the spine: the account's own person, or a reader."""
    name = viewer.name or "person"
    if viewer.read_only:
        return Identity(
            client_id=f"viewer-{uuid4().hex[:12]}",
            label=f"{name} (looks on)",
            looks_on=True,
            limits=Limits(read_only=True),
        )
    return Identity(client_id=f"person-{nearest_valid_id(name)}", label=name, operator=True)


@dataclass(eq=False)
class Seat:
    """One viewer in front of the wall."""

    parts: Services
    viewer: Viewer
    identity: Identity
    """What the viewer proved to be."""
    client: Identity
    """The client of their calls, whom the record names."""
    types: bool = False
    """Whether the record already says that the person types; reset when they press something."""

    def sees(self, page_id: object) -> bool:
        return isinstance(page_id, str) and not self.parts.wall.is_locked(page_id, self.identity)

    async def call(self, action: str, page_id: str, **arguments: JsonValue) -> Json:
        """Run an action on a page as the viewer, and return its result. Raises its error."""
        return await self.run({"action": action, "pageId": page_id, **arguments})

    async def run(self, body: Json) -> Json:
        call_id = f"wall-{uuid4().hex}"
        reply = await self.parts.dispatcher.run(FrontCall(self.client, body, call_id=call_id, request_id=call_id))
        return spell_words(reply.result())

    async def hand(self, page_id: str, *made: Stroke) -> str:
        """Perform strokes on a page, and return the id of their record. Raises whatever prevents them."""
        strokes = Strokes(batch_id=uuid4().hex, made=[*made])
        if problem := await self.parts.host.hand(page_id, strokes):
            raise Relayed(problem)
        return strokes.batch_id

    def note(self, page_id: str, body: Json, batch_id: str) -> None:
        """Record an action as the person's."""
        action = catalogue.parse({**body, "pageId": page_id})
        outcome = Outcome(call_id=batch_id, page=self.parts.directory.get(page_id))
        self.parts.activity.note(self.client, action, outcome, f"wall-{batch_id}", 0)

    async def be_there(self, request_id: str) -> None:
        with contextlib.suppress(HostGone):  # they say so again in a moment
            await self.parts.host.answer(request_id, Answer(state="there"))


class Wish(Model):
    """What only the account's own person may send, unless a message says otherwise."""

    def check(self, seat: Seat) -> None:
        """Raise Forbidden if this viewer may not send it."""
        if seat.identity.request_id:
            if not self.is_for_guest(seat):
                raise Forbidden(
                    "Your link is for one request and its page.", hint="The whole wall: browse-together show"
                )
        elif not (seat.identity.operator or self.is_for_reader()):
            raise Forbidden("You may look, and do nothing: your link was a read-only one.", hint="browse-together show")

    def is_for_guest(self, _seat: Seat, /) -> bool:
        """Return whether it may come from a person with the link of a request."""
        return False

    def is_for_reader(self) -> bool:
        return False


class Asked(Wish):
    """What is answered under its id."""

    id: int

    @abstractmethod
    async def do(self, seat: Seat) -> JsonValue:
        """Do it, and return the answer. Raises whatever prevents it."""
