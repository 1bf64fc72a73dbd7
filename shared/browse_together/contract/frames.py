"""What a page looks like and what happens there, for viewers."""

from typing import Literal

from pydantic import Field

from browse_together.contract.errors import ErrorBody
from browse_together.contract.model import Model
from browse_together.contract.quoting import quoted

_MESSAGE_CHARACTERS = 200

Chooser = Literal["one", "several"]
"""How many files a page asks for."""
FrameState = Literal["live", "hung", "crashed", "parked", "resting", "hidden"]
"""What a picture shows: `resting` has no window now, `hidden` may show a password."""


class View(Model):
    """How somebody watches a page: how wide it is drawn, and how often."""

    width: int = Field(default=480, ge=80, le=1_920, description="Pixels of the screen.")
    fps: float = Field(default=4, ge=0.2, le=20)
    quality: int = Field(default=60, ge=20, le=90, description="Of the JPEG.")
    masked: bool = Field(default=False, description="No picture on which a password or a code may be seen.")


class Box(Model):
    """The place of an element, in CSS pixels of the viewport."""

    x: float = Field(allow_inf_nan=False)
    y: float = Field(allow_inf_nan=False)
    width: float = Field(allow_inf_nan=False)
    height: float = Field(allow_inf_nan=False)


class Pointed(Model):
    """An element to which a person points, as the host measures it."""

    box: Box | None = Field(default=None, description="Where it is; none if nothing is there.")
    role: str = ""
    name: str = Field(default="", description="Its name or words; for a person who only moves over it, also its tag.")
    ref: str = Field(default="", description="For the page's agent, once the person has picked it.")
    problem: ErrorBody | None = Field(default=None, description="Why nothing could be measured.")


class ShownAct(Model):
    """The act that a page shows: the running one, or for a moment the last."""

    client_id: str
    client_label: str
    action: str
    ago_ms: int = Field(description="Since it began.")
    state: Literal["running", "done", "failed"] = "running"
    by_person: bool = False
    target: Box | None = Field(default=None, description="Where the element is that it is aimed at.")


class ShownDialog(Model):
    """A dialog of a page that waits for an answer."""

    kind: str = Field(description="alert, confirm, prompt or beforeunload.")
    message: str = ""
    default: str = Field(default="", description="What a prompt holds already.")

    @property
    def named(self) -> str:
        """Return its description in the page's own words."""
        return f"{self.kind} {quoted(self.message, _MESSAGE_CHARACTERS)}" if self.message else self.kind


class ShownOption(Model):
    """One option of a drop-down list."""

    text: str = Field(max_length=200)
    disabled: bool = False


class ShownList(Model):
    """A drop-down list that a person has pressed."""

    options: list[ShownOption] = Field(max_length=1_000)
    chosen: int = Field(description="The place of the option that is chosen; -1 is none.")
    more: int = Field(default=0, description="Counts the options that there is no room for.")


class ShownChallenge(Model):
    """What a site asks for by HTTP before it shows a page."""

    origin: str
    realm: str = Field(default="", description="Names the place, in the site's own words.")
    refused: bool = Field(default=False, description="It refused what it was given.")


class Frame(Model):
    """What a page looks like now; `picture` is set only if it is newer than the one that the viewer has."""

    page_id: str
    seq: int = Field(description="Grows with the picture, the state, the act and the line; anew where the page moved.")
    state: FrameState
    picture: str | None = Field(default=None, repr=False, description="JPEG, in base64.")
    width: int = Field(default=0, description="Of the viewport that the picture shows, in CSS pixels.")
    height: int = 0
    current: bool = Field(default=True, description="Whether the picture is of the document that is there now.")
    age_ms: int | None = Field(default=None, description="Of the picture; none if there is none.")
    act: ShownAct | None = None
    waiting: list[str] = Field(default=[], description="Who waits for a turn there: label and action.")
    dialog: ShownDialog | None = None
    chooser: Chooser | None = None
    shown_list: ShownList | None = None
    challenge: ShownChallenge | None = None


Unseen = Literal["secret", "slow"]
"""Why an act has no picture: a secret might have been seen, or it was not known in time whether one was."""


class ActPicture(Model):
    """What a page looked like after an act, for its record."""

    data: str | None = Field(default=None, repr=False, description="In base64, if there is a picture.")
    unseen: Unseen = Field(default="secret", description="Why there is none.")
    width: int = Field(default=0, description="Of the viewport that it shows, in CSS pixels.")
    height: int = 0
    target: Box | None = Field(default=None, description="Where the element was that the act was aimed at.")
    before: str | None = Field(default=None, description="Names the call after which the page was pictured before.")


class ShownPicture(Model):
    """A picture of a page in a replay."""

    data: str = Field(repr=False, description="JPEG or WebP, in base64.")
    width: int
    height: int
    time: str = Field(description="When it was made, in ISO 8601 and UTC.")


class ActPictures(Model):
    """The pictures of one act that exist."""

    before: ShownPicture | None = None
    after: ShownPicture | None = None
    unseen: Unseen | None = Field(default=None, description="Why there is none after it, if that was why.")
    target: Box | None = None
