"""Removes a tree's invisible text, as judged by a script."""

from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, Final, TypedDict

from browser_service.host.reading.tree import Node, Tree, descendants, without

UNSEEN_MARK: Final = "⟦not seen on the page: "
_CUT: Final = "…"
_MOST_WORDS: Final = 1_000
_MOST_PLACES: Final = 50
_LEAST_PART: Final = 4
"""Shorter texts match only whole names, not parts of names."""
_SURE_PART: Final = 10
"""Texts of at least this length match even inside a longer word."""


class Judgement(TypedDict):
    """The result of the script `unseen_words` for a document."""

    words: list[str]
    frames: list[tuple[bool, str]]
    """Whether each frame is invisible, and its name."""
    all: bool


def judgement(found: Any) -> Judgement | None:  # Any: JSON, of a page
    """Parse the script's result; None if nobody asked it. Raises TypeError or LookupError for any other."""
    if found is None:
        return None
    words = [*map(str, found["words"])][:_MOST_WORDS]
    frames = [(bool(is_unseen), str(name)) for is_unseen, name in found["frames"]]
    return Judgement(words=words, frames=frames, all=bool(found["all"]))


@dataclass(frozen=True)
class Unseen:
    """The invisible words of a page, and its invisible frames by the ref of their first node."""

    words: list[str]
    frames: frozenset[str]
    count: int = 0
    """The number of nodes in the page's tree with invisible text."""

    def out_of(self, nodes: Tree) -> tuple[Tree, int]:
        """Return the tree as a person sees it, and the number of nodes that differ."""
        if not self.words and not self.frames:
            return nodes, 0
        roots = [index for index, node in enumerate(nodes) if node.ref in self.frames]
        gone = {id(node) for index in roots for node in (nodes[index], *descendants(nodes, index))}
        found = _found(nodes, self.words)
        changed = [
            _changed(node, [node.name, node.words] if id(node) in gone else found.get(index, []))
            for index, node in enumerate(nodes)
        ]
        count = sum(new is not old for new, old in zip(changed, nodes, strict=True))
        return _without_empty(changed, nodes), count


NOTHING_UNSEEN: Final = Unseen([], frozenset())


def _found(nodes: Tree, texts: list[str]) -> dict[int, list[str]]:
    """Return, by node index, the texts that occur in each node. Each text is searched in all nodes at once."""
    labels = [f"{node.name}\n{node.words}\n" for node in nodes]
    ends = [*accumulate(map(len, labels))]
    everything = "".join(labels)
    found: dict[int, list[str]] = defaultdict(list)
    for text in texts:
        sought, at = text.removesuffix(_CUT), -1
        for _ in range(_MOST_PLACES):
            at = everything.find(sought, at + 1)
            if at < 0:
                break
            found[bisect_right(ends, at)].append(text)
    return found


def _changed(node: Node, texts: list[str]) -> Node:
    """Return the node without its invisible text, or the node itself if nothing changes."""
    name, words = node.name, node.words
    for text in texts:
        name, words = _without(name, text), _without(words, text)
    if (name, words) == (node.name, node.words):
        return node
    return replace(node, name=name, text=node.text if words == node.words else words)


def _without(label: str, text: str) -> str:
    start = label.find(text.removesuffix(_CUT)) if text else -1
    if start < 0:
        return label
    end = len(label) if text.endswith(_CUT) and not label[start:].startswith(text) else start + len(text)
    is_whole = (start, end) == (0, len(label))
    if not is_whole and len(text) < _SURE_PART and (len(text) < _LEAST_PART or not _is_apart(label, start, end)):
        return label
    return " ".join(f"{label[:start]} {label[end:]}".split())


def _is_apart(label: str, start: int, end: int) -> bool:
    """Return whether the range is not part of a longer word."""
    before, after = label[start - 1 : start], label[end : end + 1]
    inside = (before.isalnum() and label[start].isalnum()) or (after.isalnum() and label[end - 1].isalnum())
    return not inside


def _without_empty(changed: Tree, nodes: Tree) -> Tree:
    """Return the tree without nodes whose words were all invisible. Controls with a ref stay, even without a name."""
    dropped: set[int] = set()
    kept_children = [0] * len(changed)
    for index in range(len(changed) - 1, -1, -1):
        node = changed[index]
        emptied = node is not nodes[index] or (node.has_children and not kept_children[index])
        says_nothing = not (node.name or node.text or kept_children[index])
        if emptied and says_nothing and not (node.is_control and node.ref):
            dropped.add(index)
        elif node.parent is not None:
            kept_children[node.parent] += 1
    for node, count in zip(changed, kept_children, strict=True):
        node.has_children = count > 0
    return without(changed, dropped)
