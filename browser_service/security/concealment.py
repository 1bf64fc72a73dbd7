"""Hides secrets in everything that leaves the service: texts, replies and files show their names instead."""

import base64
import html
import io
import json
import re
import zipfile
from collections.abc import Iterable, Iterator
from typing import Final
from urllib.parse import quote, quote_plus

from pydantic import JsonValue

from browser_service.security.disguises import squeezed, undisguised
from shared.cuts import BEYOND, Place
from shared.errors import ResourceExhausted

_LEAST_ENCODED: Final = 6
"""Shorter encoded forms would match too many unrelated texts."""
_LEAST_NUMBER: Final = 1_000
_LONGEST_CODE: Final = 8
_MOST_UNPACKED: Final = 500_000_000
_OF_PAGES: Final = frozenset({"value", "data", "body"})
"""Result fields with content made by pages and scripts, where a number can be a code."""
_BETWEEN: Final = r"[\W_]{1,20}"
_SEEN_THROUGH: Final = 2_000
"""Longer texts are searched only for encodings, because undoing disguises takes up to 10 ms for this many
characters."""
_PICTURES: Final = ("image/", "video/", "audio/")
_ZIP: Final = "application/zip"
_URI_SIGNS: Final = ";,/?:@&=+$-_.!~*'()#"
"""Characters that JavaScript's encodeURI leaves as they are."""

_MARKDOWN: Final = re.compile(r"[*_]")
"""Characters that Markdown escapes with a backslash."""

_NOT_IN_NAMES: Final = re.compile(r'[<>:"/\\|?*~]')
"""Characters that Chromium replaces by `_` in the name of a download."""

_IN_QUOTES: Final = re.compile(r"[\\']")
"""Characters that get a backslash between single quotes."""


class Concealment:
    """The texts to hide, in the encodings of pages and files; each is replaced by `«secret:NAME»`."""

    def __init__(self, appearances: Iterable[tuple[str, str]] = ()) -> None:
        """`appearances` are pairs of a secret's name and a text by which it appears."""
        known = [*appearances]
        shown = {form: f"«secret:{name}»" for name, text in known for form in _forms(text)}
        self._numbers: dict[float, str] = {
            int(text): f"«secret:{name}»" for name, text in known if text.isdecimal() and int(text) >= _LEAST_NUMBER
        }
        self._marks = dict(sorted(shown.items(), key=lambda pair: -len(pair[0])))
        self._whole = {
            text: (name, plain)
            for name, text in known
            if len(plain := squeezed(text)) >= _LEAST_ENCODED and not _is_code(text)
        }
        self._mark_bytes = {form.encode(): mark.encode() for form, mark in self._marks.items()}

    def finds(self, text: str) -> bool:
        return any(form in text for form in self._marks) or any(str(number) in text for number in self._numbers)

    def may_find(self, text: str) -> bool:
        """Return whether JSON may contain a secret, including one that a script disguised."""
        return self.finds(text) or any(f'"{name}":' in text for name in _OF_PAGES)

    def text(self, text: str) -> str:
        """Return a text without secrets."""
        for form, mark in self._marks.items():
            if form in text:
                text = text.replace(form, mark)
        return text

    def across(self, text: str, at: int) -> Place | None:
        """Return the first secret that begins before position `at` of a text and ends after it, or None."""
        found = []
        for form, mark in self._marks.items():
            known, first = form[:BEYOND], max(0, at - len(form) + 1)
            start = text.find(known, first, at + len(known) - 1)
            if start >= 0:
                found.append(Place(start, min(len(text), start + len(form)), mark))
        return min(found, default=None)

    def value(self, value: JsonValue, *, of_page: bool = False) -> JsonValue:
        """Return a JSON value without secrets, keys included. Numbers are searched only in values that pages made."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.value(item, of_page=of_page) for item in value]
        if isinstance(value, dict):
            return {self.text(key): self._item(key, item, of_page=of_page) for key, item in value.items()}
        return self._numbers.get(value, value) if of_page and isinstance(value, int | float) else value

    def _item(self, key: str, item: JsonValue, *, of_page: bool) -> JsonValue:
        """Return an object's item without secrets. If a page made it and it is a secret in disguise, the whole item
        goes, because no part of it could be named."""
        clean = self.value(item, of_page=of_page or key in _OF_PAGES)
        if of_page or key not in _OF_PAGES or not self._whole or not (name := self._disguised(clean)):
            return clean
        return f"«secret:{name}» in another form; what it stood in is left out"

    def _disguised(self, value: JsonValue) -> str | None:
        """Return the name of a secret that a value contains in pieces, backwards, letter by letter, as character codes
        or in another base."""
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        if len(text) > _SEEN_THROUGH:
            return None
        joined, plain = "".join(_strings(value)), squeezed(text)
        forms = undisguised([text, joined])
        for whole, (name, each) in self._whole.items():
            if whole in joined:
                return name
            # A plain match is hidden already. Of a page's words, only ones with signs between all letters count.
            if _apart(each).search(text) if each in plain else any(each in form for form in forms):
                return name
        return None

    def data(self, data: bytes, mime_type: str) -> bytes:
        """Return a file's bytes without secrets. Pictures stay as they are; in an archive, each file is searched.

        Raises ResourceExhausted for an archive that is too large to search."""
        if not self._marks or mime_type.startswith(_PICTURES):
            return data
        if mime_type == _ZIP or zipfile.is_zipfile(io.BytesIO(data)):
            return self._archive(data)
        for form, mark in self._mark_bytes.items():
            if form in data:
                data = data.replace(form, mark)
        return data

    def _archive(self, data: bytes) -> bytes:
        searched = io.BytesIO()
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(searched, "w", zipfile.ZIP_DEFLATED) as new:
                if sum(entry.file_size for entry in old.infolist()) > _MOST_UNPACKED:
                    raise ResourceExhausted(
                        "The archive is too large to be searched for secrets, and was dropped.",
                        hint="Record less: a shorter time, without pictures or bodies.",
                    )
                for entry in old.infolist():
                    kind = "image/" if entry.filename.endswith((".jpeg", ".jpg", ".png")) else "text/plain"
                    new.writestr(self.text(entry.filename), self.data(old.read(entry), kind))
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError):
            return data  # not an archive of ours, and unreadable for everybody
        return searched.getvalue()


def _strings(value: JsonValue) -> Iterator[str]:
    """Yield the texts of a JSON value in order, without keys."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item)


def _is_code(text: str) -> bool:
    """Return whether a text is only a few digits, which read backwards match too many other texts."""
    return text.isdecimal() and len(text) <= _LONGEST_CODE


def _apart(plain: str) -> re.Pattern[str]:
    """Return a pattern of these letters and digits, with 1 to 20 separators between any two."""
    return re.compile(_BETWEEN.join(map(re.escape, plain)), re.IGNORECASE)


def _forms(text: str) -> Iterator[str]:
    """Yield a text as pages, addresses and files spell it: plain, URL-encoded once and twice, in JSON, HTML, file
    names, base64 and hexadecimal."""
    yield text
    encoded = {
        *(" ".join(text.split()), _MARKDOWN.sub(r"\\\g<0>", text)),
        *(quote(text, safe=safe) for safe in ("", "/", _URI_SIGNS)),
        *(quote(quoted) for quoted in (quote(text, safe=""), quote(text, safe=_URI_SIGNS), quote_plus(text))),
        _NOT_IN_NAMES.sub("_", text),
        *(quote_plus(text), json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]),
        *(repr(text)[1:-1], _IN_QUOTES.sub(r"\\\g<0>", text)),
        *(html.escape(text), html.escape(text, quote=False), html.escape(text).replace("&#x27;", "&#39;")),
    }
    yield from (form for form in encoded if form not in {text, ""})
    yield from (form.replace("%2F", "%2f") for form in encoded if "%2F" in form)
    data = text.encode()
    others = {*_base64_forms(data), data.hex(), data.hex().upper(), text.upper(), text.lower()} - {text}
    yield from (form for form in others if len(form) >= _LEAST_ENCODED)


def _base64_forms(data: bytes) -> Iterator[str]:
    """Yield the part of the base64 text that does not depend on where the bytes stand in a larger value."""
    for shift in range(3):
        whole = base64.b64encode(bytes(shift) + data).decode()
        part = whole[-(-shift * 8 // 6) : (shift + len(data)) * 8 // 6]
        yield part
        yield part.replace("+", "-").replace("/", "_")
