"""Prints what is wrong with the source tree, a line each, and fails if anything is."""

import gc
import sys
from itertools import chain

from scripts.lint import calls, code, documents, packaging

CHECKS = (*code.CHECKS, *calls.CHECKS, *documents.CHECKS, *packaging.CHECKS)


def main() -> int:
    gc.disable()  # syntax trees are many objects, and stay: parsing takes half as long so
    problems = sorted({*chain.from_iterable(check() for check in CHECKS)})
    print(*problems, sep="\n", end="\n" if problems else "")  # noqa: T201 - what it is for
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
