"""Words what changed on a page, a line each, as short as a model can do with."""

from collections import Counter
from typing import Final

from browser_service.host.reading.outline import counted
from browser_service.host.reading.tree import CHOICES, CONTROLS, Node
from shared.cuts import shortened

_LINE_CHARACTERS: Final = 160
_CHOICES_CHARACTERS: Final = 260
_NAME_CHARACTERS: Final = 40
_MOST_PHRASES: Final = 12
_NOTATION: Final = ("[ref=", " | ")


def on_one_line(sign: str, nodes: list[Node]) -> str:
    """Return an element and all that is new in it as a line; "" if that is too long, or not clear."""
    head, *inner = nodes
    names = {head.name, *(node.name for node in inner if node.role in CONTROLS)}
    if len(inner) > _MOST_PHRASES and head.role in CHOICES:
        inner = [*[node for node in inner if "selected" in node.marks][:1], *inner[:_MOST_PHRASES]]
    said = [node for node in inner if node.label and (node.is_control or not _is_said(node, head, names))]
    phrases = [_phrase(node) for node in said]
    phrases = [head.text, *phrases] if head.text and not (phrases and head.role in CHOICES) else phrases
    line = f"{sign} {head.brief()}{': ' if phrases else ''}{' | '.join(phrases)}"
    unclear = any(mark in node.label for node in inner for mark in _NOTATION)
    return "" if unclear or len(line) > _LINE_CHARACTERS else line


def _is_said(node: Node, head: Node, names: set[str]) -> bool:
    """Say if words are in a name that the line has."""
    return node.label in names or (head.is_said_within and node.label in head.name)


def choices_line(choices: list[Node]) -> tuple[str, list[Node], int]:
    """Return the names of choices as a line, the nodes whose refs it has, and how many choices found no room in it."""
    start = f"+ {counted(len(choices), choices[0].role)}: "
    named = " | ".join(f"{shortened(node.label, _NAME_CHARACTERS)} [ref={node.ref}]" for node in choices)
    if len(named) <= _CHOICES_CHARACTERS:
        return f"{start}{named}", choices, 0
    names, room = list[str](), _CHOICES_CHARACTERS
    for node in choices:
        names.append(shortened(node.label, _NAME_CHARACTERS))
        room -= len(names[-1]) + 3
        if room < 0:
            names.pop()
            break
    return f"{start}{' | '.join(names)}", [], len(choices) - len(names)


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
