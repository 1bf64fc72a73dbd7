"""Takes pictures, prints and videos of a page, and marks it for those who look."""

import base64

from browser_service.host.page.handle import BrowserPage
from browser_service.host.reading import marks, screenshots
from browser_service.host.reading.comparison import compare_with
from shared.actions import media
from shared.model import Json


async def screenshot(page: BrowserPage, action: media.Screenshot, name: str | None = None) -> Json:
    taken = await screenshots.take(page, action)
    artifact = await page.keep(taken.data, f"image/{action.type}", "screenshot", name)
    cut: Json = {"cut": taken.cut} if taken.cut else {}
    return {"artifact": artifact, "width": taken.width, "height": taken.height, **cut}


async def get_screenshot_as_base64(page: BrowserPage, action: media.GetScreenshotAsBase64) -> Json:
    taken, mime_type = await screenshots.take(page, action), f"image/{action.type}"
    text = await page.shown("base64", base64.b64encode(taken.data).decode(), None)
    artifact = await page.keep(taken.data, mime_type, "screenshot", inline=False)
    return {**text, "mimeType": mime_type, "width": taken.width, "height": taken.height, "artifact": artifact}


async def generate_pdf(page: BrowserPage, action: media.GeneratePdf) -> Json:
    options = {name: value for name, value in action.own_arguments().items() if name != "filename"}
    return {"artifact": await page.keep(await page.live.pdf(**options), "application/pdf", "page", action.filename)}


async def compare_screenshots(page: BrowserPage, action: media.CompareScreenshots) -> Json:
    how = {"selector": action.selector, "fullPage": action.full_page, "timeout": action.timeout}
    taken = media.Screenshot.model_validate(how)
    return await compare_with(page.files, action, (await screenshots.take(page, taken)).data)


async def record_video(page: BrowserPage, action: media.RecordVideo) -> Json:
    if action.command == "stop":
        return await page.recorder.stop(page.call)
    limits = {"fps": action.fps, "max_seconds": action.max_seconds}
    await page.recorder.start(page.live, page.call, page.files, **limits)
    return {"observed": f"{page.page_id} is being recorded, for {action.max_seconds} s at most"}


async def highlight(page: BrowserPage, action: media.Highlight) -> Json:
    if action.selector is None:
        count = await marks.remove(page.live)
        return {"removed": count, "observed": f"{count} marks are taken away"}
    element = await page.element(action.selector, action.frame, strict=action.strict)
    await marks.draw(element, action.label, action.colour, action.seconds, action.timeout)
    return {"observed": f"{action.selector} is marked"}
