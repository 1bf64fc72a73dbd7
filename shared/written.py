"""Reads what `make docs` has computed from the catalogue, so that no start waits for hundreds of schemas.

It imports no pydantic, because a gateway answers with this before pydantic is loaded.
"""

import json
from functools import cache
from pathlib import Path
from typing import Final, cast

FILE: Final = Path(__file__).with_name("written.json")


def fingerprint() -> str:
    """Return the digest of all actions."""
    return cast("str", _written()["fingerprint"])  # written by us


def core_tools() -> tuple[dict[str, object], ...]:
    """Return the toolset `core` in the protocol's form. It is cached; do not change it."""
    return tuple(cast("list[dict[str, object]]", _written()["core"]))  # written by us


def text(fingerprint: str, core_tools: list[dict[str, object]]) -> str:
    """Return the file's text, with a line for each tool, so that diffs show where a change is."""
    lines = ",\n".join(json.dumps(tool, ensure_ascii=False) for tool in core_tools)
    return f'{{"fingerprint": {json.dumps(fingerprint)}, "core": [\n{lines}\n]}}\n'


@cache
def _written() -> dict[str, object]:
    return cast("dict[str, object]", json.loads(FILE.read_text(encoding="utf-8")))  # written by us
