"""Edits the text of a client's configuration: one server is added or removed, and all else stays as written.

Each format proposes simple edits, the smallest change first. The first proposal with exactly the wanted content is
used. If there is none, a person must make the change.
"""

import json
import re
import tomllib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import suppress
from typing import ClassVar, Final, cast

import tomlkit
from pydantic import JsonValue
from tomlkit.exceptions import TOMLKitError

from shared.json_lines import strict
from shared.model import Json

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
        servers = {key: value for key, value in self.servers(text, section).items() if key != name}
        if entry is not None:
            servers[name] = dict(entry)
        expected = _without_empty({**self._load(text), section: servers})
        for proposed in self._added(text, section, name, entry) if entry else self._removed(text, section, name):
            with suppress(Malformed):
                if _without_empty(self._load(proposed)) == expected:
                    return proposed
        raise NotEditable

    @abstractmethod
    def _load(self, text: str) -> Json:
        """Parse the text. Raises Malformed."""

    @abstractmethod
    def _added(self, text: str, section: str, name: str, entry: Entry) -> Iterator[str]: ...

    @abstractmethod
    def _removed(self, text: str, section: str, name: str) -> Iterator[str]: ...


class JsonText(Format):
    """JSON, or with `comments` what editors call JSON with comments."""

    name = "JSON"

    def __init__(self, *, comments: bool = False) -> None:
        self._comments = comments

    def _load(self, text: str) -> Json:
        plain = self._plain(text)
        try:
            value: JsonValue = json.loads(plain, object_pairs_hook=strict.distinct) if plain.strip() else {}
        except json.JSONDecodeError as error:
            raise Malformed(f"{error.msg} (line {error.lineno}, column {error.colno})") from None
        except (RecursionError, ValueError) as error:
            raise Malformed("it is nested too deeply" if isinstance(error, RecursionError) else str(error)) from None
        if not isinstance(value, dict):
            raise Malformed("it is no object")
        return value

    def _added(self, text: str, section: str, name: str, entry: Entry) -> Iterator[str]:
        text = text if self._plain(text).strip() else f"{text}{{}}\n"
        servers = self.servers(text, section)
        if isinstance(own := servers.get(name), dict):  # usually, the program has moved
            yield text.replace(json.dumps(own.get("command")), json.dumps(entry["command"]), 1)
        for opening, member, closing in _members(text, section, {name: dict(entry)}):
            if found := re.search(opening, text):
                before, after = text[: found.end()], text[found.end() :]
                is_first = after.lstrip().startswith("}")
                yield f"{before}{member}{closing}{after.lstrip()}" if is_first else f"{before}{member},{after}"
        yield from self._anew(text, {section: {**servers, name: dict(entry)}})

    def _removed(self, text: str, section: str, name: str) -> Iterator[str]:
        servers = self.servers(text, section)
        entry = servers.pop(name)
        for _, member, closing in reversed([*_members(text, section, {name: entry})]):
            for written in (f"{member},", f",{member}", f"{member}{closing}"):
                yield text.replace(written, "", 1)
        yield from self._anew(text, {section: servers})

    def _anew(self, text: str, changed: Json) -> Iterator[str]:
        """Propose rewriting the whole text, unless comments would be lost."""
        if self._plain(text) == text:
            end = "\n" if text.endswith("\n") else ""
            whole = json.dumps({**self._load(text), **changed}, indent=_step(text), ensure_ascii=False)
            yield f"{whole}{end}".replace("\n", _line_end(text))

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

    def _added(self, text: str, section: str, name: str, entry: Entry) -> Iterator[str]:
        yield text + _table(text, section, name, entry)
        with suppress(TOMLKitError):
            document = tomlkit.parse(text)
            own = _group(document, section).setdefault(name, {})
            own.update({key: value for key, value in entry.items() if own.get(key) != value})
            yield from _with_comments(text, tomlkit.dumps(document))

    def _removed(self, text: str, section: str, name: str) -> Iterator[str]:
        entry = cast("Json", self.servers(text, section)[name])  # our own earlier form
        yield text.replace(_table(text, section, name, entry), "", 1)
        with suppress(TOMLKitError):
            document = tomlkit.parse(text)
            del _group(document, section)[name]
            yield from _with_comments(text, tomlkit.dumps(document))


def _without_empty(content: Json) -> Json:
    """Drop empty groups, which some formats do not write."""
    return {key: value for key, value in content.items() if value != {}}


def _members(text: str, section: str, servers: Json) -> Iterator[tuple[str, str, str]]:
    """Yield the servers as members of the section, and the section as a member: a pattern for the text before, the
    member, and the text after a sole member. Yields nothing for a one-line text."""
    if (step := _step(text)) is None:
        return
    within = (rf'"{re.escape(section)}"\s*:\s*\{{', step, servers)
    for opening, indent, members in (within, (r"\{", "", {section: servers})):
        line = f"{_line_end(text)}{indent}"
        written = json.dumps(members, ensure_ascii=False, indent=step)
        yield opening, written[1:-2].replace("\n", line), line


def _step(text: str) -> str | None:
    """Return a text's indentation; None if it is on one line."""
    found = _INDENT.search(text)
    return found[1] if found else None if len(text.strip()) > len("{}") else "  "


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _blank(found: re.Match[str]) -> str:
    """Return blanks instead of a comment or comma; keep a string."""
    return found[0] if found[0].startswith('"') else re.sub(r"[^\r\n]", " ", found[0])


def _table(text: str, section: str, name: str, entry: Entry) -> str:
    """Return an entry in the form for the end of a text."""
    gap = "" if not text.strip() else "\n" if text.endswith("\n") else "\n\n"
    return f"{gap}[{section}.{name}]\n{tomlkit.dumps(entry)}"


def _group(document: tomlkit.TOMLDocument, section: str) -> MutableMapping[str, dict[str, JsonValue]]:
    return cast("MutableMapping[str, dict[str, JsonValue]]", document[section])  # tomlkit's tables are mappings


def _with_comments(text: str, edited: str) -> Iterator[str]:
    """Propose the edited text if it has all comments of the original."""
    if all(line.partition("#")[2].strip() in edited for line in text.splitlines()):
        yield edited
