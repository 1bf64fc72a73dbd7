"""Reads the text of a page by its headings: as sections, each with a handle, of blocks such as paragraphs and rows; and
converts HTML to markdown."""

import asyncio
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Self
from zlib import crc32

from browse_together.contract.errors import ElementNotFound, ScriptExecutionFailed, ValidationFailed, field_details
from browse_together.contract.next_calls import next_call

_MOST_CHARACTERS: Final = 2_000_000
"""The most HTML that is converted, in characters. A million takes about a second."""
_KEPT: Final = "\ufdd0"
"""Stands for a blank that begins a line and that people see: the library would drop it."""
_NAMES: Final = "(script|style|noscript|template)"
_UNSHOWN: Final = re.compile(rf"<(?:{_NAMES}\b|/{_NAMES}\s*>)", re.IGNORECASE)


async def markdown(html: str) -> str:
    """Convert HTML to markdown in a thread, because large pages take seconds."""
    return await asyncio.to_thread(_markdown, html)


def is_mostly_unshown(html: str) -> bool:
    """Return whether most of a document is invisible: its head, scripts and styles."""
    return 2 * sum(map(len, _shown(html.partition("</head>")[2] or html))) < len(html)


def _markdown(html: str) -> str:
    from browser_service.host.reading.markdown import converter  # noqa: PLC0415 - most services never need its library

    shown = "".join(_shown(html))
    try:
        converted = str(converter().convert(shown[:_MOST_CHARACTERS]))
    except RecursionError:
        raise ScriptExecutionFailed(
            "The page's elements are nested too deeply to be written as markdown.", hint='Read it as "format": "text".'
        ) from None
    cut = len(shown) - _MOST_CHARACTERS
    rest = f"\n\n(cut: {cut:,} characters of HTML follow)" if cut > 0 else ""
    lines = re.sub(f"{_KEPT}+(?=\n|$)", "", converted)
    return re.sub(r"\n{3,}", "\n\n", lines).strip().replace(_KEPT, " ") + rest


def _shown(html: str) -> Iterator[str]:
    """Yield the pieces of a document outside of scripts and the like. An element that is never closed is not left
    out."""
    tags = [*_UNSHOWN.finditer(html)]
    last_end = {tag[2].lower(): tag.start() for tag in tags if tag[2]}
    start, within = 0, ""
    for tag in tags:
        if not within and tag[1] and last_end.get(tag[1].lower(), -1) > tag.start():
            yield html[start : tag.start()]
            within = tag[1].lower()
        elif within and tag[2] and tag[2].lower() == within:
            start, within = tag.end(), ""
    yield html[start:]


_BETWEEN: Final = "\x1e"
_HANDLE: Final = re.compile(r"\d+([a-z]{2})")
LONG: Final = 4_800
"""Longest page, in characters, that a model gets in full. Of a longer page it gets this many."""
_LONG_SECTION: Final = 8_000
_MOST_HANDLES: Final = 12
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
_HEADING_CHARACTERS: Final = 100
_LISTED_CHARACTERS: Final = 2_400
_LEVELS: Final = range(6, 0, -1)


@dataclass(frozen=True)
class Section:
    """A heading and what is below it. Its blocks, from `start` to `end`, include those of lower headings."""

    handle: str
    level: int
    title: str
    start: int
    end: int

    @property
    def short(self) -> str:
        cut = self.title[:_HEADING_CHARACTERS]
        return cut if cut == self.title else f"{cut}…"

    @property
    def name(self) -> str:
        """Return the heading and its handle."""
        return f"{self.short} [{self.handle}]"


@dataclass(frozen=True)
class Article:
    """The blocks of a page, or of a part of it, its sections, and the place in its text where the main part begins."""

    blocks: Sequence[str]
    sections: Sequence[Section]
    main: int
    is_cut: bool

    def text(self) -> str:
        return "\n".join(self.blocks)

    def text_of(self, section: Section) -> str:
        return "\n".join(self.blocks[section.start : section.end])

    def within(self, outer: Section) -> list[Section]:
        """Return the sections in another."""
        return [section for section in self.sections if outer.start < section.start < outer.end]


class Found(NamedTuple):
    """All texts that the script found, joined into one so that secrets can be removed from it."""

    text: str
    start: int
    is_cut: bool
    unseen: int

    @classmethod
    def of(cls, given: Any) -> Self:  # Any: JSON, of a page
        """Parse the script's result. Raises TypeError, ValueError or LookupError for a result that no script of ours
        returns."""
        value = given["value"]
        text = _BETWEEN.join(f"{int(block[0])}{str(block[1:]).replace(_BETWEEN, ' ')}" for block in value["blocks"])
        return cls(text, int(value["start"]), bool(value["cut"]), int(given["unseen"]))

    def article(self, text: str) -> Article:
        """Make an article from the text after secrets were removed."""
        found = text.split(_BETWEEN) if text else []
        levels = [int(block[0]) for block in found]
        # A heading stays one line even where the page and Python disagree on line breaks.
        texts = [
            " ".join(block[1:].split()) if level else block[1:] for level, block in zip(levels, found, strict=True)
        ]
        blocks = [f"{'#' * level} {text}" if level else text for level, text in zip(levels, texts, strict=True)]
        main = sum(len(block) + 1 for block in blocks[: self.start])
        return Article(blocks, [*_sections(levels, texts)], main, self.is_cut)


def section(article: Article, wanted: str) -> Section:
    """Return the section with a handle, or with a heading. Raises ElementNotFound, and ValidationFailed for several."""
    found = _named(article.sections, wanted)
    if not found:
        raise ElementNotFound(
            "No section has this handle or heading now.",
            hint=f"See the headings: {next_call('content')}; or search: {next_call('content', query='...')}.",
            details=field_details("section"),
        )
    if len(found) > 1:
        handles = ", ".join(each.handle for each in found[:_MOST_HANDLES])
        raise ValidationFailed(
            f"{len(found)} sections have this heading, with the handles {handles}.",
            hint="Give one of the handles.",
            details=field_details("section"),
        )
    return found[0]


def _named(sections: Sequence[Section], wanted: str) -> list[Section]:
    """Return the sections with this handle. Without any, return those whose handle differs only in its number, because
    headings were added or removed since; else those with this heading."""
    exact = [section for section in sections if section.handle == wanted]
    check = _HANDLE.fullmatch(wanted)
    moved = [section for section in sections if check and section.handle.endswith(check[1])]
    title = " ".join(wanted.split()).casefold()
    return exact or moved or [section for section in sections if section.title.casefold() == title]


def budget(text: str, section: Section | None, room: int) -> int:
    """Return how many characters of a page or a section a model gets; of a long one it gets the beginning."""
    return min(room, LONG if section is None or len(text) > _LONG_SECTION else _LONG_SECTION)


def ways_on(page_id: str, sections: Sequence[Section]) -> str:
    """Name the calls that read a section or search the page."""
    by_query = f"what it says of something: {next_call('content', page_id=page_id, query='...')}"
    if not sections:
        return by_query
    handle = sections[min(1, len(sections) - 1)].handle
    return f"a section: {next_call('content', page_id=page_id, section=handle)}; {by_query}"


def _sections(levels: list[int], texts: list[str]) -> Iterator[Section]:
    """Yield a section for each heading, up to the next of its level or a higher one."""
    open_: list[tuple[int, int]] = []
    ends: dict[int, int] = {}
    for index, level in enumerate([*levels, 1]):
        while level and open_ and open_[-1][0] >= level:
            ends[open_.pop()[1]] = index
        if level:
            open_.append((level, index))
    starts = [index for index, level in enumerate(levels) if level]
    for number, start in enumerate(starts, 1):
        yield Section(f"{number}{_check(texts[start])}", levels[start], texts[start], start, ends[start])


def _check(title: str) -> str:
    """Return two letters computed from a heading's text. In a handle they show whether it belongs to this document."""
    rest = crc32(unicodedata.normalize("NFC", title).encode("utf-8", "replace"))
    return _LETTERS[rest % 26] + _LETTERS[rest // 26 % 26]


def headings(sections: Sequence[Section]) -> str:
    """List headings with their handles, down to the deepest level that fits; more are cut off."""
    deepest = next((level for level in _LEVELS if _size(sections, level) <= _LISTED_CHARACTERS), 1)
    highest = min((section.level for section in sections), default=1)
    listed = [section for section in sections if section.level <= max(deepest, highest)]
    lines = [f"{'  ' * (section.level - highest)}{section.name}" for section in listed]
    ends = [*_running(lines)]
    fitting = sum(end <= _LISTED_CHARACTERS for end in ends)
    more = len(sections) - fitting
    return "\n".join([*lines[:fitting], *([f"and {more} more headings"] if more else [])])


def _size(sections: Sequence[Section], deepest: int) -> int:
    return sum(len(section.name) + 2 * section.level for section in sections if section.level <= deepest)


def _running(lines: list[str]) -> Iterator[int]:
    end = 0
    for line in lines:
        end += len(line) + 1
        yield end
