"""Inspects a page as its developers do: its elements, its console, and its frames."""

from typing import Final, cast

from playwright.async_api import Frame
from typing_extensions import TypedDict

from browse_together.contract.actions import inspection
from browse_together.contract.background import AtMost
from browse_together.contract.model import Json
from browse_together.contract.next_calls import next_call
from browser_service.host import world
from browser_service.host.elements import frames, locators
from browser_service.host.handle.page import BrowserPage
from browser_service.host.scripts import script
from browser_service.security.urls import abridged

_MOST_FRAMES: Final = 100
_ANSWERS_S: Final = 0.5
"""So long a frame may take to say which frames are inside it."""
_ELEMENTS: Final = script("found_elements")


class _Elements(TypedDict):
    count: int
    elements: list[Json]


class _Found(TypedDict):
    value: _Elements


async def find_elements(page: BrowserPage, action: inspection.FindElements) -> Json:
    found = await page.elements.find(action.selector, action.frame, strict=True, frames=False)
    await locators.check_syntax(found, action.selector, page.playwright)
    asked = [action.limit, action.attributes]
    described = (await locators.evaluate_all(_Found, found, _ELEMENTS, asked))["value"]
    refs = await page.looks.refs(found, action.limit, action.timeout)
    framed = action.frame or locators.leading_ref(action.selector) or "enter-frame" in action.selector
    elements: list[Json] = []
    for number, (what, ref) in enumerate(zip(described["elements"], refs, strict=False)):
        if what["box"] and framed:  # a frame does not know its own position
            # a FloatRect is JSON
            what["box"] = cast("Json | None", await found.nth(number).bounding_box(timeout=action.timeout))
        elements.append({"selector": ref.own or f"{action.selector} >> nth={number}", **what})
    where = {} if elements else await page.elements.in_frames(action.selector, action.frame)
    return {**await page.files.shown_data("elements", [*elements], action.budget), "count": described["count"], **where}


async def get_console_messages(page: BrowserPage, action: inspection.GetConsoleMessages) -> Json:
    messages, last, left_out = page.console.read(
        page.call.client_id, kinds=[*action.types] if action.types else None, text=action.text, since=action.since,
        limit=action.limit, earlier=action.all,
    )  # fmt: skip
    more: Json = {"earlier": f'{left_out} more of earlier documents: "all": true'} if left_out else {}
    shown = await page.files.shown_data("messages", [*messages], action.budget)
    return {**shown, "count": len(messages), "last": last, **more}


async def list_frames(page: BrowserPage, action: inspection.ListFrames) -> Json:
    found: list[Json] = []
    main, reached = page.playwright.main_frame, set[Frame]()
    await _add_frames(found, reached, main, "", action.timeout)
    others = [
        frame for frame in page.playwright.frames if frame not in reached and frame.parent_frame in {main, *reached}
    ]
    lost = [abridged(each.url) for each in others if not frames.is_of_browser(each)][: _MOST_FRAMES - len(found)]
    found += [{"frame": None, "url": url} for url in lost]
    way = f"no selector reaches those without one: {next_call('open_page', url=lost[0])}" if lost else ""
    shown = await page.files.shown_data("frames", [*found], action.budget)
    return {**shown, "count": len(found), **({"advice": way} if way else {})}


async def _add_frames(found: list[Json], reached: set[Frame], parent: Frame, within: str, timeout_ms: int) -> None:
    """Add each frame before the frames inside it, with a selector that starts at the page's own document."""
    elements = parent.locator("iframe, frame")
    count: int | None = None
    async with AtMost(_ANSWERS_S if found else None):
        count = await elements.count()
    if count is None:
        found[-1]["answers"] = False
        return
    for number in range(count):
        element = await world.handle_of(elements.nth(number), timeout_ms)
        frame = await element.content_frame()
        if frame is None or len(found) >= _MOST_FRAMES:
            continue
        reached.add(frame)
        described = await frames.described(element)
        selector = within + (described["selector"] or f":is(iframe, frame) >> nth={number}")
        more = {key: value for key, value in (("name", frame.name), ("title", described["title"])) if value}
        found.append({"frame": selector, "url": abridged(frame.url), **more, "visible": described["visible"]})
        await _add_frames(found, reached, frame, f"{selector}{frames.ENTER}", timeout_ms)
