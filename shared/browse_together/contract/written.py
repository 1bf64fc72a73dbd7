"""Reads what `make docs` has computed from the catalogue, so that no start waits for hundreds of schemas.

It imports no pydantic, because a gateway answers with this before pydantic is loaded.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Final, TypedDict, cast

FILE: Final = Path(__file__).with_name("written.json")


class _Written(TypedDict):
    fingerprint: str
    toolsets: dict[str, list[str]]
    """The names of the tools in each toolset's list."""
    tools: list[dict[str, object]]
    """Each tool once, in the protocol's form and the catalogue's order."""


def fingerprint() -> str:
    """Return the digest of all actions."""
    return _written()["fingerprint"]


def toolset_names() -> tuple[str, ...]:
    """Return all toolsets, in the order in which they are named to people."""
    return tuple(_written()["toolsets"])


def tools(toolsets: Iterable[str]) -> tuple[dict[str, object], ...]:
    """Return the list of some toolsets, in the protocol's form and the catalogue's order. The tools are cached; do not
    change them."""
    listed = frozenset[str]().union(*(_written()["toolsets"][name] for name in toolsets))
    return tuple(tool for tool in _written()["tools"] if tool["name"] in listed)


def text(fingerprint: str, toolsets: Mapping[str, Collection[str]], tools: Iterable[Mapping[str, object]]) -> str:
    """Return the file's text, with a line for each toolset and each tool, so that diffs show where a change is."""
    names = ",\n".join(f"{json.dumps(name)}: {json.dumps([*listed])}" for name, listed in toolsets.items())
    lines = ",\n".join(json.dumps(tool, ensure_ascii=False) for tool in tools)
    return f'{{"fingerprint": {json.dumps(fingerprint)}, "toolsets": {{\n{names}\n}}, "tools": [\n{lines}\n]}}\n'


@cache
def _written() -> _Written:
    return cast("_Written", json.loads(FILE.read_text(encoding="utf-8")))  # written by us
