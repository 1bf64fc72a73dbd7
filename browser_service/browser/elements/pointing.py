"""What is at a point, what has the focus, and what a page makes of a drag."""

from collections.abc import Awaitable
from typing import Any, Final

from playwright.async_api import ElementHandle, JSHandle, Locator, Page
from playwright.async_api import Error as PlaywrightError

from browser_service.browser import errors
from shared.errors import ElementNotInteractable

NAMED: Final = """e => {
  if (!e?.tagName) return 'the document';
  const text = (e.getAttribute('aria-label') || e.innerText || e.alt || e.placeholder || '')
    .trim().replace(/\\s+/g, ' ');
  const id = e.id ? '#' + e.id : e.classList.length ? '.' + e.classList[0] : '';
  return `<${e.tagName.toLowerCase()}${id}>` + (text ? ` '${text.length > 40 ? text.slice(0, 39) + '…' : text}'` : '');
}"""
_AT: Final = """([x, y]) => {
  let e = document.elementFromPoint(x, y);
  for (let inner; (inner = e?.shadowRoot?.elementFromPoint(x, y)) && inner !== e;) e = inner;
  return e;
}"""
_INSIDE: Final = """e => {
  const {left, top} = e.getBoundingClientRect(), style = getComputedStyle(e);
  return [left + e.clientLeft + parseFloat(style.paddingLeft), top + e.clientTop + parseFloat(style.paddingTop)];
}"""
_FOCUSED: Final = """() => {
  let e = document.activeElement;
  while (e?.shadowRoot?.activeElement) e = e.shadowRoot.activeElement;
  return e || document.documentElement;
}"""
_WATCH: Final = f"""e => {{
  const named = {NAMED}, seen = {{}}, off = new AbortController();
  const on = (kind, note) => addEventListener(kind, note, {{capture: true, signal: off.signal}});
  on('dragstart', event => seen.dragstart = event);
  on('drop', event => seen.drop = named(event.target));
  on('dragend', event => seen.effect = event.dataTransfer?.dropEffect);
  on('mousedown', event => seen.pressed = named(event.composedPath()[0]));
  on('mouseup', event => seen.released = named(event.composedPath()[0]));
  return () => {{
    off.abort();
    return {{...seen, dragstart: Boolean(seen.dragstart && !seen.dragstart.defaultPrevented)}};
  }};
}}"""
_SEEN: Final = "async end => { await new Promise(then => setTimeout(then)); return end(); }"
_PLACE: Final = f"""e => {{
  const {{x, y}} = e.getBoundingClientRect(), up = e.parentElement;
  return {{x: Math.round(x + scrollX), y: Math.round(y + scrollY), parent: ({NAMED})(up).split(' ')[0],
    index: up ? [...up.children].indexOf(e) : 0}};
}}"""

Seen = dict[str, Any]  # Any: whatever JSON the page's listeners note


async def at(page: Page, x: float, y: float) -> str:
    """The element at a point of the viewport, in whichever frame or shadow root."""
    frame = page.main_frame
    while True:
        element = (await frame.evaluate_handle(_AT, [x, y])).as_element()
        if element is None:
            return "nothing"
        inside = await element.content_frame()
        if inside is None:
            return str(await element.evaluate(NAMED))
        left, top = await element.evaluate(_INSIDE)
        x, y, frame = x - left, y - top, inside


async def focused(page: Page) -> ElementHandle:
    """What has the focus, in whichever frame. A key pressed on it waits for the navigation that it starts; one that is
    pressed on Playwright's keyboard does not."""
    frame = page.main_frame
    while True:
        element = (await frame.evaluate_handle(_FOCUSED)).as_element()
        if element is None:
            raise ElementNotInteractable("The page has no document that a key could be pressed on.")
        inside = await element.content_frame()
        if inside is None:
            return element
        frame = inside


class Drag:
    """What the documents of a drag's two ends are told of it, and where the dragged element is afterwards."""

    def __init__(self, source: Locator, before: Seen, listeners: list[JSHandle]) -> None:
        self._source = source
        self._before = before
        self._listeners = listeners

    @classmethod
    async def watched(cls, source: Locator, target: Locator, timeout_ms: int) -> "Drag":
        before = await source.evaluate(_PLACE, timeout=timeout_ms)
        ends = [await end.evaluate_handle(_WATCH, timeout=timeout_ms) for end in (source, target)]
        return cls(source, before, ends)

    async def seen(self) -> Seen:
        found: Seen = {"dragstart": False}
        for listener in self._listeners:
            noted = await unless_gone(listener.evaluate(_SEEN)) or {}
            found |= {name: value for name, value in noted.items() if value}
        return found

    async def moved(self) -> str:
        """Where the dragged element went, in words; nothing where it is as it was."""
        before = self._before
        places = await unless_gone(self._source.evaluate_all(f"found => found.slice(0, 1).map({_PLACE})"))
        if not places:
            return "the dragged element is no longer there"
        after = places[0]
        if after["parent"] != before["parent"]:
            return f"it moved into {after['parent']}"
        if after["index"] != before["index"]:
            return f"it is number {after['index'] + 1} in {after['parent']} now"
        if (after["x"], after["y"]) != (before["x"], before["y"]):
            return f"it moved from {before['x']},{before['y']} to {after['x']},{after['y']}"
        return ""


async def unless_gone(found: Awaitable[Any]) -> Any:  # Any: whatever JSON it gives
    """None from a document that the act led away from."""
    try:
        return await found
    except PlaywrightError as error:
        if errors.is_closed(error):
            raise
        return None
