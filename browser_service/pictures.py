"""Large pictures as small ones: what a model is shown where the whole would not do it good."""

import base64
import io

from PIL import Image

from shared.calls import Preview
from shared.wire import INLINE_BYTES, INLINE_EDGE

_QUALITIES = (80, 50, 20)


def preview(data: bytes, mime_type: str) -> Preview | None:
    """A reduced JPEG of a picture that has too many pixels or bytes to go along; of anything else none."""
    if not mime_type.startswith("image/"):
        return None
    try:
        picture = Image.open(io.BytesIO(data))
        if max(picture.size) <= INLINE_EDGE and len(data) <= INLINE_BYTES:
            return None
        return _reduced(picture)
    except (OSError, ValueError, Image.DecompressionBombError):  # a site's own, of `fetch`: no form that we know
        return None


def _reduced(picture: Image.Image) -> Preview:
    picture.draft("RGB", (INLINE_EDGE, INLINE_EDGE))
    small = flat(picture)
    small.thumbnail((INLINE_EDGE, INLINE_EDGE))
    for quality in _QUALITIES:
        out = io.BytesIO()
        small.save(out, "JPEG", quality=quality)
        if out.tell() <= INLINE_BYTES:
            break
    width, height = small.size
    return Preview(mime_type="image/jpeg", width=width, height=height, data=base64.b64encode(out.getvalue()).decode())


def flat(picture: Image.Image) -> Image.Image:
    """What is transparent shows white, as on a page."""
    if not picture.has_transparency_data:
        return picture.convert("RGB")
    layer = picture.convert("RGBA")
    ground = Image.new("RGB", picture.size, "white")
    ground.paste(layer, mask=layer.getchannel("A"))
    return ground
