"""Says what a configuration's format must be able to do: hold servers by their names, and be edited in its text."""

from collections.abc import Mapping
from typing import Protocol

from pydantic import JsonValue

from shared.model import Json

Entry = Mapping[str, JsonValue]


class Malformed(Exception):
    """Raised if a text is not of its format; says where."""

    def __init__(self, problem: str, line: int = 1, column: int = 1) -> None:
        super().__init__(f"{problem} (line {line}, column {column})")


class Format(Protocol):
    """Reads and edits the text of a configuration. What is not edited stays as it is, comments and spaces included."""

    @property
    def name(self) -> str: ...

    def load(self, text: str) -> Json:
        """Return what the text says. Raises Malformed."""

    def put(self, text: str, section: str, name: str, entry: Entry) -> str:
        """Return the text with this entry in the section, instead of the one that has the name."""

    def drop(self, text: str, section: str, name: str) -> str:
        """Return the text without the entry of this name."""


def servers(kind: Format, text: str, section: str) -> Json:
    """Return the entries of a section by their names. Raises Malformed."""
    found = kind.load(text).get(section)
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise Malformed(f"{section!r} is no group of servers")
    return found


def with_entry(kind: Format, text: str, section: str, name: str, entry: Entry) -> str:
    """Return the text with this entry. Raises Malformed rather than changing anything else of what it says."""
    expected = {**kind.load(text), section: {**servers(kind, text, section), name: dict(entry)}}
    return _checked(kind, kind.put(text, section, name, entry), expected)


def without_entry(kind: Format, text: str, section: str, name: str) -> str:
    """Return the text without this entry, which it has. Raises Malformed likewise."""
    others = {key: value for key, value in servers(kind, text, section).items() if key != name}
    return _checked(kind, kind.drop(text, section, name), {**kind.load(text), section: others})


def _checked(kind: Format, text: str, expected: Json) -> str:
    if _without_empty(kind.load(text)) != _without_empty(expected):
        raise Malformed("it is written in a way in which one entry cannot be changed alone")
    return text


def _without_empty(content: Json) -> Json:
    """Leave empty groups out: some formats do not write them."""
    return {key: value for key, value in content.items() if value != {}}
