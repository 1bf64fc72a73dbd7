"""Compares two pictures pixel by pixel, by how different colours look to the eye, and locates the differences."""

import asyncio
import io
from dataclasses import dataclass
from typing import Any, Final, cast

from PIL import Image, ImageChops, ImageMath, UnidentifiedImageError

from browse_together.contract.actions.media import CompareScreenshots
from browse_together.contract.errors import ValidationFailed, field_details
from browse_together.contract.model import Json
from browse_together.contract.next_calls import next_call
from browser_service.host.files import Files, dated
from browser_service.pictures import MOST_PIXELS, flatten

_STRIP_ROWS: Final = 256
"""Rows compared at a time: the arithmetic takes forty bytes a pixel."""
_LARGEST_DISTANCE: Final = 35_215
"""The distance between black and white by pixelmatch's colour weights (YIQ)."""
_BASELINE_OPACITY: Final = 0.1
_DIFFERENCE_COLOUR: Final = (255, 0, 0)


@dataclass(frozen=True)
class Difference:
    sizes: tuple[tuple[int, int], tuple[int, int]]
    pixels: int
    count: int
    box: tuple[int, int, int, int] | None
    """Left, top, right and bottom of the region that differs."""
    png: bytes

    def summary(self) -> Json:
        ratio = self.count / self.pixels
        facts: Json = {"same": not self.count, "differentPixels": self.count, "pixels": self.pixels, "ratio": ratio}
        lines = [f"{self.count} of {self.pixels} pixels differ ({ratio:.4%})" if self.count else "no pixel differs"]
        if self.box:
            left, top, right, bottom = self.box
            facts["where"] = {"x": left, "y": top, "width": right - left, "height": bottom - top}
            lines.append(f"all within x {left} to {right}, y {top} to {bottom}")
        one, two = (" x ".join(map(str, size)) for size in self.sizes)
        if one != two:
            facts["sizes"] = {"baseline": [*self.sizes[0]], "current": [*self.sizes[1]]}
            lines.append(f"the sizes differ: {one} and {two}, and what only one of them has counts as different")
        return {**facts, "observed": "; ".join(lines)}


async def compare_artifacts(files: Files, action: CompareScreenshots) -> Json:
    """Compare two artifacts of the caller."""
    return await compare_with(files, action, (await files.data(action.current or ""))[0])


async def compare_with(files: Files, action: CompareScreenshots, current: bytes) -> Json:
    """Compare an artifact of the caller with another picture."""
    baseline, _ = await files.data(action.baseline)
    difference = await asyncio.to_thread(_compare_data, action, baseline, current)
    artifact = await files.keep(difference.png, "image/png", "difference", dated("difference", "of-pictures"))
    return {**difference.summary(), "artifact": artifact}


def _compare_data(action: CompareScreenshots, baseline: bytes, current: bytes) -> Difference:
    one = _opened(baseline, "baseline", action.baseline)
    return compare(one, _opened(current, "current", action.current or "the page"), action.threshold)


def _opened(data: bytes, field: str, name: str) -> Image.Image:
    """Open a picture. Raises ValidationFailed for other data, or a picture that is too large."""
    try:
        picture = Image.open(io.BytesIO(data))
    except (UnidentifiedImageError, Image.DecompressionBombError):
        raise _no_picture(field, f"{name} is no picture.") from None
    if picture.width * picture.height > MOST_PIXELS:
        raise _no_picture(field, f"{name} has {picture.width} x {picture.height} pixels, more than can be compared.")
    return flatten(picture)


def compare(one: Image.Image, two: Image.Image, threshold: float) -> Difference:
    """Compare two pictures. Colours count as the same up to `threshold`, from 0 to 1."""
    width, height = max(one.width, two.width), max(one.height, two.height)
    mask = Image.new("L", (width, height), 255)
    both = min(one.width, two.width), min(one.height, two.height)
    for top in range(0, both[1], _STRIP_ROWS):
        box = (0, top, both[0], min(top + _STRIP_ROWS, both[1]))
        mask.paste(_difference_mask(one.crop(box), two.crop(box), threshold), box)
    picture = Image.new("RGB", (width, height), "white")
    picture.paste(Image.blend(Image.new("L", one.size, "white"), one.convert("L"), _BASELINE_OPACITY).convert("RGB"))
    picture.paste(_DIFFERENCE_COLOUR, mask=mask)
    out = io.BytesIO()
    picture.save(out, "PNG")
    return Difference((one.size, two.size), width * height, mask.histogram()[255], mask.getbbox(), out.getvalue())


def _difference_mask(one: Image.Image, two: Image.Image, threshold: float) -> Image.Image:
    """Return a picture that is white where the pixels differ by more than the threshold, and black elsewhere."""
    if ImageChops.difference(one, two).getbbox() is None:
        return Image.new("L", one.size, 0)
    bands = {
        f"{name}{number}": band
        for number, picture in ((1, one), (2, two))
        for name, band in zip("rgb", picture.split(), strict=True)
    }
    most = _LARGEST_DISTANCE * threshold * threshold
    mask = ImageMath.lambda_eval(lambda operands: (_distance(operands) > most) * 255, **bands)
    return cast("Image.Image", mask).convert("L")  # pictures in, a picture out


def _distance(operands: dict[str, Any]) -> Any:  # Any: Pillow's operands have no type of their own
    to_float = operands["float"]
    red, green, blue = (to_float(operands[f"{band}1"]) - to_float(operands[f"{band}2"]) for band in "rgb")
    light = red * 0.29889531 + green * 0.58662247 + blue * 0.11448223
    warm = red * 0.59597799 - green * 0.27417610 - blue * 0.32180189
    green_to_purple = red * 0.21147017 - green * 0.52261711 + blue * 0.31114694
    return light * light * 0.5053 + warm * warm * 0.299 + green_to_purple * green_to_purple * 0.1957


def _no_picture(field: str, problem: str) -> ValidationFailed:
    return ValidationFailed(
        problem,
        hint=f"Take one: {next_call('screenshot')} answers its artifactId.",
        details=field_details(field),
    )
