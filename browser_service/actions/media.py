"""Pictures of a page."""

import io

from PIL import Image

from browser_service.browser.page import BrowserPage
from shared.actions import media
from shared.calls import Json


async def screenshot(page: BrowserPage, action: media.Screenshot) -> Json:
    options = action.own()
    selector, frame = options.pop("selector", None), options.pop("frame", None)
    if action.type == "png":
        options.pop("quality")
    if action.mask:
        options["mask"] = [await page.element(masked, action.frame, strict=True) for masked in action.mask]
    if action.selector:
        for whole_page in ("full_page", "clip"):
            options.pop(whole_page, None)
        element = await page.element(str(selector), str(frame) if frame else None)
        data = await element.screenshot(**options, timeout=action.timeout)
    else:
        data = await page.live.screenshot(**options, timeout=action.timeout)
    width, height = Image.open(io.BytesIO(data)).size
    return {"artifact": await page.keep(data, f"image/{action.type}"), "width": width, "height": height}
