"""Reading a page: its content, and its accessibility tree with refs."""

from typing import Final

from browser_service.browser import snapshot as trees
from browser_service.browser.page import BrowserPage
from browser_service.browser.text import markdown
from shared.actions import reading
from shared.calls import Json

_TEXT: Final = """e => {
  const shown = e === e.ownerDocument.documentElement && e.ownerDocument.body || e;
  return shown.innerText ?? e.textContent;
}"""
"""What a person sees; of SVG, which has no innerText, all of its text."""


async def content(page: BrowserPage, action: reading.Content) -> Json:
    if action.format == "text":
        element = await page.element(action.selector or ":root", action.frame)
        text = str(await element.evaluate(_TEXT, timeout=action.timeout))
    else:
        html = await _html(page, action)
        text = html if action.format == "html" else await markdown(html)
    return {**await page.shown("content", text, action.budget), "format": action.format, "url": page.url}


async def snapshot(page: BrowserPage, action: reading.Snapshot) -> Json:
    root, part = None, ""
    if action.selector:
        element = await page.element(action.selector, action.frame)
        await element.wait_for(state="attached", timeout=action.timeout)  # aria_snapshot itself does not wait
        part = await element.aria_snapshot(mode="ai", boxes=action.boxes, timeout=action.timeout)
        root = trees.first_ref(part)
    tree = await page.snapshot(action.timeout, boxes=action.boxes)
    if action.selector:
        tree = (trees.subtree(tree, root) if root else "") or part
    if action.depth:
        tree = trees.cut_depth(tree, action.depth)
    if action.interactive_only:
        tree = trees.interactive(tree)
    return {**await page.shown("snapshot", tree, action.budget), "url": page.url}


async def _html(page: BrowserPage, action: reading.Content) -> str:
    if action.selector:
        element = await page.element(action.selector, action.frame)
        return str(await element.evaluate("e => e.outerHTML", timeout=action.timeout))
    if action.frame:
        root = await page.element("html", action.frame)
        return str(await root.evaluate("e => e.outerHTML", timeout=action.timeout))
    return await page.live.content(include_shadow=action.include_shadow)
