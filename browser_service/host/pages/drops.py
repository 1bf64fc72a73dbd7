"""Drops a person's files onto a page, and finds words there for them."""

from pathlib import Path
from typing import Final

from playwright.async_api import Page

from browser_service.host.elements.handles import let_go, taken
from browser_service.host.elements.targets import element_at
from browser_service.host.scripts import script
from browser_service.host.scripts.results import bounded, read
from shared.errors import ValidationFailed
from shared.quoting import quoted
from shared.strokes import Stroke

_FIELD: Final = script("drop_field")
_DROP: Final = bounded(script("drop_on"))
_FIND: Final = bounded(script("find_on"))
_MOST_FRAMES: Final = 20


async def drop(page: Page, stroke: Stroke, files: list[Path]) -> None:
    """Drop files onto what is at the stroke's point. Raises ValidationFailed if the page does not take them."""
    with let_go():
        element = await element_at(page, stroke.x, stroke.y)
        frame = await element.owner_frame() if element is not None else None
        if element is None or frame is None:
            raise ValidationFailed("There is nothing at that point now.", hint="Look at the page anew.")
        field = taken(await frame.evaluate_handle(_FIELD)).as_element()
        if field is None:
            raise _takes_none()
        await field.set_input_files(files)
        if not read(bool, await element.evaluate(_DROP, field)):
            raise _takes_none()


def _takes_none() -> ValidationFailed:
    return ValidationFailed("The page takes no files there.", hint="Drop them on its own field for files.")


async def find(page: Page, stroke: Stroke) -> None:
    """Show the next place of a text, or the one before. Raises ValidationFailed if the page has none."""
    for frame in page.frames[:_MOST_FRAMES]:
        if read(bool, await frame.evaluate(_FIND, {"text": stroke.text, "back": stroke.back})):
            return
    raise ValidationFailed(f"{quoted(stroke.text)} is not on the page.", hint="")
