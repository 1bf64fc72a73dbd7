"""Finds what no script of the page can find, because it is in closed shadow roots: secret fields, and what is drawn
there."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated, Final, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

from playwright.async_api import CDPSession, Frame, Page
from playwright.async_api import Error as PlaywrightError
from pydantic import FiniteFloat, StringConstraints

from browse_together.contract.frames import Box
from browser_service.host import world
from browser_service.host.scripts import results, script
from browser_service.host.world.ties import open_session

_MOST_FIELDS: Final = 100
"""The most fields in one renderer that are checked for closed roots."""
_MOST_NODES: Final = 20_000
"""The most nodes in one renderer: Chromium's answers include an element's siblings, so large documents are not
checked."""
_SEARCHES: Final = ("<input>", "<textarea>")
_OF_ITS_PARENT: Final = "does not have a separate CDP session"
_CLOSED_SECRET: Final = script("closed_secret")
_CLOSED_PART: Final = script("closed_part")
_OPEN_PARTS: Final = script("open_parts")
_PARTS: Final = (":host > *",)
_MAY_BE_HOSTS: Final = (
    ":empty:not(a, area, b, br, button, canvas, col, embed, hr, i, iframe, img, input, label, li, link, meta, object, "
    "option, script, select, source, style, svg *, svg, td, textarea, th, track, ul, video, wbr)"
)
"""Among them are the hosts of closed roots that have text alone."""
_MOST_PARTS: Final = 200
_MOST_EMPTY: Final = 500
_HOST_CHARACTERS: Final = 40
_GROUP: Final = "closed-fields"

T = TypeVar("T")


class Found(NamedTuple):
    """The number of fields that a frame's scripts found, and when its document began."""

    fields: int
    began: float


class ClosedTree(NamedTuple):
    """The name of an element that draws a closed shadow tree, and the middle of a part of that in its document."""

    host: Annotated[str, StringConstraints(max_length=_HOST_CHARACTERS)]
    x: FiniteFloat
    y: FiniteFloat


class Parts(NamedTuple):
    """How many elements lie directly in a document's open shadow roots, and how many may be hosts of closed roots with
    text alone."""

    open: int
    may_be_hosts: int


class UnknownPlaceError(Exception):
    """There may be a secret field at an unknown place."""


class ClosedFields:
    """The fields of a tab as Chromium counts them. If scripts found the same number, none is in a closed root."""

    def __init__(self) -> None:
        self._sessions: WeakKeyDictionary[Frame, tuple[float, CDPSession | None]] = WeakKeyDictionary()
        """The session of each frame's document with a renderer of its own; None for other frames. The number is when
        the document began."""
        self._asking = asyncio.Lock()

    async def count(self, cdp: CDPSession | None) -> int:
        """Return the number of fields in the main frame and in frames with the same renderer."""
        if cdp is None:
            return 0
        async with self._asking:
            return await _count(cdp, _SEARCHES)

    async def trees(self, cdp: CDPSession | None, page: Page) -> list[ClosedTree]:
        """Return what is seen of closed shadow trees in the main frame and in frames with the same renderer."""
        if cdp is None:
            return []
        async with self._asking:
            total, parts = await asyncio.gather(_count(cdp, _PARTS), _parts_of(page.main_frame))
            found = list[ClosedTree | None]()
            if total != parts.open:
                found += await _asked_of_each(cdp, _PARTS, _MOST_PARTS, _closed_tree)
            if parts.may_be_hosts:
                found += await _asked_of_each(cdp, (_MAY_BE_HOSTS,), _MOST_EMPTY, _closed_words)
            return [each for each in found if each is not None]

    async def boxes(self, cdp: CDPSession, found: Mapping[Frame, Found], total: int) -> dict[Frame, list[Box]]:
        """Return the boxes of secret fields in closed roots, for the main frame and each frame with its own renderer.
        `found` has the main frame first; `total` is the result of `count`. Raises UnknownPlaceError."""
        async with self._asking:
            main, *inner = found
            sessions = {main: cdp}
            for frame in inner:
                if (session := await self._session(frame, found[frame].began)) is not None:
                    sessions[frame] = session
            known = Counter[Frame]()
            for frame, facts in found.items():
                known[_drawn_with(frame, sessions)] += facts.fields
            totals = [total, *await asyncio.gather(*(_count(sessions[frame], _SEARCHES) for frame in [*sessions][1:]))]
            asked = zip(sessions.items(), totals, strict=True)
            boxes = await asyncio.gather(*(_boxes(each, known[frame], total) for (frame, each), total in asked))
            return dict(zip(sessions, boxes, strict=True))

    async def _session(self, frame: Frame, began: float) -> CDPSession | None:
        of, session = self._sessions.get(frame, (None, None))
        if of == began:
            return session
        if session is not None:
            with contextlib.suppress(PlaywrightError):
                await session.detach()
        try:
            session = await open_session(frame.page, frame)
        except PlaywrightError as error:
            if _OF_ITS_PARENT not in str(error):
                raise
            session = None
        self._sessions[frame] = began, session
        return session


def _drawn_with(frame: Frame, sessions: Mapping[Frame, CDPSession]) -> Frame:
    """Return the outermost frame with the same renderer."""
    while frame not in sessions and frame.parent_frame is not None:
        frame = frame.parent_frame
    return frame


async def _count(cdp: CDPSession, queries: Sequence[str]) -> int:
    searches = [cdp.send("DOM.performSearch", {"query": query}) for query in queries]
    _, *results, _ = await asyncio.gather(cdp.send("DOM.enable"), *searches, cdp.send("DOM.disable"))
    return int(sum(result["resultCount"] for result in results))


async def _boxes(cdp: CDPSession, known: int, total: int) -> list[Box]:
    if total == known:
        return []
    counted = await cdp.send("Memory.getDOMCounters")
    if total > _MOST_FIELDS or counted["nodes"] > _MOST_NODES:
        raise UnknownPlaceError
    places = await _asked_of_each(cdp, _SEARCHES, _MOST_FIELDS, _place)
    return [place for place in places if place is not None]


async def _asked_of_each(
    cdp: CDPSession, queries: Sequence[str], most: int, ask: Callable[[CDPSession, int], Awaitable[T]]
) -> list[T]:
    """Return the answers about each node that a search finds."""
    try:
        await cdp.send("DOM.getDocument", {"depth": 0})
        return await asyncio.gather(*(ask(cdp, node_id) for node_id in await _nodes(cdp, queries, most)))
    finally:
        await asyncio.gather(cdp.send("Runtime.releaseObjectGroup", {"objectGroup": _GROUP}), cdp.send("DOM.disable"))


async def _nodes(cdp: CDPSession, queries: Sequence[str], most: int) -> list[int]:
    """Return the node ids of what a search finds."""
    nodes = list[int]()
    for query in queries:
        search = await cdp.send("DOM.performSearch", {"query": query})
        if search["resultCount"]:
            part = {"searchId": search["searchId"], "fromIndex": 0, "toIndex": min(search["resultCount"], most)}
            nodes += (await cdp.send("DOM.getSearchResults", part))["nodeIds"]
    return nodes


async def _parts_of(frame: Frame) -> Parts:
    return results.of_kind(Parts, await world.evaluate(frame, _OPEN_PARTS, _MAY_BE_HOSTS))


async def _said_by(cdp: CDPSession, node: dict[str, int], source: str) -> object:
    """Return what a script says of a node."""
    resolved = await cdp.send("DOM.resolveNode", {**node, "objectGroup": _GROUP})
    object_id = resolved["object"]["objectId"]
    asked = {"functionDeclaration": source, "objectId": object_id, "arguments": [{"objectId": object_id}]}
    return (await cdp.send("Runtime.callFunctionOn", {**asked, "returnByValue": True}))["result"].get("value")


async def _closed_tree(cdp: CDPSession, node_id: int) -> ClosedTree | None:
    return await _tree_of(cdp, {"nodeId": node_id})


async def _closed_words(cdp: CDPSession, node_id: int) -> ClosedTree | None:
    """Return what an element draws by a closed root that has text alone."""
    described = (await cdp.send("DOM.describeNode", {"nodeId": node_id}))["node"]
    roots = [root for root in described.get("shadowRoots", ()) if root["shadowRootType"] == "closed"]
    return await _tree_of(cdp, {"backendNodeId": roots[0]["backendNodeId"]}) if roots else None


async def _tree_of(cdp: CDPSession, node: dict[str, int]) -> ClosedTree | None:
    said = await _said_by(cdp, node, _CLOSED_PART)
    return None if said is None else results.of_kind(ClosedTree, said)


async def _place(cdp: CDPSession, node_id: int) -> Box | None:
    """Return the field's box in the window if it shows a secret in a closed root, else None. Raises
    UnknownPlaceError."""
    shows = await _said_by(cdp, {"nodeId": node_id}, _CLOSED_SECRET)
    if shows is False:
        return None
    if shows is not True:
        raise UnknownPlaceError
    (quad, *_) = (await cdp.send("DOM.getContentQuads", {"nodeId": node_id}))["quads"]
    left, top = min(quad[::2]), min(quad[1::2])
    return Box(x=left, y=top, width=max(quad[::2]) - left, height=max(quad[1::2]) - top)
