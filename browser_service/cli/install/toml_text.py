"""Edits a TOML text: one entry is put or dropped, and what else is there stays, with its comments."""

import re
import tomllib
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, cast

import tomlkit
from pydantic import JsonValue
from tomlkit.exceptions import TOMLKitError

from browser_service.cli.install.documents import Entry, Malformed
from shared.model import Json

_HEADER: Final = re.compile(r"^[ \t]*\[", re.MULTILINE)
_LAST_GAP: Final = re.compile(r"(\r?\n)\r?\n\Z")
_PLACE: Final = re.compile(r"(.*) \(at line (\d+), column (\d+)\)")


@dataclass(frozen=True)
class TomlText:
    name: str = field(default="TOML", init=False)

    def load(self, text: str) -> Json:
        try:
            return cast("Json", tomllib.loads(text))  # its dates are no JSON, and clients have none
        except tomllib.TOMLDecodeError as error:
            if place := _PLACE.fullmatch(str(error)):
                raise Malformed(place[1], int(place[2]), int(place[3])) from None
            lines = text.splitlines() or [""]
            raise Malformed(str(error).removesuffix(" (at end of document)"), len(lines), len(lines[-1]) + 1) from None

    def put(self, text: str, section: str, name: str, entry: Entry) -> str:
        with _editing(text, section) as (document, group):
            if name not in group:
                added = f"{text}{_gap(text)}[{section}.{name}]\n{tomlkit.dumps(entry)}"
                if _is_valid(added):
                    return added
            if isinstance(own := group.get(name), MutableMapping):
                own.update({key: value for key, value in entry.items() if own.get(key) != value})
            else:
                group[name] = dict(entry)
            return _with_comments(text, tomlkit.dumps(document))

    def drop(self, text: str, section: str, name: str) -> str:
        expected = self.load(text)
        cast("Json", expected[section]).pop(name)  # it was found there
        cut = _without_tables(text, section, name)
        if _is_valid(cut) and {section: {}} | self.load(cut) == expected:
            return cut
        with _editing(text, section) as (document, group):
            group.pop(name, None)
            return _with_comments(text, tomlkit.dumps(document))


def _without_tables(text: str, section: str, name: str) -> str:
    """Return the text without an entry's tables, from their headers to the next ones; comments above those stay."""
    own = re.compile(
        rf"^[ \t]*\[[ \t]*{_key(section)}[ \t]*\.[ \t]*{_key(name)}[ \t]*(?:\.[^\]\n]*)?\][^\n]*\n?", re.MULTILINE
    )
    while found := own.search(text):
        following = _HEADER.search(text, found.end())
        end = following.start() if following else len(text)
        lines = text[found.end() : end].splitlines(keepends=True)
        last = max((place for place, line in enumerate(lines) if line.strip() and line.lstrip()[0] != "#"), default=-1)
        before, rest = text[: found.start()], "".join(lines[last + 1 :]) + text[end:]
        if not rest.strip() or not before or before.endswith(("\n\n", "\n\r\n")):
            rest = rest.lstrip("\r\n")
        text = (before if rest else _LAST_GAP.sub(r"\1", before)) + rest
    return text


def _key(name: str) -> str:
    return rf"[\"']?{re.escape(name)}[\"']?"


def _with_comments(text: str, edited: str) -> str:
    """Return the edited text if it has all comments of the other. Raises Malformed."""
    lost = [line for line in text.splitlines() if line.partition("#")[2].strip() not in edited]
    if lost:
        raise Malformed(f"it cannot be edited without losing {lost[0].strip()!r}")
    return edited


@contextmanager
def _editing(text: str, section: str) -> Iterator[tuple[tomlkit.TOMLDocument, MutableMapping[str, JsonValue]]]:
    """Give the document and its section to edit. Raises Malformed for what tomlkit cannot take apart."""
    try:
        document = tomlkit.parse(text)
        yield document, cast("MutableMapping[str, JsonValue]", document.get(section, {}))  # tomlkit's table is one
    except TOMLKitError as error:
        raise Malformed(f"it cannot be edited: {error}") from None


def _gap(text: str) -> str:
    """Return what parts a table from the text before it."""
    if not text.strip():
        return ""
    return "\n" if text.endswith("\n") else "\n\n"


def _is_valid(text: str) -> bool:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True
