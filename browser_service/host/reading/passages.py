"""Finds the passages of a page that are about a question, in any language, by the BM25 rank of their words."""

import math
import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from browser_service.host.reading.articles import Article, Section

_PASSAGE_CHARACTERS: Final = 500
_MOST_CHARACTERS: Final = 9_000
"""Maximum length of the passages for one question, over all pages of the reply."""
_TOLD_BYTES: Final = 2_400
_LEAST_SHARE: Final = 0.3
"""A passage below this share of the best rank is not about the question."""
_SATURATION: Final = 1.2
_LENGTH_WEIGHT: Final = 0.75
_PATH_HEADINGS: Final = 2
_SENTENCE_END: Final = re.compile(r"(?<=[.!?…])\s+|(?<=[\u3002\uff01\uff1f])|\n")
_MARKS: Final = r"\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0900-\u0903\u093a-\u094f\u0981-\u0dff"
_UNSPACED: Final = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
    r"\uf900-\ufaff\U00020000-\U0003ffff"
)
"""The letters of scripts that write words without spaces, or with endings attached."""
_WORDS: Final = re.compile(rf"([{_UNSPACED}]+)|((?:(?![{_UNSPACED}])[\w{_MARKS}])+)")
_ACCENTS: Final = re.compile(r"[\u0300-\u036f]")
_LEAST_STEM: Final = 4
_ENDING_CHARACTERS: Final = 3
_ENDING_WEIGHT: Final = 0.7
_MOST_WORDS: Final = 60
_MOST_FORMS: Final = 30


@dataclass(frozen=True)
class Passage:
    """A piece of the text, with the innermost headings above it."""

    text: str
    path: tuple[Section, ...]

    @property
    def heading(self) -> str:
        return " > ".join([*(each.short for each in self.path[:-1]), *(each.name for each in self.path[-1:])])

    def words(self) -> Iterator[str]:
        """Yield its words, and those of its headings."""
        return words("\n".join([*(section.short for section in self.path), self.text]))


def about(article: Article, question: str) -> list[str]:
    """Return the passages about a question, best first, each below its headings. A long article takes long: call this
    in a thread."""
    found: list[str] = []
    room, last = _MOST_CHARACTERS, ""
    for passage in _ranked([*_passages(article)], question):
        heading = passage.heading
        text = passage.text if heading in {last, ""} else f"## {heading}\n{passage.text}"
        room, last = room - len(text), heading
        if room < 0 and found:
            break
        found.append(text)
    return found


def budget(found: Sequence[str]) -> int:
    """Return the length of the passages that come first: as many whole ones as fit, at least one."""
    size = characters = 0
    for passage in found:
        size += len(passage.encode("utf-8", "replace")) + 1
        if characters and size > _TOLD_BYTES:
            break
        characters += len(passage) + 1
    return characters


def _ranked(passages: Sequence[Passage], question: str) -> list[Passage]:
    """Return the passages whose rank is close enough to the best, best first."""
    ranks = _ranks([Counter(passage.words()) for passage in passages], [*dict.fromkeys(words(question))])
    least = max(ranks, default=0) * _LEAST_SHARE
    order = sorted(range(len(passages)), key=lambda number: (-ranks[number], number))
    return [passages[number] for number in order if ranks[number] > 0 and ranks[number] >= least]


def words(text: str) -> Iterator[str]:
    """Yield the words of a text in a comparable form. Text of scripts without spaces gives pairs of letters."""
    plain = _ACCENTS.sub("", unicodedata.normalize("NFKD", text.casefold()))
    for run, word in _WORDS.findall(unicodedata.normalize("NFKC", plain)):
        if word:
            yield word
        elif len(run) == 1:
            yield run
        else:
            yield from map("".join, pairwise(run))


def _ranks(counts: Sequence[Counter[str]], asked: list[str]) -> list[float]:
    """Return the BM25 rank of each passage."""
    where: dict[str, list[int]] = {}
    for number, count in enumerate(counts):
        for word in count:
            where.setdefault(word, []).append(number)
    vocabulary = sorted(where)
    lengths = [count.total() for count in counts]
    usual = sum(lengths) / max(1, len(lengths))
    ranks = [0.0] * len(counts)
    for word in asked[:_MOST_WORDS]:
        times = {number: 1.0 * counts[number][word] for number in where.get(word, ())}
        for form in _forms(word, vocabulary):
            for number in where.get(form, ()):
                times[number] = times.get(number, 0) + _ENDING_WEIGHT * counts[number][form]
        rarity = math.log(1 + (len(counts) - len(times) + 0.5) / (len(times) + 0.5))
        for number, often in times.items():
            length = 1 - _LENGTH_WEIGHT + _LENGTH_WEIGHT * lengths[number] / usual
            ranks[number] += rarity * often * (_SATURATION + 1) / (often + _SATURATION * length)
    return ranks


def _forms(word: str, vocabulary: list[str]) -> list[str]:
    """Return words of the page that may be this one with another short ending, such as kettles for kettle."""
    if len(word) < _LEAST_STEM:
        return []
    first = bisect_right(vocabulary, word)
    longer = vocabulary[first : first + _MOST_FORMS]
    shorter = [word[:-cut] for cut in range(1, _ENDING_CHARACTERS + 1) if len(word) - cut >= _LEAST_STEM]
    return [
        *shorter,
        *(form for form in longer if form.startswith(word) and len(form) - len(word) <= _ENDING_CHARACTERS),
    ]


def _passages(article: Article) -> Iterator[Passage]:
    """Yield pieces of about equal length: short blocks of a section are joined, long blocks are split into
    sentences."""
    begins = {section.start: section for section in article.sections}
    title = _title(article.sections)
    open_: list[Section] = []
    piece = ""
    for block, text in enumerate(article.blocks):
        parts = [*_parts(text)] if block not in begins else []
        for part in parts or [""]:
            if piece and (not part or len(piece) + len(part) > _PASSAGE_CHARACTERS):
                yield Passage(piece, _path(open_, title))
                piece = ""
            piece = f"{piece}\n{part}" if piece else part
        if section := begins.get(block):
            open_ = [*(outer for outer in open_ if outer.end > block), section]
    if piece:
        yield Passage(piece, _path(open_, title))


def _title(sections: Sequence[Section]) -> Section | None:
    """Return the heading that contains all others, if there is one. It does not distinguish passages."""
    inner = sections[1:]
    return sections[0] if inner and all(section.end <= sections[0].end for section in inner) else None


def _path(around: Sequence[Section], title: Section | None) -> tuple[Section, ...]:
    """Return the innermost headings around a passage. The page's title is left out if there is any other."""
    inner = around[1:] if around[0:1] == [title] and len(around) > 1 else around
    return (*inner[-_PATH_HEADINGS:],)


def _parts(text: str) -> Iterator[str]:
    """Yield a block, or, if it is long, groups of its sentences. A sentence that is too long is cut."""
    if len(text) <= _PASSAGE_CHARACTERS:
        yield text
        return
    part = ""
    for sentence in _SENTENCE_END.split(text):
        if part and len(part) + len(sentence) >= _PASSAGE_CHARACTERS:
            yield part
            part = ""
        part = f"{part} {sentence}" if part else sentence
        while len(part) > _PASSAGE_CHARACTERS:
            yield part[:_PASSAGE_CHARACTERS]
            part = part[_PASSAGE_CHARACTERS:]
    if part:
        yield part
