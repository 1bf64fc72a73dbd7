"""Chooses the words by which it can be seen again that an act did what it should: what the page then announced, or its
new heading."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from browse_together.contract.cuts import cut
from browser_service.host.reading.news import Change
from browser_service.host.reading.tree import Node, Tree, descendants, first_words

_MOST: Final = 100
_MOST_MESSAGES: Final = 20
"""Each is compared with all that the client gave the page; a page may announce thousands."""
_OF_OUTCOME: Final = frozenset({"alert", "status"})
"""On a new page a dialog says nothing of the act: it may ask for consent once."""
_TOP: Final = "level=1"


def announced(changes: Iterable[Change]) -> Iterator[str]:
    """Yield the words of what appeared in a document and calls for attention, of the first of many."""
    new = (each for each in changes if each.announced and each.nodes and not each.lines[0].startswith("-"))
    for change in islice(new, _MOST_MESSAGES):
        yield cut(change.nodes[0].label or first_words(change.nodes), _MOST)


def outcome(before: Tree, after: Tree) -> list[str]:
    """Return what a page says after something was sent and was not there before: its announcements, else its heading.
    Both are short, or nothing: a long text is content."""
    if not before:
        return []
    known = {words for node in before for words in (node.words, node.name)}
    places = (index for index, node in enumerate(after) if node.role in _OF_OUTCOME)
    said = [_words(after, index) for index in islice(places, _MOST_MESSAGES)]
    new = [words for words in said if _is_short(words) and words not in known]
    heading = next((node for node in after if node.role == "heading" and _TOP in node.marks), None)
    if not new and heading is not None and not heading.has_children and _is_short(_own(heading)):
        new = [_own(heading)] if _own(heading) not in known else []
    return new


def _words(nodes: Tree, index: int) -> str:
    return nodes[index].words or first_words(descendants(nodes, index)) or nodes[index].name


def _own(heading: Node) -> str:
    return heading.words or heading.name


def _is_short(words: str) -> bool:
    return 0 < len(words) <= _MOST
