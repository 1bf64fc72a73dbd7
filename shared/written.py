"""Tells what `make docs` has computed of the catalogue and written down, so that no start waits for its hundreds of
schemas. It imports no pydantic, because a gateway answers by it before it has loaded that."""

import json
from functools import cache
from pathlib import Path
from typing import Final, cast

FILE: Final = Path(__file__).with_name("written.json")


def fingerprint() -> str:
    """Return the digest of all actions."""
    return cast("str", _written()["fingerprint"])  # we wrote it


def core_tools() -> tuple[dict[str, object], ...]:
    """Return the list of the toolset `core`, as the protocol spells tools. It is cached; do not change it."""
    return tuple(cast("list[dict[str, object]]", _written()["core"]))  # we wrote it


def text(fingerprint: str, core_tools: list[dict[str, object]]) -> str:
    """Return what is to be written: a tool on a line, so that a change shows where it is."""
    lines = ",\n".join(json.dumps(tool, ensure_ascii=False) for tool in core_tools)
    return f'{{"fingerprint": {json.dumps(fingerprint)}, "core": [\n{lines}\n]}}\n'


@cache
def _written() -> dict[str, object]:
    return cast("dict[str, object]", json.loads(FILE.read_text(encoding="utf-8")))  # we wrote it
