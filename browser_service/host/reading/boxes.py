"""Reads where the controls of a tree are in the window."""

import asyncio
import re
from collections.abc import Iterator, Mapping
from typing import Final

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

from browser_service.host import world
from browser_service.host.elements.targets import Point
from browser_service.host.reading.tree import Node, Tree
from browser_service.host.scripts import script
from browser_service.host.scripts.results import bounded, read
from browser_service.marks import Box

_BOX: Final = re.compile(r"box=(-?\d+),(-?\d+),(\d+),(\d+)")
_NOWHERE: Final = Point(0.0, 0.0)
_INSET: Final = bounded(script("frame_inset"))
_MOST_FRAMES, _WIDEST_BORDER = 20, 1_000.0


async def frame_insets(page: Page, nodes: Tree) -> dict[str, tuple[float, float]]:
    """Return, by a frame's ref, how far its document begins from its corner: no tree tells of borders."""

    async def inset(ref: str) -> tuple[float, float]:
        try:
            element = await world.keep(page.locator(f"aria-ref={ref}"))
            found = read(Point, await world.evaluate(element, _INSET)) if element is not None else _NOWHERE
        except PlaywrightError:  # it went meanwhile
            return 0.0, 0.0
        return min(max(found.x, 0.0), _WIDEST_BORDER), min(max(found.y, 0.0), _WIDEST_BORDER)

    refs = [node.ref for node in nodes if node.role == "iframe" and node.ref][:_MOST_FRAMES]
    return dict(zip(refs, await asyncio.gather(*map(inset, refs)), strict=True))


def control_boxes(nodes: Tree, insets: Mapping[str, tuple[float, float]]) -> Iterator[tuple[Node, Box]]:
    """Yield each control that has a ref, with its box in the window."""
    return ((node, box) for node, box in boxes(nodes, insets) if node.ref and node.is_control)


def boxes(nodes: Tree, insets: Mapping[str, tuple[float, float]]) -> Iterator[tuple[Node, Box]]:
    """Yield each element that has a box, with that in the window. `insets` is what `frame_insets` found."""
    corners: dict[int, tuple[float, float]] = {}
    for index, node in enumerate(nodes):
        left, top = corners.get(node.parent, (0.0, 0.0)) if node.parent is not None else (0.0, 0.0)
        box = next((Box(*map(float, found.groups())) for mark in node.marks if (found := _BOX.fullmatch(mark))), None)
        if box is not None:
            box = box._replace(x=box.x + left, y=box.y + top)
        if box and node.role == "iframe":
            inset = insets.get(node.ref or "", (0.0, 0.0))
            left, top = box.x + inset[0], box.y + inset[1]
        corners[index] = (left, top)
        if box:
            yield node, box
