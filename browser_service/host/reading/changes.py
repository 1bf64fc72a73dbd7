"""Writes all changes since a snapshot, in lines that can be understood without the rest of the tree."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from browser_service.host.reading.difference import Difference
from browser_service.host.reading.places import place
from browser_service.host.reading.tree import Tree


class _Change(NamedTuple):
    order: int
    """Position in the new tree."""
    nodes: Tree
    at: int
    """Index in `nodes`, which is the old tree for removed elements."""
    lines: list[str]


def written(old: Tree, new: Tree, is_shown: Callable[[Tree, int], bool]) -> str:
    """Write the changes in page order, each below its place, for elements that `is_shown` accepts."""
    difference = Difference(old, new)
    found = [*_added(difference), *_changed(difference), *_removed(difference)]
    lines, last = list[str](), ""
    for change in sorted(found, key=lambda each: each.order):
        if is_shown(change.nodes, change.at):
            where = place(change.nodes, change.at)
            lines += [f"{where}:"] if where and where != last else []
            lines += change.lines
            last = where
    return "\n".join(lines)


def _added(difference: Difference) -> Iterator[_Change]:
    after = difference.after
    for ref in difference.added():
        index = after.indexes[ref]
        top = after.nodes[index].depth
        nodes = [node for _, node, owner in after.within(index) if owner in difference.came]
        lines = [f"+ {'  ' * (node.depth - top)}{node.line.removeprefix('- ')}" for node in nodes]
        yield _Change(index, after.nodes, index, lines)


def _changed(difference: Difference) -> Iterator[_Change]:
    after = difference.after
    for ref, order in difference.changed():
        lines = [f"~ {after.node(ref).line.removeprefix('- ').removesuffix(':')}"] if ref else []
        lines += [f"~   {node.line.removeprefix('- ')}" for node in after.own_texts(ref)]
        lines += [f"~   in this order now: {', '.join(order)}"] if order else []
        lines = lines or ["- text is gone"]  # text outside of all elements
        index = after.indexes.get(ref, 0)
        yield _Change(index, after.nodes, index, lines)


def _removed(difference: Difference) -> Iterator[_Change]:
    before = difference.before
    for ref in difference.removed():
        index = difference.after.indexes.get(before.parents[ref], 0)
        lines = [f"- {before.node(ref).role_and_name} [ref={ref}] is gone"]
        yield _Change(index, before.nodes, before.indexes[ref], lines)
