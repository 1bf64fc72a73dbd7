"""Draws marks on a picture: an outline and a name for each control, so that a model can name what it sees."""

import io
from collections.abc import Sequence
from itertools import cycle
from typing import Final, NamedTuple

from PIL import Image, ImageDraw, ImageFont

from browser_service.pictures import flatten

_COLOURS: Final = ("#b3003c", "#0b57b0", "#0a6b2d", "#7a1fa2", "#8a4b00", "#00606b")
"""Neighbours differ in colour, so that each name is seen to belong to its outline."""
_FONT_PX: Final = 12
_ROOM_PX: Final = 2


class Box(NamedTuple):
    x: float
    y: float
    width: float
    height: float

    def on_picture(self, shift: tuple[float, float], ratio: float) -> "Box":
        """Return the box of CSS pixels as one of a picture's pixels."""
        return Box((self.x + shift[0]) * ratio, (self.y + shift[1]) * ratio, self.width * ratio, self.height * ratio)

    def is_within(self, width: int, height: int) -> bool:
        """Return whether a picture of this size shows any of it."""
        shown = self.x + self.width > 0 and self.x < width and self.y + self.height > 0 and self.y < height
        return shown and self.width > 0 and self.height > 0


def draw_marks(data: bytes, marks: Sequence[tuple[str, Box]], ratio: float, kind: str, quality: int) -> bytes:
    """Return the picture with the marks. A name stands above its control's corner, or within where there is no room."""
    given = Image.open(io.BytesIO(data))
    picture = flatten(given) if kind == "jpeg" else given.convert("RGBA")
    draw, font, room = ImageDraw.Draw(picture), ImageFont.load_default(_FONT_PX * ratio), _ROOM_PX * ratio
    for (name, box), colour in zip(marks, cycle(_COLOURS), strict=False):
        right, bottom = min(box.x + box.width, picture.width - 1), min(box.y + box.height, picture.height - 1)
        left, top = max(0.0, box.x), max(0.0, box.y)
        draw.rectangle((left, top, max(left, right), max(top, bottom)), outline=colour, width=max(1, round(2 * ratio)))
        _, _, width, height = draw.textbbox((0, 0), name, font=font)
        across = max(0.0, min(left, picture.width - width - 2 * room))
        above = top - height - 2 * room
        up = above if above >= 0 else top
        draw.rectangle((across, up, across + width + 2 * room, up + height + 2 * room), fill=colour)
        draw.text((across + room, up + room / 2), name, fill="white", font=font)
    out = io.BytesIO()
    options = {"png": {"compress_level": 2}}.get(kind, {"quality": quality})
    picture.save(out, kind.upper(), **options)
    return out.getvalue()
