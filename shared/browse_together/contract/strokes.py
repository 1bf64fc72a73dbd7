"""A person's input on a page that they have taken over: mouse, finger, wheel and keys."""

from typing import Literal

from pydantic import Field

from browse_together.contract.model import Model


class ChosenFile(Model):
    """A file that a person chose and the service has received."""

    artifact_id: str = Field(max_length=64)
    name: str = Field(min_length=1, max_length=500)


class Stroke(Model):
    """One move of a person's hand, at a point in CSS pixels of the viewport; or a new size of the viewport."""

    do: Literal["move", "down", "up", "wheel", "key", "text", "find", "files", "drop", "choose", "login", "fit"]
    x: float = Field(default=0, ge=0, le=20_000)
    y: float = Field(default=0, ge=0, le=20_000)
    button: Literal["left", "middle", "right"] = "left"
    clicks: int = Field(default=1, ge=1, le=3, description="2 is the second press of a double click.")
    dx: float = Field(default=0, ge=-5_000, le=5_000)
    dy: float = Field(default=0, ge=-5_000, le=5_000)
    key: str = Field(default="", max_length=40, repr=False, description="Such as Enter or Control+a.")
    text: str = Field(
        default="", max_length=5_000, repr=False, description="Typed or pasted where the focus is; or a password."
    )
    back: bool = Field(default=False, description="Of what is found: the one before.")
    username: str = Field(default="", max_length=5_000, repr=False, description="For a site that asks by HTTP.")
    of_phone: bool = Field(default=False, description="By its keyboard, whose Enter leads to the next field.")
    index: int | None = Field(default=None, ge=0, le=100_000, description="Of a list's option; none leaves it.")
    files: list[ChosenFile] = Field(
        default=[], max_length=20, description="Dropped, or for what asks for some; none closes that."
    )


class Strokes(Model):
    """Moves in order; each is made once, however often it arrives."""

    batch_id: str = Field(max_length=64)
    made: list[Stroke] = Field(max_length=100)
