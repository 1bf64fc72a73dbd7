"""Fits pictures into replies: whole if they are small enough, else reduced or in slices, and the reply says so."""

import asyncio
import base64
import io
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, ParamSpec, TypeVar

from PIL import Image

from browse_together.contract.calls import Preview
from browse_together.contract.errors import ValidationFailed, field_details
from browse_together.contract.wire import INLINE_BYTES, INLINE_EDGE

MOST_PIXELS: Final = 60_000_000
"""Largest picture that is made or opened here."""
_LARGE: Final = 8_000_000
_SLICE_ROWS: Final = 1_280
_TALL: Final = 1.5
"""A picture is sliced if its height is more than this times its width; reduced, it would be unreadable."""
_QUALITIES: Final = (80, 50, 20)
_UNREADABLE: Final = (OSError, ValueError, Image.DecompressionBombError)
_one_large = ThreadPoolExecutor(1, thread_name_prefix="pictures")
"""Thread for large pictures: one at a time, because each takes hundreds of megabytes while it is open."""

P = ParamSpec("P")
T = TypeVar("T")


async def work_on(pixels: int, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run work on a picture in a thread, off the event loop. Work on large pictures waits for its turn."""
    thread = _one_large if pixels > _LARGE else None
    return await asyncio.get_running_loop().run_in_executor(thread, lambda: work(*args, **kwargs))


async def preview(data: bytes, mime_type: str, artifact_id: str) -> Preview | None:
    """Return a preview of a picture that is too large for a reply; None for anything else."""
    if not mime_type.startswith("image/"):
        return None
    try:
        picture = Image.open(io.BytesIO(data))
        width, height = picture.size
        if (max(width, height) <= INLINE_EDGE and len(data) <= INLINE_BYTES) or width * height > MOST_PIXELS:
            return None
        tall = height > max(INLINE_EDGE, _TALL * width)
        return await work_on(width * height, _slice if tall else _reduced, picture, artifact_id)
    except _UNREADABLE:  # a site's own file, from `fetch`, in a form that we do not know
        return None


async def slice_of(data: bytes, artifact_id: str, top: int) -> Preview:
    """Return the rows of a picture from `top` on. Raises ValidationFailed if there are none."""
    try:
        picture = Image.open(io.BytesIO(data))
        width, height = picture.size
        if top >= height or width * height > MOST_PIXELS:
            raise _no_slice(f"{artifact_id} has no rows to show from {top:,} on.")
        return await work_on(width * height, _slice, picture, artifact_id, top)
    except _UNREADABLE:
        raise _no_slice(f"{artifact_id} is no picture.") from None


def _slice(picture: Image.Image, artifact_id: str, top: int = 0) -> Preview:
    kind, (width, height) = picture.format or "PNG", picture.size
    scale = min(1.0, INLINE_EDGE / width)
    end = min(height, top + max(1, int(_SLICE_ROWS / scale)))
    part = picture.crop((0, top, width, end))
    if scale < 1:
        part = part.resize((max(1, round(width * scale)), max(1, round((end - top) * scale))))
    sized = f", at {part.width} x {part.height}" if scale < 1 else ""
    preview = _encoded(part, (kind, "JPEG"))
    description = f"rows {top:,} to {end:,} of {height:,}{sized}{_as(preview, kind)}"
    cursor = f"{artifact_id}:{end}" if end < height else None
    return preview.model_copy(update={"said": f"Shown: {description}; the whole is in the file.", "cursor": cursor})


def _reduced(picture: Image.Image, artifact_id: str) -> Preview:
    kind, smaller = picture.format or "PNG", max(picture.size) > INLINE_EDGE
    if smaller:
        picture.draft("RGB", (INLINE_EDGE, INLINE_EDGE))
        picture.thumbnail((INLINE_EDGE, INLINE_EDGE))
    preview = _encoded(picture, (kind, "JPEG") if smaller or kind == "WEBP" else ("JPEG",))
    reduced = f" reduced to {preview.width} x {preview.height}" if smaller else ""
    changes = f"{reduced}{_as(preview, kind)}" or " with less quality"
    cursor = f"{artifact_id}:0" if smaller else None
    text = f"Shown{changes}, because hosts take no more; the whole is in the file."
    return preview.model_copy(update={"said": text, "cursor": cursor})


def _as(preview: Preview, kind: str) -> str:
    """Return words on the format of a preview, if it is not the picture's own."""
    shown_kind = preview.mime_type.removeprefix("image/")
    return "" if shown_kind == kind.lower() else f" as {shown_kind.upper()}"


def _encoded(picture: Image.Image, kinds: tuple[str, ...]) -> Preview:
    """Encode the picture in the first of these kinds that is small enough; else in the last."""
    size = picture.size
    ways = [(kind, quality) for kind in kinds for quality in (_QUALITIES if kind in {"JPEG", "WEBP"} else (0,))]
    for kind, quality in ways:
        out = io.BytesIO()
        if kind == "JPEG":
            flatten(picture).save(out, kind, quality=quality)
        elif kind == "WEBP":
            picture.save(out, kind, quality=quality)
        else:
            picture.save(out, kind)
        if out.tell() <= INLINE_BYTES:
            break
    data = base64.b64encode(out.getvalue()).decode()
    return Preview(mime_type=f"image/{kind.lower()}", width=size[0], height=size[1], data=data)


def stitch(pieces: list[bytes], kind: str, quality: int) -> tuple[bytes, tuple[int, int]]:
    """Put pictures below one another, and return the result with its size."""
    parts = [Image.open(io.BytesIO(piece)) for piece in pieces]
    size = parts[0].width, sum(part.height for part in parts)
    result, top = Image.new(parts[0].mode, size), 0
    for part in parts:
        result.paste(part, (0, top))
        top += part.height
    out = io.BytesIO()
    if kind == "png":
        result.save(out, "PNG", compress_level=2)
    elif kind == "jpeg":
        result.convert("RGB").save(out, "JPEG", quality=quality)
    else:
        result.save(out, kind.upper(), quality=quality)
    return out.getvalue(), size


def flatten(picture: Image.Image) -> Image.Image:
    """Put a transparent picture on white, as a page would."""
    if not picture.has_transparency_data:
        return picture.convert("RGB")
    layer = picture.convert("RGBA")
    ground = Image.new("RGB", picture.size, "white")
    ground.paste(layer, mask=layer.getchannel("A"))
    return ground


def _no_slice(problem: str) -> ValidationFailed:
    return ValidationFailed(problem, hint="Give the cursor exactly as a reply did.", details=field_details("cursor"))
