"""Pictures, prints and videos of a page, and marks on it for those who look."""

import asyncio
import base64
import io

from PIL import Image

from browser_service.browser.page import BrowserPage
from browser_service.browser.reading import marks
from browser_service.browser.reading.comparing import compare_with
from browser_service.browser.recording import recording
from browser_service.browser.recording.recording import Recording
from shared.actions import media
from shared.calls import Json


async def screenshot(page: BrowserPage, action: media.Screenshot) -> Json:
    data = await _taken(page, action)
    return {"artifact": await page.keep(data, f"image/{action.type}"), **await asyncio.to_thread(_size, data)}


async def get_screenshot_as_base64(page: BrowserPage, action: media.GetScreenshotAsBase64) -> Json:
    data, mime_type = await _taken(page, action), f"image/{action.type}"
    facts = {"mimeType": mime_type, **await asyncio.to_thread(_size, data)}
    text = await page.shown("base64", base64.b64encode(data).decode(), None)
    return {**text, **facts, "artifact": await page.files.keep(data, mime_type, inline=False)}


async def generate_pdf(page: BrowserPage, action: media.GeneratePdf) -> Json:
    return {"artifact": await page.keep(await page.live.pdf(**action.own()), "application/pdf")}


async def compare_screenshots(page: BrowserPage, action: media.CompareScreenshots) -> Json:
    how = {"selector": action.selector, "fullPage": action.full_page, "timeout": action.timeout}
    taken = media.Screenshot.model_validate(how)
    return await compare_with(page.files, action, await _taken(page, taken))


async def record_video(page: BrowserPage, action: media.RecordVideo) -> Json:
    if action.command == "stop":
        return await recording.stop(page.entry, page.call)
    limits = {"fps": action.fps, "max_seconds": action.max_seconds}
    await recording.start(page.entry, page.live, Recording(page.entry, page.call, page.files, **limits))
    return {"observed": f"{page.entry.page_id} is being recorded, for {action.max_seconds} s at most"}


async def highlight(page: BrowserPage, action: media.Highlight) -> Json:
    if action.selector is None:
        count = await marks.remove(page.live)
        return {"removed": count, "observed": f"{count} marks are taken away"}
    element = await page.element(action.selector, action.frame, strict=action.strict)
    await marks.draw(element, action.label, action.colour, action.seconds, action.timeout)
    return {"observed": f"{action.selector} is marked"}


async def _taken(page: BrowserPage, action: media.Screenshot) -> bytes:
    options = {name: value for name, value in action.own().items() if name in media.Screenshot.model_fields}
    selector, frame = options.pop("selector", None), options.pop("frame", None)
    if action.type == "png":
        options.pop("quality")
    if action.mask:
        options["mask"] = [await page.element(masked, action.frame, strict=True) for masked in action.mask]
    if not selector:
        return await page.live.screenshot(**options, timeout=action.timeout)
    options.pop("full_page")
    element = await page.element(str(selector), str(frame) if frame else None)
    return await element.screenshot(**options, timeout=action.timeout)


def _size(data: bytes) -> Json:
    width, height = Image.open(io.BytesIO(data)).size
    return {"width": width, "height": height}
