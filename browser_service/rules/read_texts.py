"""Remembers what one chat read on pages, by origin, and finds it again in what the chat is about to send.

Of a text it keeps what is telling: codes, numbers, addresses of people, and runs of a few words. Single ordinary words
are in too many texts. Where something was read that is not kept, because it was too much or no text, the origin is
`unkept`, and any text may come from there."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from browser_service.security.disguises import squeezed, undisguised

MOST_SENT: Final = 100_000
"""What is longer is not compared."""
_MOST_PIECES: Final = 20_000
_MOST_OF_CHAT: Final = 60_000
_MOST_ORIGINS: Final = 300
_MOST_TEXT: Final = 600_000
_GRAM: Final = 4
_LEAST_CODE: Final = 6
_LEAST_RUN: Final = 14
_LONGEST_RUN: Final = 60
"""Bounds what is compared of a run of words: who sends so much of it sends it."""
_RUN_WORDS: Final = range(3, 6)
_MOST_WORD: Final = 2_000
_TAIL: Final = 300
_SHORT: Final = 64
_NAMED: Final = 3
_WORD: Final = re.compile(r"\w+")
_CHUNK: Final = re.compile(r"[^\s\"'<>()\[\]{},;«»“”]+")
_PLAIN_URL: Final = re.compile(r"[^\s\"'<>()\[\]{}|\\^`,;\x00-\x20]+")
_BASED: Final = re.compile(r"[A-Za-z0-9+/_=-]{14,400}")
_MOST_BASED: Final = 200
_AFTER_HOST: Final = re.compile(r"[/?#].*", re.DOTALL)
_PARTS: Final = re.compile(r"[/?&=#:|]+")
_NAMES: Final = re.compile(r"(?<=[?&#])[A-Za-z_]{1,20}=")
"""Matches the names of an address's parameters: what is between two values is no part of what they say together."""
_NUMBERS: Final = re.compile(r"\d[\d .,/()-]*\d")
_MAIL: Final = re.compile(r"[\w.+-]{1,64}@[\w.-]{3,190}")
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_CASES: Final = re.compile(r"[a-z][A-Z]")
_SIGNS: Final = re.compile(r"[^\W\d_][^\w\s'.,:/\u2019-]+\w")
_DOTS: Final = re.compile(r"\s{0,4}[\[({]\s{0,4}(?:dot|\.)\s{0,4}[\])}]\s{0,4}|\s{1,4}dot\s{1,4}", re.IGNORECASE)
"""Matches a dot in disguise, among a bounded number of spaces: a page may have a hundred thousand in a row."""


class Piece(NamedTuple):
    """Is something telling that was read: how it is shown, and how much of it gives it away."""

    shown: str
    enough: int


class Found(NamedTuple):
    """Says that a text has something that was read, and where."""

    shown: str
    origins: frozenset[str]
    plains: frozenset[str] = frozenset()


@dataclass
class ReadTexts:
    """Holds what one chat read and sent, and the origins that it named by itself or that a person allowed."""

    unkept: set[str] = field(default_factory=set)
    named: set[str] = field(default_factory=set)
    _pieces: dict[str, Piece] = field(default_factory=dict)
    _origins: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """Has where each piece was read."""
    _counts: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    _codes: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """Has the codes by each of their runs of four characters."""
    _runs: defaultdict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    """Has the lengths of the runs of words by how they begin."""
    _passed_on: set[str] = field(default_factory=set)
    """Has what the chat sent of what it read, even to where it is from: a page may show it again."""
    _own: set[str] = field(default_factory=set)
    """Has what the chat sent before it read it anywhere."""
    _text: str = ""
    _text_as_read: str = ""
    _noted: set[int] = field(default_factory=set)
    _tails: dict[str, str] = field(default_factory=dict)
    """Has the short texts that went to each origin, one after the other: a secret may go in pieces."""

    @property
    def has_read(self) -> bool:
        return bool(self._counts or self.unkept)

    @property
    def weight(self) -> int:
        """Return how much is remembered, about in bytes."""
        return 200 * len(self._pieces) + 2 * len(self._text)

    # --- read --------------------------------------------------------------------------------------------------------

    def note(self, origin: str, text: str, echoed: str = "") -> None:
        """Remember a text that was read at an origin. What the call itself had said (`echoed`, squeezed) was not read
        there: errors and replies repeat it."""
        if not text.strip() or hash((origin, text)) in self._noted:
            return
        if len(self._counts) >= _MOST_ORIGINS and origin not in self._counts:
            origin = ""  # which is nowhere, so that it is free nowhere
        self._counts[origin] += 0
        room = len(self._noted) < _MOST_PIECES and len(self._text) + len(text) <= _MOST_TEXT
        if room:
            self._noted.add(hash((origin, text)))
            self._text += f"\n{text.casefold()}"
            self._text_as_read += f"\n{text}"
        else:
            self.unkept.add(origin)
        for plain, piece, is_code in _pieces(text):
            if plain not in echoed:
                self._keep(origin, plain, piece, is_code=is_code)

    def _keep(self, origin: str, plain: str, piece: Piece, *, is_code: bool) -> None:
        if plain in self._own or origin in self._origins.get(plain, ()):
            return
        if self._counts[origin] >= _MOST_PIECES or len(self._pieces) >= _MOST_OF_CHAT:
            self.unkept.add(origin)
            return
        self._counts[origin] += 1
        self._origins[plain].add(origin)
        if plain in self._pieces:
            return
        self._pieces[plain] = piece
        if is_code:
            for gram in _grams(plain):
                self._codes[gram].add(plain)
        else:
            self._runs[plain[:_LEAST_CODE]].add(len(plain))

    def has_shown(self, url: str) -> bool:
        """Return whether a page showed the URL just so. What could be several texts of the page in a row is none."""
        rest = url.casefold().partition("://")[2]
        return bool(_PLAIN_URL.fullmatch(rest)) and any(form in self._text for form in (rest, rest.removesuffix("/")))

    def has_made(self, url: str, found: Iterable[Found]) -> bool:
        """Return whether a URL that a page shows may be the chat's own work: what it has of what was read, the chat had
        sent before. Where not all is kept that was read, it is enough that it sent a part of the URL."""
        if not all(self._passed_on.isdisjoint(each.plains) for each in found):
            return True
        parts = [plain for part in _values(url) if len(plain := squeezed(part)) >= _GRAM] if self.unkept else []
        return any(part in tail for part in parts for tail in self._tails.values())

    def has_mentioned(self, host: str) -> bool:
        """Return whether a page named the host, if only in disguise, before the chat did. Where not all text is kept,
        each may have been."""
        if len(self._text) + _SHORT > _MOST_TEXT:
            return True
        texts = {self._text, _DOTS.sub(".", self._text)}
        labels = host.split(".")
        above = {".".join(labels[at:]) for at in range(len(labels) - 1)}
        forms = {host, host[::-1], *above, *(each[::-1] for each in above)}
        if any(form in text for form in forms for text in texts):
            return True
        spelled = self._spelled()
        return any(squeezed(each) in spelled for each in {host, *above})

    def _spelled(self) -> str:
        """Return what the long words say that are written in some base."""
        words = dict.fromkeys(word for word in _BASED.findall(self._text_as_read))
        return "\n".join(form for word in [*words][-_MOST_BASED:] for form in undisguised([word]))

    # --- about to be sent --------------------------------------------------------------------------------------------

    def found_in(self, texts: Iterable[str], towards: str) -> list[Found]:
        """Return what the texts have of what was read, also together with those that went the same way before."""
        given = [text for text in texts if text]
        if not given:
            return []
        forms = undisguised(given)
        joined, tail = squeezed("".join(part for text in given for part in _values(text))), self._tails.get(towards, "")
        forms |= {joined, squeezed("".join(given)), joined[::-1], *undisguised(["".join(given)])}
        if tail:
            forms |= {tail + joined, joined + tail, (tail + joined)[::-1], *undisguised([tail + "".join(given)])}
        plains = {plain for form in forms for plain in self._found(form)}
        by_origins: defaultdict[frozenset[str], list[str]] = defaultdict(list)
        for plain in sorted(plains):
            by_origins[frozenset(self._origins[plain])].append(plain)
        found = [Found(self._pieces[each[-1]].shown, at, frozenset(each)) for at, each in by_origins.items()]
        if self.unkept:
            found.append(Found("", frozenset(self.unkept) if len(self.unkept) == 1 else frozenset()))
        return found

    @property
    def tails(self) -> dict[str, str]:
        """Return what went to each origin lately, for `take_back`."""
        return dict(self._tails)

    def take_back(self, tails: dict[str, str]) -> None:
        """Forget what was not sent after all, because it was refused."""
        self._tails = tails

    def pass_on(self, found: Iterable[Found]) -> None:
        """Remember what was sent of what was read."""
        self._passed_on.update(plain for each in found for plain in each.plains)

    def sent(self, texts: Iterable[str], towards: str) -> None:
        """Remember what was sent, for what follows, and what of it is the chat's own."""
        given = [text for text in texts if text]
        short = "".join(squeezed(part) for text in given for part in _values(text) if len(part) <= _SHORT)
        if len(self._tails) > _MOST_ORIGINS:
            self._tails.pop(next(iter(self._tails)))
        self._tails[towards] = (self._tails.pop(towards, "") + short)[-_TAIL:]
        if len(self._own) < _MOST_PIECES:
            short_texts = (text for text in given if len(text) <= _TAIL)
            self._own |= {plain for text in short_texts for plain, _, _ in _pieces(text) if plain not in self._pieces}

    def _found(self, text: str) -> Iterator[str]:
        """Yield the pieces that a squeezed text has enough of. The work grows with the text and what was read apart,
        and not with their product."""
        sent = _grams(text)
        for code in {code for gram in sent for code in tuple(self._codes.get(gram, ()))}:  # a thread may be noting more
            covered = {at + step for at in range(len(code)) if code[at : at + _GRAM] in sent for step in range(_GRAM)}
            if len(covered) >= self._pieces[code].enough:
                yield code
        for at in range(len(text) - _LEAST_CODE + 1):
            for length in tuple(self._runs.get(text[at : at + _LEAST_CODE], ())):
                if (run := text[at : at + length]) in self._pieces:
                    yield run


def _values(text: str) -> list[str]:
    """Return the parts of an address in which something can be put, or the text itself."""
    if "://" not in text:
        return [text]
    after_host = _AFTER_HOST.search(text.partition("://")[2])
    return _PARTS.split(_NAMES.sub("", after_host[0])) if after_host else []


def _pieces(text: str) -> Iterator[tuple[str, Piece, bool]]:
    """Yield what is telling in a text, squeezed, and whether it is a code."""
    for found in _MAIL.findall(text):
        plain = squeezed(found)
        yield plain, Piece(found, max(_LEAST_CODE, len(plain) * 4 // 5)), True
    for found in _NUMBERS.findall(text):
        plain = squeezed(found)
        if len(plain) >= _GRAM and not _YEAR.fullmatch(plain):
            yield plain, Piece(found.strip(), _enough(plain)), True
    for chunk in (each for each in _CHUNK.findall(text) if not (each.isalpha() and each[1:].islower())):
        for found in {chunk[:_MOST_WORD], *_PARTS.split(chunk[:_MOST_WORD])}:
            if _is_code(found):
                plain = squeezed(found)
                yield plain, Piece(found, _enough(plain)), True
    words = _WORD.findall((text if text.isascii() else unicodedata.normalize("NFKC", text)).casefold())
    for at in range(len(words)):
        for length in _RUN_WORDS:
            run = words[at : at + length]
            plain = "".join(run)
            if len(run) == length and _LEAST_RUN <= len(plain) <= _MOST_WORD:
                yield plain.replace("_", "")[:_LONGEST_RUN], Piece(" ".join(run), len(plain)), False
                break


def _enough(plain: str) -> int:
    """Return how many characters of a code, in runs of four and more, give it away."""
    return len(plain) if len(plain) < _LEAST_CODE else max(_GRAM + 1, (len(plain) + 1) // 2)


def _is_code(word: str) -> bool:
    """Return whether a word is no ordinary one: it has digits, odd signs or capitals within, and is long enough."""
    plain = squeezed(word)
    if len(plain) < _GRAM or "://" in word:
        return False
    digits = sum(sign.isdigit() for sign in plain)
    if digits:
        return len(plain) >= _LEAST_CODE or (digits == len(plain) and not _YEAR.fullmatch(plain))
    return len(plain) >= _LEAST_CODE and (bool(_SIGNS.search(word)) or len(_CASES.findall(word)) > 1)


def _grams(plain: str) -> set[str]:
    return {plain[at : at + _GRAM] for at in range(len(plain) - _GRAM + 1)}
