"""Messages that the wall's page sends by its socket, and the packed form of a frame."""

import json
from typing import Annotated, Final, Literal

from pydantic import Field, TypeAdapter, ValidationError

from browse_together.contract.attached import TabShare, TabUnshare
from browse_together.contract.errors import InvalidRequest
from browse_together.contract.frames import Frame, View
from browse_together.contract.model import Json, Model, first_fault
from browse_together.contract.strokes import ChosenFile, Stroke
from browse_together.contract.wire import ANY_PAGE_ID_PATTERN, DEFAULT_SESSION

_FRAME: Final = b"\x01"
_MOST_TILES: Final = 100

PageId = Annotated[str, Field(pattern=ANY_PAGE_ID_PATTERN)]


class Hello(Model):
    """The first message. Its proof shows that it comes from the wall's own page, and not from one that merely shares
    the cookie; or it is the key of the one request that the viewer came for."""

    type: Literal["hello"]
    proof: str = Field(max_length=1_000, repr=False)


class Drawn(Model):
    """How large and how often a page is drawn."""

    width: int = Field(default=480, ge=80, le=1_920)
    fps: float = Field(default=4, ge=0.2, le=20)


class Watch(Model):
    """What the viewer draws now: tiles, and perhaps one page by itself."""

    type: Literal["watch"]
    tiles: dict[PageId, Drawn] = Field(default={}, max_length=_MOST_TILES)
    page: PageId | None = None
    hidden: bool = Field(default=False, description="The whole window is out of view.")


class _Asked(Model):
    """What is answered under its id."""

    id: int


class _OnPage(_Asked):
    page_id: PageId


class Act(_OnPage):
    """An act that only the account's own person may ask for."""

    type: Literal["act"]
    do: Literal["stop", "take", "give", "release", "close"]
    to: str = Field(default="", max_length=80)


class Reply(_Asked):
    """An answer to what an agent asked of a person."""

    type: Literal["answer"]
    request_id: str = Field(max_length=64)
    state: Literal["done", "refused"]
    answer: str = Field(default="", max_length=2_000, repr=False)


class Listing(Model):
    """A request for a page's console messages, its network log, or pictures of acts."""

    type: Literal["list"]
    what: Literal["console", "network", "pictures"]
    page_id: PageId
    ids: list[int] = Field(default=[], max_length=8, description="Of the acts whose pictures are asked for.")


class DialogAnswer(_OnPage):
    """An answer to a page's dialog, also in place of its agent."""

    type: Literal["dialog"]
    accept: bool
    text: str | None = Field(default=None, max_length=2_000, repr=False)


class Files(_OnPage):
    """Files for a page's open file chooser; none dismisses it."""

    type: Literal["files"]
    files: list[ChosenFile] = Field(max_length=20)


class Login(_OnPage):
    """Name and password for the HTTP authentication of a page's site."""

    type: Literal["login"]
    username: str = Field(max_length=4_096, repr=False)
    password: str = Field(max_length=4_096, repr=False)


class Dropped(_OnPage):
    """Files that a person drops onto a page, at a point in CSS pixels of its viewport."""

    type: Literal["drop"]
    x: float = Field(ge=0, le=20_000)
    y: float = Field(ge=0, le=20_000)
    files: list[ChosenFile] = Field(min_length=1, max_length=20)


class Go(_OnPage):
    """Where a page goes that a person has in hand."""

    type: Literal["go"]
    to: Literal["url", "back", "forward", "reload"]
    url: str = Field(default="", max_length=8_000)


class Find(_OnPage):
    """Words to find in a page that a person has in hand, from where the last were found."""

    type: Literal["find"]
    text: str = Field(min_length=1, max_length=200)
    back: bool = False


class Places(_Asked):
    """A request for the sessions in which a page can be opened, and for where the pages of one have been."""

    type: Literal["places"]
    session_id: str = Field(default=DEFAULT_SESSION, max_length=48)


class Open(_Asked):
    """A request for a page of the person's own."""

    type: Literal["open"]
    session_id: str = Field(default=DEFAULT_SESSION, max_length=48)


class Day(_Asked):
    """A request for what happened within the past day."""

    type: Literal["day"]


class Show(_Asked):
    """A request for the address of a file, or of the replay of a page or a chat, in a window of its own."""

    type: Literal["show"]
    what: Literal["file", "copy", "page", "chat"] = Field(description="A copy is a file to save.")
    of: str = Field(min_length=1, max_length=128)


class Save(_OnPage):
    """A stretch of a page's timeline that becomes a flow; its ends are times of acts."""

    type: Literal["save"]
    name: str = Field(max_length=48)
    since: str = Field(max_length=40)
    until: str = Field(max_length=40)


class Tabs(_Asked):
    """A request for the tabs of the person's own browser, and for the state of the attachment."""

    type: Literal["tabs"]


class Attach(_Asked):
    """A request to attach again to the person's own browser."""

    type: Literal["attach"]


class Share(TabShare):
    """A tab that the person shares, maybe because an agent asked for one."""

    type: Literal["share"]
    id: int


class Unshare(TabUnshare):
    """A tab that the person takes back."""

    type: Literal["unshare"]
    id: int


class Tell(_Asked):
    """A person's line to an agent, or to all; maybe about the element that they picked last."""

    type: Literal["tell"]
    to: str = Field(default="", max_length=80)
    text: str = Field(default="", max_length=500)
    page_id: PageId | None = None
    picked: bool = False


class Halt(_Asked):
    """A pause or a stop of an agent, or its end; without `to`, of all."""

    type: Literal["halt"]
    to: str = Field(default="", max_length=80)
    how: Literal["pause", "stop", "go_on"]


class Point(_OnPage):
    """A question for the element at a point of a page's viewport, in CSS pixels, which a person maybe picks."""

    type: Literal["point"]
    x: float = Field(ge=0, le=20_000)
    y: float = Field(ge=0, le=20_000)
    picks: bool = False


class Input(Model):
    """Mouse and keyboard input of a person on a page they took."""

    type: Literal["input"]
    page_id: PageId
    made: list[Stroke] = Field(max_length=100)


Talk = Tell | Halt | Point
OnPage = Act | DialogAnswer | Dropped | Files | Find | Go | Login | Save
"""What is done to one page."""
Question = Listing | Tabs | Places | Day | Talk
"""What is answered by more than a line."""
Request = OnPage | Reply | Open | Show | Attach | Share | Unshare | Question
Message = Hello | Watch | Request | Input
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


def view_of(drawn: Drawn, *, masked: bool) -> View:
    """Return how to watch a page that is drawn like this. A large picture gets better quality; masked pictures come
    half as often, because each is taken twice."""
    large, fps = 900, max(0.2, drawn.fps / 2) if masked else drawn.fps
    return View(width=drawn.width, fps=fps, quality=75 if drawn.width > large else 60, masked=masked)


def packed(frame: Frame, picture: bytes, colour: str | None) -> bytes:
    """Pack a frame: its kind, the length of its head, the head as JSON, and the picture, if there is a new one."""
    head: Json = frame.model_dump(mode="json", exclude={"picture": True, "act": {"client_id"}}, exclude_none=True)
    if colour is not None:
        head["colour"] = colour
    text = json.dumps({**head, "hasPicture": bool(picture)}, separators=(",", ":")).encode()
    return b"".join((_FRAME, len(text).to_bytes(2, "big"), text, picture))
