"""Edits a JSON text in place: one entry is put or dropped, and every other character stays."""

import json
import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, NamedTuple

from pydantic import JsonValue

from browser_service.cli.install.documents import Entry, Malformed
from shared.model import Json

_STRING: Final = r'"(?:\\.|[^"\\])*+"'
_COMMENT: Final = re.compile(rf"{_STRING}|//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_TRAILING_COMMA: Final = re.compile(rf"{_STRING}|,(?=\s*[}}\]])", re.DOTALL)
_BYTE_ORDER_MARK: Final = "\ufeff"
_SPACE: Final = re.compile(r"[ \t\r\n]*")
_COMMA: Final = re.compile(r"\s*,")
_INDENT: Final = re.compile(r"\n([ \t]+)\S")
_DECODER: Final = json.JSONDecoder()


@dataclass(frozen=True)
class JsonText:
    """Reads and edits JSON; with `comments` also what editors call JSON with comments."""

    comments: bool = False
    name: str = field(default="JSON", init=False)

    def load(self, text: str) -> Json:
        plain = _Source(text, comments=self.comments).plain
        if not plain.strip():
            return {}
        try:
            value: JsonValue = json.loads(plain)
        except json.JSONDecodeError as error:
            raise Malformed(error.msg, error.lineno, error.colno) from None
        except RecursionError:
            raise Malformed("it is nested too deeply") from None
        if not isinstance(value, dict):
            raise Malformed("it is no object")
        return value

    def put(self, text: str, section: str, name: str, entry: Entry) -> str:
        source = self._source(text)
        root = source.object_at(0)
        group = root.find(section)
        if group is None:
            return source.inserted(root, section, {name: dict(entry)})
        if not source.is_object(group):
            return source.replaced(group, {name: dict(entry)})
        servers = source.object_at(group.value)
        own = servers.find(name)
        return source.replaced(own, dict(entry)) if own else source.inserted(servers, name, dict(entry))

    def drop(self, text: str, section: str, name: str) -> str:
        source = self._source(text)
        group = source.object_at(0).find(section)
        servers = source.object_at(group.value) if group else None
        own = servers.find(name) if servers else None
        return source.removed(servers, own) if servers and own else text

    def _source(self, text: str) -> "_Source":
        source = _Source(text, comments=self.comments)
        return source if source.plain.strip() else _Source(f"{text}{{}}\n", comments=self.comments)


class _Member(NamedTuple):
    """Says at which characters a member of an object starts, its value starts, and it ends."""

    key: str
    start: int
    value: int
    end: int


class _Object(NamedTuple):
    opening: int
    closing: int
    members: list[_Member]

    def find(self, key: str) -> _Member | None:
        """Return the last member of that name, which is the one that counts."""
        return next((member for member in reversed(self.members) if member.key == key), None)


@dataclass(frozen=True)
class _Source:
    """Holds a text, and the same with blanks for what is no JSON, so that each character keeps its place."""

    text: str
    comments: bool

    @cached_property
    def without_comments(self) -> str:
        text = self.text
        if text.startswith(_BYTE_ORDER_MARK):
            text = f" {text[1:]}"
        return _COMMENT.sub(_blank, text) if self.comments else text

    @cached_property
    def plain(self) -> str:
        return _TRAILING_COMMA.sub(_blank, self.without_comments) if self.comments else self.without_comments

    @property
    def newline(self) -> str:
        return "\r\n" if "\r\n" in self.text else "\n"

    @property
    def step(self) -> str:
        """Return what this text indents by."""
        found = _INDENT.search(self.text)
        return found[1] if found else "  "

    def is_object(self, member: _Member) -> bool:
        return self.plain[member.value] == "{"

    def object_at(self, at: int) -> _Object:
        opening = self._skip(at)
        members = []
        at = self._skip(opening + 1)
        while self.plain[at] != "}":
            key, end = _DECODER.raw_decode(self.plain, at)
            value = self._skip(self._skip(end) + 1)
            _, end = _DECODER.raw_decode(self.plain, value)
            members.append(_Member(key, at, value, end))
            at = self._skip(end)
            at = self._skip(at + 1) if self.plain[at] == "," else at
        return _Object(opening, at, members)

    def inserted(self, where: _Object, key: str, value: Json) -> str:
        """Return the text with one more member at an object's end."""
        text, last = self.text, where.members[-1] if where.members else None
        last_end = last.end if last else where.opening + 1
        end = max(last_end, len(text[: where.closing].rstrip()))
        has_comma = last is None or _COMMA.match(self.without_comments, last_end) is not None
        head = f"{text[:last_end]}{'' if has_comma else ','}{text[last_end:end]}"
        tail = text[where.closing :]
        comma = "," if last and has_comma else ""
        if self._is_in_one_line(where):
            space = " " if last else ""
            return f"{head}{space}{json.dumps(key)}: {_written(value)}{comma}{text[end : where.closing]}{tail}"
        base = self._indent(where.closing if "\n" in text[where.opening : where.closing] else where.opening)
        indent = self._indent(last.start) if last else f"{base}{self.step}"
        body = _written(value, self.step).replace("\n", f"{self.newline}{indent}")
        between = text[end : where.closing] if "\n" in text[end : where.closing] else f"{self.newline}{base}"
        return f"{head}{self.newline}{indent}{json.dumps(key)}: {body}{comma}{between}{tail}"

    def replaced(self, member: _Member, value: Json) -> str:
        old = self.text[member.value : member.end]
        body = _written(value, self.step if "\n" in old or "\n" in self.text.strip() else None)
        body = body.replace("\n", f"{self.newline}{self._indent(member.start)}")
        return f"{self.text[: member.value]}{body}{self.text[member.end :]}"

    def removed(self, where: _Object, member: _Member) -> str:
        """Return the text without a member of an object, and without the comma that parted it from the others."""
        text, place = self.text, where.members.index(member)
        if comma := _COMMA.match(self.without_comments, member.end):
            start, end = self._whole_lines(member.start, comma.end())
            return f"{text[:start]}{text[end:]}"
        if place > 0:
            before = self.without_comments.index(",", where.members[place - 1].end)
            start = max(before + 1, len(text[: member.start].rstrip()))
            return f"{text[:before]}{text[before + 1 : start]}{text[member.end :]}"
        start = max(where.opening + 1, len(text[: member.start].rstrip()))
        rest = text[member.end : where.closing]
        is_alone = start == where.opening + 1 and not rest.strip()
        return f"{text[:start]}{'' if is_alone else rest}{text[where.closing :]}"

    def _whole_lines(self, start: int, end: int) -> tuple[int, int]:
        """Return these ends of a piece of the text, moved to those of its lines if it has them to itself."""
        line = self.text.rfind("\n", 0, start) + 1
        following = self.text.find("\n", end)
        if following >= 0 and not self.text[line:start].strip() and not self.text[end:following].strip():
            return line, following + 1
        if self.plain[self._skip(end)] == "}":
            return len(self.text[:start].rstrip()), end
        while self.text[end] in " \t":
            end += 1
        return start, end

    def _is_in_one_line(self, where: _Object) -> bool:
        """Say if a member is added in the same line: where the others stand in one, or the whole text does."""
        if where.members:
            return "\n" not in self.text[where.opening : where.closing]
        whole = self.text.strip()
        return "\n" not in whole and len(whole) > len("{}")

    def _indent(self, at: int) -> str:
        line = self.text[self.text.rfind("\n", 0, at) + 1 :]
        return line[: len(line) - len(line.lstrip(" \t"))]

    def _skip(self, at: int) -> int:
        space = _SPACE.match(self.plain, at)
        return space.end() if space else at


def _written(value: JsonValue, step: str | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=step)


def _blank(found: re.Match[str]) -> str:
    """Return blanks instead of a comment or comma; a string stays."""
    return found[0] if found[0].startswith('"') else re.sub(r"[^\r\n]", " ", found[0])
