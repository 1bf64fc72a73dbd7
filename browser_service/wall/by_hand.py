"""What a person's own hand does to a page: strokes, files, a login, words to find, an element to point at."""

from typing import Final, Literal

from pydantic import Field, JsonValue

from browse_together.contract.frames import Pointed
from browse_together.contract.model import Json, Model
from browse_together.contract.quoting import quoted
from browse_together.contract.strokes import ChosenFile, Stroke
from browser_service.wall.seat import Asked, PageId, Seat, Wish

_NAME: Final = 120
_MARK: Final = "\N{RIGHT SINGLE QUOTATION MARK}"


class Place(Model):
    """A point in CSS pixels of a page's viewport."""

    x: float = Field(ge=0, le=20_000)
    y: float = Field(ge=0, le=20_000)


class InHand(Wish):
    """What is done to a page that the viewer has in hand."""

    page_id: PageId

    def is_for_guest(self, seat: Seat, /) -> bool:
        return seat.sees(self.page_id)


class Input(InHand):
    """Mouse and keyboard input."""

    type: Literal["input"]
    made: list[Stroke] = Field(max_length=100)

    async def perform(self, seat: Seat) -> None:
        """Do what the person's hand does. The record names their clicks, and that they typed, but not the text."""
        batch_id = await seat.hand(self.page_id, *self.made)
        pressed = [stroke for stroke in self.made if stroke.do == "down"]
        bodies: list[Json] = [{"action": "mouse", "do": "click", "x": each.x, "y": each.y} for each in pressed]
        typed = any(stroke.do in {"key", "text"} for stroke in self.made)
        if typed and not seat.types:
            bodies.append({"action": "type", "selector": ":focus", "text": "…"})
        if any(stroke.do == "choose" and stroke.index is not None for stroke in self.made):
            bodies.append({"action": "select_option", "selector": ":focus", "value": "…"})
        seat.types = (typed or seat.types) and not pressed
        for body in bodies:
            seat.note(self.page_id, body, batch_id)


class Files(Asked, InHand):
    """Files for a page's open file chooser, none of which dismisses it; or files that a person drops onto the page."""

    type: Literal["files"]
    files: list[ChosenFile] = Field(max_length=20)
    at: Place | None = Field(default=None, description="Where they are dropped.")

    async def do(self, seat: Seat) -> str:
        """Give the page the files, then discard them."""
        artifacts, client_id = seat.parts.artifacts, seat.client.client_id
        for file in () if seat.identity.operator else self.files:  # the owner may read all
            await artifacts.path(file.artifact_id, client_id)
        stroke = Stroke(do="files", files=self.files)
        if self.at is not None:
            stroke = Stroke(do="drop", x=self.at.x, y=self.at.y, files=self.files)
        try:
            batch_id = await seat.hand(self.page_id, stroke)
        finally:
            for file in self.files:
                await artifacts.discard(file.artifact_id, client_id)
        if not self.files:
            return ""
        names: list[JsonValue] = [{"name": file.name, "text": ""} for file in self.files]
        seat.note(self.page_id, {"action": "upload_file", "selector": ":focus", "files": names}, batch_id)
        return "The page has it." if len(names) == 1 else f"The page has {len(names)} files."


class Login(Asked, InHand):
    """Name and password for the HTTP authentication of a page's site."""

    type: Literal["login"]
    username: str = Field(max_length=4_096, repr=False)
    password: str = Field(max_length=4_096, repr=False)

    async def do(self, seat: Seat) -> None:
        await seat.hand(self.page_id, Stroke(do="login", username=self.username, text=self.password))


class Find(Asked):
    """Words to find in a page that a person has in hand, from where the last were found."""

    type: Literal["find"]
    page_id: PageId
    text: str = Field(min_length=1, max_length=200)
    back: bool = False

    async def do(self, seat: Seat) -> None:
        await seat.hand(self.page_id, Stroke(do="find", text=self.text, back=self.back))


class Point(Asked):
    """The element at a point of a page's viewport, which a person maybe picks to write to its agent about it."""

    type: Literal["point"]
    page_id: PageId
    at: Place
    picks: bool = False

    async def do(self, seat: Seat) -> Json:
        found = await seat.parts.reads.point(self.page_id, self.at.x, self.at.y, picks=self.picks)
        return found.model_dump(mode="json", exclude={"problem"}) | {"about": _in_words(found)}


def _in_words(found: Pointed) -> str:
    """Return an element's ref, its role, and its name in quotes, which the page's words cannot end."""
    plain = found.name.replace("'", _MARK).replace('"', _MARK)
    named = [quoted(plain, _NAME)] if plain else []
    return ", ".join(filter(None, (found.ref, " ".join([found.role, *named]).strip())))
