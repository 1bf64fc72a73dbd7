"""Gets the trees of pages and their parts from Playwright, up to a size limit, and names what no tree describes."""

import asyncio
from dataclasses import dataclass
from typing import Any, Final

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Locator, Page

from browse_together.contract.model import Json
from browse_together.contract.next_calls import next_call, plain
from browser_service.host import errors
from browser_service.host.elements.locators import TREE_BOUNDS
from browser_service.host.reading import tree
from browser_service.host.reading.tree import Node, Tree
from browser_service.host.scripts.results import BadResult
from browser_service.security.urls import abridged


@dataclass(frozen=True)
class BeyondTree:
    """The result of the script `beyond_tree` for a document."""

    pdf: bool = False
    bodiless: bool = False
    """True for SVG documents and framesets, which have no body."""
    canvases: int = 0
    embedded: tuple[str, ...] = ()
    tools: int = 0
    """How many tools the page declares."""

    def advice(self, url: str) -> Json:
        """Return the part of a reply that names what else the page at this address shows, and the calls that read
        it."""
        if self.pdf:
            return {"advice": f"a PDF: {next_call('fetch', url=url)} gives its file and its text"}
        said = [str(each) for each in self.offer().values()]
        if self.canvases:
            canvases = "a canvas" if self.canvases == 1 else f"{self.canvases} canvases"
            said.append(f"it draws on {canvases}, without words here: {by_eye()}")
        if self.embedded:
            page = next_call("open_page", url=self.embedded[0])
            said.append(f"what it embeds (<object>) is not here: {page}")
        return {"advice": "; ".join(said)} if said else {}

    def offer(self) -> Json:
        """Return the part of a reply that tells of tools."""
        tools = "1 tool" if self.tools == 1 else f"{self.tools} tools"
        return {"advice": f"this page offers {tools}: {next_call('list_page_tools')}"} if self.tools else {}


_MOST_HOSTS: Final = 3
NOTHING_BEYOND: Final = BeyondTree()


def by_eye() -> str:
    """Return the calls for what only a picture shows."""
    return f"{next_call('screenshot')}, {next_call('mouse', do='click', x=..., y=...)}"


def closed_advice(hosts: list[str]) -> Json:
    """Return the part of a reply that names elements that draw closed shadow trees, and what can be done there."""
    names = ", ".join(f"<{host}>" for host in [*dict.fromkeys(hosts)][:_MOST_HOSTS])
    return {"advice": f"what {names} draws cannot be read (a closed shadow tree): {by_eye()}"} if hosts else {}


def joined(*replies: Json) -> Json:
    """Join the advice of several replies into one."""
    said = "; ".join(str(reply["advice"]) for reply in replies if "advice" in reply)
    return {"advice": said} if said else {}


def beyond_tree(found: Any) -> BeyondTree:  # Any: JSON, of a page
    """Parse the script's result. Raises TypeError, ValueError or LookupError for any other."""
    pdf, bodiless = bool(found["pdf"]), bool(found["bodiless"])
    embedded = tuple(abridged(str(url)) for url in found["embedded"])
    return BeyondTree(pdf, bodiless, int(found["canvases"]), embedded, int(found["tools"]))


_MOST_CHARACTERS: Final = 1_500_000
_LONG: Final = 100_000
"""Trees longer than this are parsed in a thread, because parsing blocks the event loop."""
_FRAMES_MS: Final = 500
_MOST_FRAMES: Final = 50
"""At most this many empty frames are checked for trees that were too large."""
_NOT_SHOWN: Final = "not shown, "
_NO_ANSWER: Final = f"{_NOT_SHOWN}it does not answer"


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
    """Mark each frame that is empty because it does not answer, or because its tree is too large, then with the call
    that reads it."""
    empty = [node for node in nodes if node.role == "iframe" and node.ref and not node.has_children][:_MOST_FRAMES]
    await asyncio.gather(*(_mark_frame(page, node) for node in empty))


async def _mark_frame(page: Page, node: Node) -> None:
    frame = page.locator(f"aria-ref={node.ref}").content_frame
    try:
        async with asyncio.timeout(_FRAMES_MS / 1_000):
            if await frame.locator(f"{TREE_BOUNDS}=ended").count():
                way = plain(next_call("content", frame=node.ref, format="text"))
                node.marks += (f"{_NOT_SHOWN}its tree is too large: {way}",)
    except TimeoutError:
        node.marks += (_NO_ANSWER,)
    except PlaywrightError:  # the frame is gone
        return


def frames_not_shown(nodes: Tree) -> list[str]:
    """Return a line for each frame that was not shown."""
    return [node.line for node in nodes if any(mark.startswith(_NOT_SHOWN) for mark in node.marks)]


def too_large(excess: str) -> BadResult:
    return BadResult(
        f"The page is too large for a snapshot: it has {excess} are allowed.",
        "Act by selectors, and read a part of it: "
        f"{next_call('extract_text', selector='...')}, {next_call('evaluate_script', expression='...')}.",
    )
