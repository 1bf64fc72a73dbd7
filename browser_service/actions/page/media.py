"""Takes screenshots, PDFs, videos and traces, and marks elements for people."""

import base64
from typing import Final

from browse_together.contract.actions import media, tracing
from browse_together.contract.model import Json
from browser_service.actions.support import screenshots
from browser_service.host import world
from browser_service.host.handle.page import BrowserPage
from browser_service.host.handle.session import BrowserSession
from browser_service.host.reading.comparison import compare_with
from browser_service.host.scripts import results, script


async def start_tracing(session: BrowserSession, action: tracing.StartTracing) -> Json:
    await session.entry.tracing.start(session, action)
    return {"observed": f'session "{action.session_id}" is being traced, for {action.max_seconds} s at most'}


async def stop_tracing(session: BrowserSession, action: tracing.StopTracing) -> Json:  # noqa: ARG001 - it says nothing more
    return await session.entry.tracing.stop(session)


_MARK_TAG: Final = "x-browse-mark"
_MARK: Final = results.bounded(script("mark_draw"))
_REMOVE_MARKS: Final = results.bounded(script("mark_removal"))


async def screenshot(page: BrowserPage, action: media.Screenshot, name: str | None = None) -> Json:
    picture = await screenshots.take(page, action)
    artifact = await page.files.keep(picture.data, f"image/{action.type}", "screenshot", name)
    cut: Json = {"cut": picture.cut} if picture.cut else {}
    marks: Json = {"marks": picture.marks} if action.marks else {}
    return {"artifact": artifact, "width": picture.width, "height": picture.height, **cut, **marks}


async def get_screenshot_as_base64(page: BrowserPage, action: media.GetScreenshotAsBase64) -> Json:
    picture, mime_type = await screenshots.take(page, action), f"image/{action.type}"
    text = await page.files.shown("base64", base64.b64encode(picture.data).decode(), None, searched=False)
    artifact = await page.files.keep(picture.data, mime_type, "screenshot", inline=False)
    return {**text, "mimeType": mime_type, "width": picture.width, "height": picture.height, "artifact": artifact}


async def generate_pdf(page: BrowserPage, action: media.GeneratePdf) -> Json:
    options = {name: value for name, value in action.own_arguments().items() if name != "filename"}
    return {
        "artifact": await page.files.keep(
            await page.playwright.pdf(**options), "application/pdf", "page", action.filename
        )
    }


async def compare_screenshots(page: BrowserPage, action: media.CompareScreenshots) -> Json:
    options = {"selector": action.selector, "fullPage": action.full_page, "timeout": action.timeout}
    picture = await screenshots.take(page, media.Screenshot.model_validate(options))
    return await compare_with(page.files, action, picture.data)


async def record_video(page: BrowserPage, action: media.RecordVideo) -> Json:
    if action.command == "stop":
        return await page.recorder.stop(page.call)
    limits = {"fps": action.fps, "max_seconds": action.max_seconds}
    await page.recorder.start(page.playwright, page.call, page.files, **limits)
    return {"observed": f"{page.page_id} is being recorded, for {action.max_seconds} s at most"}


async def highlight(page: BrowserPage, action: media.Highlight) -> Json:
    if action.selector is None:
        count = sum(
            [
                results.read(int, await world.evaluate(frame, _REMOVE_MARKS, _MARK_TAG))
                for frame in page.playwright.frames
            ]
        )
        return {"removed": count, "observed": f"{count} marks are taken away"}
    element = await page.elements.find(action.selector, action.frame, strict=action.strict)
    await element.scroll_into_view_if_needed(timeout=action.timeout)
    mark = {"tag": _MARK_TAG, "label": action.label, "colour": action.colour, "seconds": action.seconds}
    await world.evaluate(element, _MARK, mark, timeout_ms=action.timeout)
    return {"observed": f"{action.selector} is marked"}
