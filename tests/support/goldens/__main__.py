"""`compare BEFORE [BEFORE...] AFTER`: tells what the last recording has otherwise than each before it."""

import argparse
import sys
from collections import Counter
from pathlib import Path

from tests.support.goldens.comparison import OF_PAGES, differences, read

MOST_LINES = 80


def main() -> None:
    parser = argparse.ArgumentParser(prog="tests.support.goldens", description=__doc__)
    parser.add_argument("command", choices=["compare"])
    parser.add_argument("recordings", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--all-lines", action="store_true", help=f"more than the first {MOST_LINES} of a difference")
    parser.add_argument("--without-pages", action="store_true", help=f"leave out {', '.join(OF_PAGES)}")
    asked = parser.parse_args()
    without = OF_PAGES if asked.without_pages else ()
    *befores, after = [read(folder, without=without) for folder in asked.recordings]
    counts: Counter[str] = Counter()
    for found in differences(befores, after):
        counts[found.why] += 1
        shown = found.lines if asked.all_lines else found.lines[:MOST_LINES]
        sys.stdout.write("\n".join([f"=== {found.why}: {found.test}", *shown, ""]))
        if len(shown) < len(found.lines):
            sys.stdout.write(f"... {len(found.lines) - len(shown)} more lines\n")
    told = ", ".join(f"{number} {why}" for why, number in counts.items()) or "no difference"
    sys.stdout.write(f"{len(after)} tests compared: {told}\n")
    sys.exit(1 if counts else 0)


if __name__ == "__main__":
    main()
