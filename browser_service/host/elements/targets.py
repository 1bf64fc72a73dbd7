"""What is at a point, and what has the focus."""

from typing import Final

from playwright.async_api import ElementHandle, Page

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
