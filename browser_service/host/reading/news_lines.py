"""Words what changed on a page, a line each, as short as a model can do with."""

from collections import Counter
from typing import Final

from browser_service.host.reading.outline import counted
from browser_service.host.reading.tree import CHOICES, CONTROLS, Node
from shared.cuts import shortened

_LINE_CHARACTERS: Final = 160
_MOST_PHRASES: Final = 12
_NOTATION: Final = ("[ref=", " | ")


def on_one_line(sign: str, nodes: list[Node]) -> str:
    """Return an element and all that is new in it as a line; "" if that is too long, or not clear."""
    head, *inner = nodes
    names = {node.name for node in inner if node.role in CONTROLS}
    if len(inner) > _MOST_PHRASES and head.role in CHOICES:
        inner = [*[node for node in inner if "selected" in node.marks][:1], *inner[:_MOST_PHRASES]]
    phrases = [_phrase(node) for node in inner if node.label and not (node.role == "text" and node.words in names)]
    phrases = [head.text, *phrases] if head.text and not (phrases and head.role in CHOICES) else phrases
    line = f"{sign} {head.brief()}{': ' if phrases else ''}{' | '.join(phrases)}"
    unclear = any(mark in node.label for node in inner for mark in _NOTATION)
    return "" if unclear or len(line) > _LINE_CHARACTERS else line


def _phrase(node: Node) -> str:
    """Write a part of a line: words by themselves, what can be acted on with its ref."""
    if node.role == "option" and not node.ref:  # of a list of choices, whose line says so
        return node.brief().removeprefix("option ")
    if node.is_control or node.role == "img":
        return f"{node.brief()}: {node.text}" if node.text else node.brief()
    return node.text or node.name


def cut_line(sign: str, nodes: list[Node]) -> str:
    head, *texts = nodes
    words = " | ".join(filter(None, [head.text, *(_phrase(node) for node in texts)]))
    return shortened(f"{sign} {head.brief()}{f': {words}' if words else ''}", _LINE_CHARACTERS)


def words_line(sign: str, ref: str | None, nodes: list[Node]) -> str:
    """Write words of an element that is nothing but these; its ref, since a script may make anything a button."""
    head = f"{sign} text [ref={ref}]" if ref else f"{sign} text"
    return shortened(f"{head}: {' | '.join(node.text or node.name for node in nodes)}", _LINE_CHARACTERS)


def counts_of(roles: Counter[str]) -> str:
    return ", ".join(counted(count, "part" if role == "generic" else role) for role, count in roles.most_common(3))
