"""Compares recordings: names and numbers that are new with every run are put aside first."""

import difflib
import json
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from tests.support.json import AnyJson

Lines = tuple[str, ...]

MASKS: Final[Sequence[tuple[re.Pattern[str], str]]] = [
    (re.compile(pattern), mask)
    for pattern, mask in (
        (r"\beyJ[\w-]+\.[\w-]+\.[\w-]+", "<token>"),
        (rf"{re.escape(tempfile.gettempdir())}/(?!<)[\w.-]+(/pytest-\d+)?(/popen-gw\d+)?", "<tmp>"),
        (r"(?<!\d)20\d{6}-\d{6}(-\d)?(?!\d)", "<time>"),
        (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?", "<time>"),
        (r"(?<![\d:])\d\d:\d\d(:\d\d)?(?!:?\d)", "<clock>"),
        (r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "<id>"),
        (r"\b(art-)[\w-]{16}(?![\w-])", r"\1<id>"),
        (r"\bsession-[a-km-z2-9]{4}\b", "session-<id>"),
        (r"\b(req_|session-|browser_|dl-|ask-|gw-|room-|cli-)[0-9a-f]{3,}\b", r"\1<id>"),
        (r"(?<![A-Za-z0-9])[0-9A-F]{32}(?![A-Za-z0-9])", "<id>"),
        (r"(?<![A-Za-z])(?=[a-f]*\d)[0-9a-f]{8,}(?![A-Za-z])", "<id>"),
        (r"(127\.0\.0\.1|127\.1|localhost|\[::1\]|[\w.-]+\.(?:localhost|example)):\d{4,5}\b", r"\1:<port>"),
        (r'("memoryUsage": ")\d+', r"\1<number>"),
        (r"(--port |Port )\d+", r"\1<port>"),
        (r"\beyJ[\w-]{20,}", "<encoded>"),
        (r'(\\?"(?:ms|\w*(?:Ms\w*|At|[pP]id|[bB]ytes|Rss|size|port|uptime))\\?": ?)-?\d[\d.e-]*', r"\1<number>"),
        (r"(→ \w+, )\d+( ms)", r"\1<number>\2"),
        (r"\b\d+( ms https?:)", r"<number>\1"),
        (r"(?<![\w.])\d+(\.\d+)?( ?)(ms|s|seconds?|minutes?|min|h|hours?) ago\b", r"<number>\2\3 ago"),
    )
]
"""Patterns of what differs in every run, with their replacements."""

HEALTH: Final = "/health"
"""The path that a test polls while a service starts, so that the number of its requests differs."""

NUMBERED: Final = (r"client-(\d+)", r"\bf(\d+)(?=e\d)", r"\b(gw\d+)\b")
"""Numbers that depend on earlier tests. In each test they are counted from 1, in order of appearance."""

NAMED: Final = re.compile(r'(?:"(?:pageId|sessionId)": "|\bpage )([\w.~-]+-)([a-z0-9]{4})\b')
"""A name with a random end, made because another was taken."""

OF_PAGES: Final = ("outline", "snapshot", "content", "changed", "observed", "title", "requests")
"""Members that a real page has and that a stand-in for a browser lacks or has differently."""

REVISION: Final = re.compile(r'("revision": |revision )(\d+)')


@dataclass(frozen=True)
class Recorded:
    test: str
    passed: bool
    lines: Lines

    @property
    def names(self) -> tuple[str, str]:
        """Return the test's name without its folder and without its file, because both may have changed."""
        file, _, name = self.test.partition("::")
        return f"{Path(file).name}::{name}", name


class Difference(NamedTuple):
    test: str
    why: str
    lines: list[str]


def read(folder: Path, *, without: Collection[str] = ()) -> dict[str, Recorded]:
    """Read the latest recording of each test, without some members of its JSON objects."""
    found = {}
    for file in sorted(folder.glob("*.jsonl"), key=lambda file: file.stat().st_mtime):
        for line in file.read_text(encoding="utf-8").rstrip("\n").split("\n"):
            row = json.loads(line)
            found[row["test"]] = Recorded(row["test"], row["passed"], shown(_less(row["exchanges"], without)))
    return found


def _less(value: AnyJson, names: Collection[str]) -> AnyJson:
    if isinstance(value, dict):
        return {name: _less(each, names) for name, each in value.items() if name not in names}
    return [_less(each, names) for each in value] if isinstance(value, list) else value


def shown(exchanges: list[AnyJson]) -> Lines:
    """Return a recording as lines to compare and to read, with a text's own lines among them."""
    exchanges = [each for each in exchanges if "status" in each or not str(each.get("sent")).endswith(HEALTH)]
    text = json.dumps(exchanges, indent=1, ensure_ascii=False).replace("\\n", "\n    ")
    for pattern, mask in MASKS:
        text = pattern.sub(mask, text)
    for pattern_text in NUMBERED:
        text = re.sub(pattern_text, _in_order(), text)
    for stem, end in set(NAMED.findall(text)):
        text = text.replace(stem + end, f"{stem}<end>")
    return tuple(line.rstrip(",") for line in _from_first(text).split("\n"))


def _in_order() -> Callable[[re.Match[str]], str]:
    seen: dict[str, int] = {}

    def renumbered(found: re.Match[str]) -> str:
        number = seen.setdefault(found[1], len(seen) + 1)
        return found[0].replace(found[1], f"#{number}")

    return renumbered


def _from_first(text: str) -> str:
    """Count revisions from the first that the test saw, because its page may have been used before."""
    first = REVISION.search(text)
    start = int(first[2]) if first else 0
    return REVISION.sub(lambda found: f"{found[1]}first{int(found[2]) - start:+d}", text)


def differences(befores: Sequence[dict[str, Recorded]], after: dict[str, Recorded]) -> Iterator[Difference]:
    """List how `after` differs from each of the recordings before it. Only files of tests that `after` has are
    compared."""
    by_name = _by_name(befores[0])
    matched = set()
    for test, new in after.items():
        origin = next((by_name[name] for name in (test, *new.names) if name in by_name), test)
        matched.add(origin)
        olds = [before[origin] for before in befores if origin in before]
        if not olds:
            yield Difference(test, "new", [])
        elif not new.passed and any(old.passed for old in olds):
            yield Difference(test, "failed", _diff(olds[0].lines, new.lines))
        elif all(old.lines != new.lines for old in olds):
            yield from _changes(test, [old.lines for old in olds], new.lines)
    files = {test.partition("::")[0] for test in matched}
    for test in befores[0]:
        if test not in matched and test.partition("::")[0] in files:
            yield Difference(test, "missing", [])


def _by_name(before: dict[str, Recorded]) -> dict[str, str]:
    """Map each name that only one test has to that test."""
    often = Counter(name for each in before.values() for name in each.names)
    by_name = {name: test for test, each in before.items() for name in each.names if often[name] == 1}
    return by_name | {test: test for test in before}


def _changes(test: str, olds: list[Lines], new: Lines) -> Iterator[Difference]:
    """List the changes of a test. Of a test that varies, list only lines that it never or always had before."""
    if any(Counter(old) == Counter(new) for old in olds):
        yield Difference(test, "in another order", _diff(olds[0], new))
    elif any([*map(_without_numbers, old)] == [*map(_without_numbers, new)] for old in olds):
        yield Difference(test, "with other numbers", _diff(olds[0], new))
    elif len(set(olds)) == 1:
        yield Difference(test, "changed", _diff(olds[0], new))
    else:
        yield from _changes_despite_noise(test, olds, new)


def _changes_despite_noise(test: str, olds: list[Lines], new: Lines) -> Iterator[Difference]:
    befores = [set(map(_without_numbers, old)) for old in olds]
    now = set(map(_without_numbers, new))
    gone, come = sorted(set.intersection(*befores) - now), sorted(now.difference(*befores))
    if gone or come:
        lines = [f"-{line}" for line in gone] + [f"+{line}" for line in come]
        yield Difference(test, "changed, and differs from run to run", lines)


def _without_numbers(line: str) -> str:
    return re.sub(r"\d+", "#", line)


def _diff(old: Lines, new: Lines) -> list[str]:
    return [*difflib.unified_diff(old, new, "before", "after", lineterm="", n=6)]
