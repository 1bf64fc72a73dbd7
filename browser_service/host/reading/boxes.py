"""Reads where the controls of a tree are in the window."""

import re
from collections.abc import Iterator
from typing import Final

from browser_service.host.reading.tree import Node, Tree
from browser_service.marks import Box

_BOX: Final = re.compile(r"box=(-?\d+),(-?\d+),(\d+),(\d+)")


def control_boxes(nodes: Tree) -> Iterator[tuple[Node, Box]]:
    """Yield each control that has a ref, with its box in the window. Within a frame, a box is from the frame's corner:
    the frame's border, which no tree tells, is missing from it."""
    corners: dict[int, tuple[float, float]] = {}
    for index, node in enumerate(nodes):
        left, top = corners.get(node.parent, (0.0, 0.0)) if node.parent is not None else (0.0, 0.0)
        box = next((Box(*map(float, found.groups())) for mark in node.marks if (found := _BOX.fullmatch(mark))), None)
        if box is not None:
            box = box._replace(x=box.x + left, y=box.y + top)
        corners[index] = (box.x, box.y) if box and node.role == "iframe" else (left, top)
        if box and node.ref and node.is_control:
            yield node, box
