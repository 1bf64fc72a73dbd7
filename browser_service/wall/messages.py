"""What the wall's page sends by its socket: each message beside what it does, and which viewers may send it."""

from typing import Annotated, Final, Literal

from pydantic import Field, TypeAdapter, ValidationError

from browse_together.contract.actions.dialogs import HandleDialog
from browse_together.contract.actions.inspection import GetConsoleMessages
from browse_together.contract.actions.network import GetNetworkLog
from browse_together.contract.attached import AttachTarget, TabShare, TabUnshare
from browse_together.contract.cuts import cut
from browse_together.contract.errors import BrowseError, InvalidRequest
from browse_together.contract.frames import View
from browse_together.contract.model import Json, Model, first_fault
from browse_together.contract.wire import ATTACHED_SESSION, DEFAULT_SESSION, WALL_WINDOW
from browser_service.security.urls import abridged
from browser_service.wall.by_hand import Files, Find, Input, Login, Point
from browser_service.wall.seat import Asked, PageId, Seat

_MOST_TILES: Final = 100
_TITLE: Final = 200
_LARGE: Final = 900
_OPENED: Final = "person"
"""What pages that people open are called."""
_OF_READERS: Final = frozenset({GetConsoleMessages.name(), GetNetworkLog.name()})
"""All that a viewer may call who only looks."""

SessionId = Annotated[str, Field(max_length=48)]


class Hello(Model):
    """The first message. Its proof shows that it comes from the wall's own page, and not from one that merely shares
    the cookie; or it is the key of the one request that the viewer came for."""

    type: Literal["hello"]
    proof: str = Field(max_length=1_000, repr=False)


class Drawn(Model):
    """How large and how often a page is drawn."""

    width: int = Field(default=480, ge=80, le=1_920)
    fps: float = Field(default=4, ge=0.2, le=20)
    close: bool = Field(default=False, description="Only a part of it is in view, near enough to be read.")

    def view(self, *, masked: bool) -> View:
        """Return how to watch a page that is drawn like this. What is read gets better quality; masked pictures come
        half as often, because each is taken twice."""
        fps = max(0.2, self.fps / 2) if masked else self.fps
        quality = 80 if self.close else 75 if self.width > _LARGE else 60
        return View(width=self.width, fps=fps, quality=quality, masked=masked)


class Watch(Model):
    """What the viewer draws now: tiles, and perhaps one page by itself."""

    type: Literal["watch"]
    tiles: dict[PageId, Drawn] = Field(default={}, max_length=_MOST_TILES)
    page: PageId | None = None
    hidden: bool = Field(default=False, description="The whole window is out of view.")


class Call(Asked):
    """An action of the catalogue, called as the viewer."""

    type: Literal["call"]
    call: Json = Field(repr=False)

    def is_for_guest(self, seat: Seat, /) -> bool:
        return self.call.get("action") == HandleDialog.name() and seat.sees(self.call.get("pageId"))

    def is_for_reader(self) -> bool:
        return self.call.get("action") in _OF_READERS

    async def do(self, seat: Seat) -> Json:
        return await seat.run(self.call)


class Give(Asked):
    """A page for another agent. The person takes it in hand before, so its agent need not agree."""

    type: Literal["give"]
    page_id: PageId
    to: str = Field(max_length=80)

    async def do(self, seat: Seat) -> Json:
        page = seat.parts.directory.get(self.page_id)
        was_theirs = page is not None and page.person is not None
        await seat.call("take_over", self.page_id)
        try:
            given = await seat.call("hand_over_page", self.page_id, to=self.to)
        except BrowseError:
            if not was_theirs:
                await seat.call("give_back", self.page_id)
            raise
        await seat.call("give_back", self.page_id)
        return given


class Rename(Asked):
    """Another name for an agent, which the message names by its handle."""

    type: Literal["rename"]
    agent: str = Field(max_length=80)
    name: str = Field(max_length=200)

    async def do(self, seat: Seat) -> str:
        return str((await seat.parts.administration.rename(self.agent, self.name))["name"])


class Put(Asked):
    """The browser of the person's own in which a chat is to work; without one, where it began."""

    type: Literal["put"]
    agent: str = Field(max_length=80)
    session_id: SessionId | Literal[""] = ""

    async def do(self, seat: Seat) -> str:
        return await seat.parts.attached.put(self.agent, self.session_id)


class Open(Asked):
    """A page of the person's own, in their hands at once. It is answered by its id."""

    type: Literal["open"]
    session_id: SessionId = DEFAULT_SESSION

    async def do(self, seat: Seat) -> str:
        page_id = seat.parts.directory.free_name(_OPENED)
        where = {} if self.session_id == DEFAULT_SESSION else {"sessionId": self.session_id}
        await seat.call("open_page", page_id, **where)
        await seat.call("take_over", page_id)
        return page_id


class Places(Asked):
    """The sessions in which a page can be opened, and where the pages of one have been, the latest first."""

    type: Literal["places"]
    session_id: SessionId = DEFAULT_SESSION

    async def do(self, seat: Seat) -> Json:
        directory = seat.parts.directory
        sessions = {DEFAULT_SESSION, *directory.sessions.attached, *(page.session_id for page in directory.pages())}
        visited = seat.parts.wall.visited.of(self.session_id)
        return {"sessions": [*sorted(sessions)], "visited": [{"url": url, "title": title} for url, title in visited]}


class Reply(Asked):
    """An answer to what an agent asked of a person."""

    type: Literal["answer"]
    request_id: str = Field(max_length=64)
    state: Literal["done", "refused"]
    answer: str = Field(default="", max_length=2_000, repr=False)

    def is_for_guest(self, seat: Seat, /) -> bool:
        return self.request_id == seat.identity.request_id

    async def do(self, seat: Seat) -> str:
        text = "answer" if self.state == "done" else "reason"
        said: Json = {"state": self.state, text: self.answer, "by": seat.client.label}
        await seat.parts.requests.resolve(seat.identity, self.request_id, said)
        return "Thank you: the agents go on." if self.state == "done" else "You declined it."


class Pictures(Asked):
    """The thumbnails of these acts, as far as they exist."""

    type: Literal["pictures"]
    ids: list[int] = Field(max_length=8)

    def is_for_reader(self) -> bool:
        return True

    async def do(self, seat: Seat) -> Json:
        all_rows = seat.identity.operator
        found = await seat.parts.activity.pictures(self.ids, seat.identity.client_id, all_rows=all_rows)
        return {str(each): shots.model_dump(mode="json", exclude_none=True) for each, shots in found.items()}


class Day(Asked):
    """What happened within the past day."""

    type: Literal["day"]

    async def do(self, seat: Seat) -> Json:
        return await seat.parts.past.day()


class Show(Asked):
    """The address of a file, or of the replay of a page or a chat, in a window of its own."""

    type: Literal["show"]
    what: Literal["file", "copy", "page", "chat"] = Field(description="A copy is a file to save.")
    of: str = Field(min_length=1, max_length=128)

    async def do(self, seat: Seat) -> str:
        return f"{WALL_WINDOW}/{seat.parts.viewing.ticket(seat.viewer, self.what, self.of)}"


class Tabs(Asked):
    """The tabs of the person's own browsers, which nobody else sees, and how it stands with each browser."""

    type: Literal["tabs"]

    def is_for_guest(self, seat: Seat, /) -> bool:
        seat.parts.requests.asking_for_tab(seat.identity.request_id)
        return True

    async def do(self, seat: Seat) -> Json:
        states, tabs = await seat.parts.attached.states(), await seat.parts.attached.tabs()
        shown = [
            tab.model_copy(update={"title": cut(tab.title, _TITLE), "url": abridged(tab.url)}).model_dump(
                mode="json", exclude_none=True
            )
            for tab in tabs
        ]
        standing = [each.model_dump(mode="json", exclude_none=True) for each in states]
        return {"attachments": [*standing], "tabs": [*shown]}


class Attach(Asked):
    """A wish to attach again to a browser of the person's own."""

    type: Literal["attach"]
    session_id: SessionId = ATTACHED_SESSION

    async def do(self, seat: Seat) -> str:
        return (await seat.parts.attached.attach(AttachTarget(session_id=self.session_id))).words


class Share(TabShare, Asked):
    """A tab that the person shares, maybe because an agent asked for one."""

    type: Literal["share"]

    def is_for_guest(self, seat: Seat, /) -> bool:
        return self.request_id == seat.identity.request_id

    async def do(self, seat: Seat) -> str:
        page = await seat.parts.attached.share(self, seat.client)
        return f'It is shared: agents call it "{page.page_id}".'


class Unshare(TabUnshare, Asked):
    """A tab that the person takes back."""

    type: Literal["unshare"]

    async def do(self, seat: Seat) -> str:
        await seat.parts.attached.unshare(self.tab_id, seat.client)
        return "It is yours alone again."


_OfPage = Input | Files | Login | Find | Point
_Other = Call | Give | Rename | Put | Open | Places | Reply | Pictures | Day | Show | Tabs | Attach | Share | Unshare
Message = Hello | Watch | _OfPage | _Other
_MESSAGE: Final[TypeAdapter[Message]] = TypeAdapter(Annotated[Message, Field(discriminator="type")])


def parse(text: str) -> Message:
    """Return the message. Raises InvalidRequest, which says what is wrong with it."""
    try:
        return _MESSAGE.validate_json(text)
    except ValidationError as error:
        where, why = first_fault(error)
        raise InvalidRequest(
            f"The message is none of the wall's: {where or 'it'}: {why}.", hint="Load the page anew."
        ) from None
