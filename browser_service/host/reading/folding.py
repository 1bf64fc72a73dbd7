"""Gives elements the names and words that Playwright's tree leaves to their content: `<button><em>Save</em>` comes as a
button without a name, and `<p>Sum: <code>13</code>` as a paragraph that says "Sum:"."""

import re
from collections.abc import Sequence
from json.encoder import encode_basestring
from typing import Final

from browse_together.contract.cuts import shortened
from browser_service.host.reading.tree import CHOICES, CONTROLS, TICKED, VALUED, Node, Tree, without

_PHRASES: Final = frozenset(
    {
        *("text", "emphasis", "strong", "code", "mark", "time", "subscript", "superscript", "deletion", "insertion"),
    }
)
"""Roles of parts of a sentence: their words belong to the element that contains the sentence."""
_PLAIN: Final = _PHRASES | {"paragraph", "generic"}
_NAMED_BY_CONTENT: Final = (CONTROLS - VALUED) | {"heading"}
_UNSPACED: Final = ("subscript", "superscript")
_CLOSING: Final = re.compile(r"[,.;:!?)\]}%…]+(?!\w)")
_NAME_CHARACTERS: Final = 120


def folded(nodes: Tree) -> Tree:
    """Return the tree with the names and words in place. This changes its nodes."""
    return _Folding(nodes).tree()


class _Folding:
    """One pass over a tree, from the innermost elements outwards."""

    def __init__(self, nodes: Tree) -> None:
        self._nodes = nodes
        self._inner: list[list[int]] = [[] for _ in nodes]
        self._contents = [""] * len(nodes)
        """The words in each element, as many as fit into a name."""
        self._is_plain = [False] * len(nodes)
        """True for elements that contain only words."""
        self._dropped: set[int] = set()

    def tree(self) -> Tree:
        for index in range(len(self._nodes) - 1, -1, -1):
            node = self._nodes[index]
            if node.has_children:
                self._inner[index] = self._kept(index)
                self._join_phrases(index)
            self._name(index)
            if node.parent is not None:
                self._inner[node.parent].append(index)
        return without(self._nodes, self._dropped)

    def _kept(self, index: int) -> list[int]:
        """Return an element's children in page order. A checkbox or radio button without a ref is dropped if another
        with the same name has one."""
        inner = self._inner[index][::-1]
        shown = {each.role_and_name for i in (index, *inner) if (each := self._nodes[i]).role in TICKED and each.ref}
        twins = {i for i in inner if not self._nodes[i].ref and self._nodes[i].role_and_name in shown}
        self._dropped.update(twins)
        return [i for i in inner if i not in twins] if twins else inner

    def _join_phrases(self, index: int) -> None:
        """Join the parts of each sentence into one text. If an element contains nothing else, that becomes its own
        text."""
        kept: list[int] = []
        sentence: list[Node] = []
        for inner in self._inner[index]:
            each = self._nodes[inner]
            if each.role not in _PHRASES or each.has_children or each.marks:
                _write(sentence)
                sentence = []
            elif sentence:
                sentence.append(each)
                self._dropped.add(inner)
                continue
            else:
                sentence = [each]
            kept.append(inner)
        _write(sentence)
        node, self._inner[index] = self._nodes[index], kept
        if sentence and len(kept) == 1 and not node.text:
            node.text = "" if sentence[0].words == node.name else sentence[0].text
            self._drop_inner(index)
        node.has_children = bool(self._inner[index])

    def _drop_inner(self, index: int, kept: Sequence[int] = ()) -> list[int]:
        """Drop an element's descendants except those in `kept`. Returns the dropped ones in page order."""
        found, ahead = list[int](), [i for i in self._inner[index][::-1] if i not in kept]
        while ahead:
            found.append(inner := ahead.pop())
            ahead += self._inner[inner][::-1]
        self._dropped.update(found)
        self._inner[index], self._nodes[index].has_children = [*kept], bool(kept)
        return found

    def _name(self, index: int) -> None:
        node, inner = self._nodes[index], self._inner[index]
        is_plain = all(self._is_plain[i] for i in inner)
        if node.role in VALUED:
            self._give_value(index, is_plain=is_plain)
            self._contents[index] = node.name
            return
        self._is_plain[index] = is_plain and node.role in _PLAIN and not (node.marks or node.name)
        within = self._content_of(inner)
        content = node.label or within
        self._contents[index] = shortened(content, _NAME_CHARACTERS)
        is_named = node.role in _NAMED_BY_CONTENT or (inner and node.is_control)
        if not content or not is_named or (node.name and _flat(node.name) != _flat(within)):
            return
        pictures = [i for i in inner if self._nodes[i].role == "img" and node.name]
        is_plain = len(pictures) < len(inner) and all(self._is_plain[i] or i in pictures for i in inner)
        is_folded = is_plain and node.role in CONTROLS and len(content) <= _NAME_CHARACTERS
        if is_folded:
            self._drop_inner(index, pictures)
        if node.has_children and not is_folded:
            node.name, node.is_said_within = node.name or self._contents[index], True
        elif node.role in _NAMED_BY_CONTENT:
            node.name, node.text = content, ""

    def _give_value(self, index: int, *, is_plain: bool) -> None:
        """Give an editable part of the document its content as value, and a list its selected options."""
        node, inner = self._nodes[index], self._inner[index]
        if node.text or not inner:
            return
        if is_plain:
            said = (self._nodes[i].words for i in self._drop_inner(index))
            node.text = _text(" ".join(filter(None, said)))
        elif node.role in CHOICES:
            options = [*inner, *(each for i in inner for each in self._inner[i])]
            chosen = [self._nodes[i].label for i in options if "selected" in self._nodes[i].marks]
            node.text = _text(shortened(", ".join(chosen), _NAME_CHARACTERS))
        else:
            node.text = _text(shortened(self._content_of(inner), _NAME_CHARACTERS))
        node.is_said_within = node.has_children

    def _content_of(self, inner: list[int]) -> str:
        content = ""
        for words in filter(None, (self._contents[i] for i in inner)):
            content = f"{content} {words}" if content else words
            if len(content) > _NAME_CHARACTERS:
                break
        return content


def _write(sentence: list[Node]) -> None:
    """Write a sentence into its first part."""
    if sentence:
        first, said = sentence[0], list[str]()
        for part in sentence:
            words = part.label
            is_close = not said or part.role in _UNSPACED or _CLOSING.match(words)
            said.append(words if is_close else f" {words}")
        first.role, first.name, first.ref, first.text = "text", "", None, _text("".join(said))


def _flat(words: str) -> str:
    return "".join(words.split())


def _text(words: str) -> str:
    """Write words as the text of a node."""
    return encode_basestring(words) if words.startswith('"') else words
