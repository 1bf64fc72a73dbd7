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

_PLACE: Final = re.compile(r"(.*) \(at line (\d+), column (\d+)\)")


@dataclass(frozen=True)
class TomlText:
    name: str = field(default="TOML", init=False)

    def load(self, text: str) -> Json:
        try:
            return cast("Json", tomllib.loads(text))
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
                own.update(entry)
            else:
                group[name] = dict(entry)
            return tomlkit.dumps(document)

    def drop(self, text: str, section: str, name: str) -> str:
        with _editing(text, section) as (document, group):
            group.pop(name, None)
            return tomlkit.dumps(document)


@contextmanager
def _editing(text: str, section: str) -> Iterator[tuple[tomlkit.TOMLDocument, MutableMapping[str, JsonValue]]]:
    """Give the document and its section to edit. Raises Malformed for what tomlkit cannot take apart."""
    try:
        document = tomlkit.parse(text)
        yield document, cast("MutableMapping[str, JsonValue]", document.get(section, {}))
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
