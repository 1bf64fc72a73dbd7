"""Takes the trees of pages and their parts from Playwright, as far as they are not too large."""

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
"""No tree that is longer than the first is read. All others wait while one is read, except for a long one."""
_FRAMES_MS: Final = 500
_MOST_FRAMES: Final = 50
"""So many empty frames of a page are asked if their trees were too large, together, and so long."""
_NOT_SHOWN: Final = "not shown, its tree is too large: "


async def tree_text(of: Page | Locator, timeout_ms: float, *, boxes: bool = False) -> str:
    """Take a tree as text. Raises BadResult where its names and texts come to too much, before that is sent."""
    try:
        return await of.aria_snapshot(mode="ai", boxes=boxes, timeout=timeout_ms)
    except PlaywrightError as error:
        if errors.TOO_LARGE in str(error):
            raise too_large("more in its names, texts, values and addresses than") from error
        raise


async def parsed(text: str) -> Tree:
    """Read a tree, in a thread if it is long. Raises BadResult for one that is too long."""
    if len(text) > _MOST_CHARACTERS:
        raise too_large(f"a tree of {len(text):,} characters, and {_MOST_CHARACTERS:,}")
    return await asyncio.to_thread(tree.parse, text) if len(text) > _LONG else tree.parse(text)


async def mark_frames(page: Page, nodes: Tree) -> None:
    """Say beside each frame that is empty because its tree is too large, that it is, and how to read it."""
    empty = [node for node in nodes if node.role == "iframe" and node.ref and not node.has_children][:_MOST_FRAMES]
    if empty:
        with contextlib.suppress(TimeoutError):  # a frame does not respond: what is known of the others is said
            async with asyncio.timeout(_FRAMES_MS / 1_000):
                await asyncio.gather(*(_mark_frame(page, node) for node in empty))


async def _mark_frame(page: Page, node: Node) -> None:
    with contextlib.suppress(PlaywrightError):  # it went
        frame = page.locator(f"aria-ref={node.ref}").content_frame
        if await frame.locator(f"{TREE_BOUNDS}=ended").count():
            node.marks += (f"{_NOT_SHOWN}{next_call('content', frame=node.ref, format='text')}",)


def frames_not_shown(nodes: Tree) -> list[str]:
    """Return the lines of the frames whose trees were too large."""
    return [node.line for node in nodes if any(mark.startswith(_NOT_SHOWN) for mark in node.marks)]


def too_large(excess: str) -> BadResult:
    return BadResult(
        f"The page is too large for a snapshot: it has {excess} are allowed.",
        "Act by selectors, and read a part of it: "
        f"{next_call('extract_text', selector='...')}, {next_call('evaluate_script', expression='...')}.",
    )
