"""Moves files to pages and from them: uploads, drops, downloads."""

from typing import Final, cast

from playwright.async_api import ElementHandle, FilePayload
from pydantic import JsonValue
from typing_extensions import TypedDict

from browse_together.contract.actions import files
from browse_together.contract.errors import ValidationFailed, field_details
from browse_together.contract.model import Json
from browse_together.contract.next_calls import next_call
from browse_together.contract.quoting import one_line
from browser_service.host import world
from browser_service.host.elements.locators import none_if_gone, read_back
from browser_service.host.elements.uploads import handed, payloads
from browser_service.host.handle.page import BrowserPage
from browser_service.host.scripts import call_of, results, script
from browser_service.host.tabs.presses import NO_PRESS, clicks, sent

_TAKES_FILES: Final = results.bounded(call_of("control => e => control(e).type === 'file'", script("control")))
_DROPPED_BYTES: Final = 2_000_000
"""A script in the page builds dropped files from bytes, which reach it in one message."""
_HELD: Final = "e => [...e.files ?? []].map(({name, size, type}) => ({name, size, type}))"


class HeldFile(TypedDict):
    name: str
    size: int
    type: str


async def upload_file(page: BrowserPage, action: files.UploadFile) -> Json:
    element = await page.elements.find(action.selector, action.frame, strict=action.strict)
    uploads = await payloads(page.files, action.files)
    given = await handed(page.playwright, uploads, elsewhere=page.session.in_persons_browser)
    if results.value_of(await world.evaluate(element, _TAKES_FILES, timeout_ms=action.timeout)):
        given_to = element.set_input_files(given, no_wait_after=action.no_wait_after, timeout=action.allowed_ms())
        await sent(given_to, NO_PRESS)
        held = await read_back(list[HeldFile], element, _HELD)
    else:
        async with page.playwright.expect_file_chooser(timeout=action.timeout) as opening:
            await sent(element.click(timeout=action.timeout), clicks())
        chooser = await opening.value
        await chooser.set_files(given, no_wait_after=action.no_wait_after, timeout=action.allowed_ms())
        held = await none_if_gone(_held_by(chooser.element))
    return {"files": cast("JsonValue", held or []), "observed": _held(uploads, held)}  # our script returns JSON


async def drop(page: BrowserPage, action: files.Drop) -> Json:
    if not action.files and not action.data:
        raise ValidationFailed(
            "drop needs 'files' or 'data'.",
            hint=f"{next_call('drop', selector='...', files=[{'name': 'a.txt', 'text': '...'}])}.",
            details=field_details("files"),
        )
    element = await page.elements.find(action.selector, action.frame, strict=action.strict)
    uploads = await payloads(page.files, action.files, _DROPPED_BYTES)
    position = action.position.model_dump() if action.position else None
    await element.drop(
        {"files": uploads, "data": action.data or {}},
        position=position,  # type: ignore[arg-type] # a dict of x and y, as Playwright wants it
        timeout=action.timeout,
    )
    dropped = [_named(each["name"], len(each["buffer"])) for each in uploads] + [*(action.data or {})]
    return {"observed": f"the page took the drop of {', '.join(dropped)}"}


async def _held_by(element: ElementHandle) -> list[HeldFile]:
    return results.read(list[HeldFile], await world.evaluate(element, results.bounded(_HELD)))


def _held(uploads: list[FilePayload], held: list[HeldFile] | None) -> str:
    """Describe what the input holds. A script may have emptied it as soon as it had the files."""
    names = [_named(each["name"], len(each["buffer"])) for each in uploads]
    if not uploads:
        return "the input holds no files now"
    if not held:
        missing = "the input is gone" if held is None else "the input is empty"
        return f"{', '.join(names)} was chosen; {missing} by now, as the page made it"
    shown = [_named(each["name"], each["size"]) for each in held]
    return f"the input holds {', '.join(shown)}"


def _named(name: str, size: int) -> str:
    return f"{one_line(name)} ({size:,} bytes)"
