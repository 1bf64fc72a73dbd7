"""Edits the text of a client's configuration: one server is added or removed, and all else stays.

Each format proposes edits. The first one with exactly the wanted content is used. If there is none, a person must make
the change: so it is with comments in JSON.
"""

import json
import re
import tomllib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import suppress
from decimal import Decimal
from typing import ClassVar, Final, cast

import tomlkit
from pydantic import JsonValue
from tomlkit.exceptions import TOMLKitError

from browse_together.contract.json_lines import strict
from browse_together.contract.model import Json

Entry = Mapping[str, JsonValue]

_STRING: Final = r'"(?:\\.|[^"\\])*+"'
_COMMENT: Final = re.compile(rf"{_STRING}|//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_TRAILING_COMMA: Final = re.compile(rf"{_STRING}|,(?=\s*[}}\]])", re.DOTALL)
_INDENT: Final = re.compile(r"\n([ \t]+)\S")


class Malformed(Exception):
    """The text is not of its format. The message says where."""


class NotEditable(Exception):
    """The text can be read, but not changed without losing something."""


class Format(ABC):
    """A configuration format with servers, by name, in a section."""

    name: ClassVar[str]

    def servers(self, text: str, section: str) -> Json:
        """Return a section's entries by name. Raises Malformed."""
        found = self._load(text).get(section)
        if not isinstance(found, dict | None):
            raise Malformed(f"{section!r} is no group of servers")
        return found or {}

    def edited(self, text: str, section: str, name: str, entry: Entry | None) -> str:
        """Return the text with this entry for the server, or without the server. Raises Malformed, NotEditable."""
        servers = self.servers(text, section)
        if entry is None:
            servers.pop(name, None)
        else:
            servers[name] = dict(entry)
        whole = {**self._load(text), section: servers}
        if not servers:
            del whole[section]
        for proposed in self._proposed(text, whole, section, name):
            with suppress(Malformed):
                if _without_empty(self._load(proposed)) == _without_empty(whole):
                    return proposed
        raise NotEditable

    def says_same(self, text: str, other: str) -> bool:
        """Return whether two texts have the same content, apart from empty groups."""
        try:
            return _without_empty(self._load(text)) == _without_empty(self._load(other))
        except Malformed:
            return False

    @abstractmethod
    def _load(self, text: str) -> Json:
        """Parse the text. Raises Malformed."""

    @abstractmethod
    def _proposed(self, text: str, whole: Json, section: str, name: str) -> Iterator[str]:
        """Yield texts that may have the content `whole`, in which the section has the server or has it no more."""


class JsonText(Format):
    """JSON, or with `comments` what editors call JSON with comments."""

    name = "JSON"

    def __init__(self, *, comments: bool = False) -> None:
        self._comments = comments

    def _load(self, text: str) -> Json:
        plain = self._plain(text)
        try:
            loaded = json.loads(plain, parse_float=_exact, object_pairs_hook=strict.distinct) if plain.strip() else {}
            value: JsonValue = loaded
        except json.JSONDecodeError as error:
            raise Malformed(f"{error.msg} (line {error.lineno}, column {error.colno})") from None
        except (RecursionError, ValueError) as error:
            raise Malformed("it is nested too deeply" if isinstance(error, RecursionError) else str(error)) from None
        if not isinstance(value, dict):
            raise Malformed("it is no object")
        return value

    def _proposed(self, text: str, whole: Json, section: str, name: str) -> Iterator[str]:  # noqa: ARG002 - all is written
        if self._plain(text) == text:  # otherwise comments would be lost
            end = "\n" if text.endswith("\n") or not text else ""
            written = json.dumps(whole, indent=_step(text), ensure_ascii=False)
            yield f"{written}{end}".replace("\n", "\r\n" if "\r\n" in text else "\n")

    def _plain(self, text: str) -> str:
        """Return the text with blanks instead of everything that is not JSON, so that all other characters keep their
        positions."""
        text = text.replace("\ufeff", " ", 1) if text.startswith("\ufeff") else text
        return _TRAILING_COMMA.sub(_blank, _COMMENT.sub(_blank, text)) if self._comments else text


class TomlText(Format):
    name = "TOML"

    def _load(self, text: str) -> Json:
        try:
            return cast("Json", tomllib.loads(text))  # TOML dates are no JSON, but clients use none
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            raise Malformed(str(error)) from None

    def _proposed(self, text: str, whole: Json, section: str, name: str) -> Iterator[str]:
        entry = cast("dict[str, Json]", whole.get(section, {})).get(name)  # as it was made
        if entry is not None:
            yield text + _table(text, section, name, entry)
        else:  # our own earlier form
            yield text.replace(_table(text, section, name, cast("Json", self.servers(text, section)[name])), "", 1)
        with suppress(TOMLKitError):
            document = tomlkit.parse(text)
            group = cast("MutableMapping[str, Json]", document[section])  # tomlkit's tables are mappings
            if entry is None:
                del group[name]
            else:
                own = group.setdefault(name, {})
                own.update({key: value for key, value in entry.items() if own.get(key) != value})
            edited = tomlkit.dumps(document)
            if all(line.partition("#")[2].strip() in edited for line in text.splitlines()):  # no comment is lost
                yield edited


def _without_empty(content: Json) -> Json:
    """Drop empty groups, which some formats do not write."""
    return {key: value for key, value in content.items() if value != {}}


def _exact(text: str) -> float:
    """Return a number that is written again with the same value. Raises ValueError for others."""
    value = float(text)
    if Decimal(text) != Decimal(repr(value)):
        raise ValueError(f"the number {text[:40]} cannot be written again as it is")
    return value


def _step(text: str) -> str | None:
    """Return a text's indentation; None if it is on one line."""
    found = _INDENT.search(text)
    return found[1] if found else None if len(text.strip()) > len("{}") else "  "


def _blank(found: re.Match[str]) -> str:
    """Return blanks instead of a comment or comma; keep a string."""
    return found[0] if found[0].startswith('"') else re.sub(r"[^\r\n]", " ", found[0])


def _table(text: str, section: str, name: str, entry: Entry) -> str:
    """Return an entry in the form for the end of a text."""
    gap = "" if not text.strip() else "\n" if text.endswith("\n") else "\n\n"
    return f"{gap}[{section}.{name}]\n{tomlkit.dumps({key: _inline(value) for key, value in entry.items()})}"


def _inline(value: JsonValue) -> object:
    if not isinstance(value, dict):
        return value
    table = tomlkit.inline_table()
    table.update(value)
    return table
