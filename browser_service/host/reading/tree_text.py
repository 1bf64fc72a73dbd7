"""Gets the trees of pages and parts of pages from Playwright, up to a size limit."""

import asyncio
import contextlib
from typing import Final

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Locator, Page

from browser_service.host import errors
from browser_service.host.elements.locators import TREE_BOUNDS
from browser_service.host.reading import tree
from browser_service.host.reading.tree import Node, Tree
from browser_service.host.scripts.results import BadResult
from shared.next_calls import next_call

_MOST_CHARACTERS: Final = 1_500_000
_LONG: Final = 100_000
"""Trees longer than this are parsed in a thread, because parsing blocks the event loop."""
_FRAMES_MS: Final = 500
_MOST_FRAMES: Final = 50
"""At most this many empty frames are checked for trees that were too large."""
_NOT_SHOWN: Final = "not shown, its tree is too large: "


async def tree_text(of: Page | Locator, timeout_ms: float, *, boxes: bool = False) -> str:
    """Get a tree as text. Raises BadResult, before anything is sent, if its names and texts are too large in total."""
    try:
        return await of.aria_snapshot(mode="ai", boxes=boxes, timeout=timeout_ms)
    except PlaywrightError as error:
        if errors.TOO_LARGE in str(error):
            raise too_large("more in its names, texts, values and addresses than") from error
        raise


async def parsed(text: str) -> Tree:
    """Parse a tree, in a thread if it is long. Raises BadResult if it is too long."""
    if len(text) > _MOST_CHARACTERS:
        raise too_large(f"a tree of {len(text):,} characters, and {_MOST_CHARACTERS:,}")
    return await asyncio.to_thread(tree.parse, text) if len(text) > _LONG else tree.parse(text)


async def mark_frames(page: Page, nodes: Tree) -> None:
    """Mark each frame that is empty because its tree is too large, with the call that reads it."""
    empty = [node for node in nodes if node.role == "iframe" and node.ref and not node.has_children][:_MOST_FRAMES]
    if empty:
        with contextlib.suppress(TimeoutError):  # a frame does not respond: mark the others
            async with asyncio.timeout(_FRAMES_MS / 1_000):
                await asyncio.gather(*(_mark_frame(page, node) for node in empty))


async def _mark_frame(page: Page, node: Node) -> None:
    with contextlib.suppress(PlaywrightError):  # the frame is gone
        frame = page.locator(f"aria-ref={node.ref}").content_frame
        if await frame.locator(f"{TREE_BOUNDS}=ended").count():
            node.marks += (f"{_NOT_SHOWN}{next_call('content', frame=node.ref, format='text')}",)


def frames_not_shown(nodes: Tree) -> list[str]:
    """Return a line for each frame whose tree was too large."""
    return [node.line for node in nodes if any(mark.startswith(_NOT_SHOWN) for mark in node.marks)]


def too_large(excess: str) -> BadResult:
    return BadResult(
        f"The page is too large for a snapshot: it has {excess} are allowed.",
        "Act by selectors, and read a part of it: "
        f"{next_call('extract_text', selector='...')}, {next_call('evaluate_script', expression='...')}.",
    )
