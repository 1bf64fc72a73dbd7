"""Which tests start a process, a service or a browser of their own: read from their code, and from that of the
fixtures and helpers that they reach, so that nobody keeps a list. `make quick` runs the others."""

import asyncio
import functools
import inspect
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Final

import anyio
import mcp
import playwright.async_api
import pytest

from tests.support import service

MARK: Final = "starts_its_own"
SHARED: Final = "service"
"""The fixture of the one service, with one browser, that all tests of a run share."""

_TESTS: Final = str(Path(__file__).parents[1])
_STARTERS: Final = frozenset(
    id(each)
    for each in (
        service.running_service,
        asyncio.create_subprocess_exec,
        anyio.open_process,
        anyio.run_process,
        subprocess.Popen,
        subprocess.run,
        subprocess.check_output,
        mcp.StdioServerParameters,
        playwright.async_api.async_playwright,
    )
)


def mark(items: list[pytest.Item]) -> None:
    """Give those tests their mark."""
    for item in items:
        if isinstance(item, pytest.Function) and any(map(starts, _functions_of(item))):
            item.add_marker(MARK)


def _functions_of(item: pytest.Function) -> Iterator[object]:
    yield item.obj
    for name, definitions in item._fixtureinfo.name2fixturedefs.items():
        if not (name == SHARED and definitions[-1].baseid == "tests"):
            yield from (definition.func for definition in definitions[-1:])


@functools.cache
def starts(function: object) -> bool:
    """Whether its code, or what that reaches, starts anything."""
    seen: set[int] = set()
    ahead = [function]
    while ahead:
        named = ahead.pop()
        if id(named) in _STARTERS:
            return True
        each = inspect.unwrap(named) if isinstance(named, FunctionType) else named
        if id(each) not in seen and _is_ours(each):
            seen.add(id(each))
            ahead += _reached_by(each)
    return False


def _is_ours(each: object) -> bool:
    return isinstance(each, FunctionType | type) and (_file_of(each) or "").startswith(_TESTS)


def _file_of(each: FunctionType | type) -> str | None:
    try:
        return inspect.getfile(each)
    except (TypeError, OSError):  # of no file
        return None


def _reached_by(each: object) -> Iterator[object]:
    """What its code names. Of a module or a class all is reached that has a name that the code uses."""
    if isinstance(each, type):
        yield from (getattr(value, "__func__", value) for value in [*vars(each).values()])
        return
    assert isinstance(each, FunctionType)
    names = set(_names(each.__code__))
    found = [each.__globals__[name] for name in names if name in each.__globals__]
    yield from found
    for holder in found:
        if isinstance(holder, ModuleType):
            known = dict(vars(holder))
            yield from (known[name] for name in names & known.keys())
    yield from (cell.cell_contents for cell in each.__closure__ or ())


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
