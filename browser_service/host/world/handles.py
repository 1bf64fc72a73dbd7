"""Releases the handles that a call took. Playwright would keep each as long as the page, and the page its element."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, Protocol, TypeVar

from browse_together.contract.background import Background


class Handle(Protocol):
    """A handle of Playwright's, or a value that we hold in a page."""

    async def dispose(self) -> None: ...


H = TypeVar("H", bound=Handle)

_taken: Final = ContextVar[list[Handle] | None]("taken", default=None)
_background: Final = Background()


def taken(handle: H) -> H:
    """Mark a handle for release at the end of the call."""
    if (handles := _taken.get()) is not None:
        handles.append(handle)
    return handle


@contextmanager
def let_go() -> Iterator[None]:
    """Release the handles taken within the block, in the background."""
    handles = list[Handle]()
    before = _taken.set(handles)
    try:
        yield
    finally:
        _taken.reset(before)
        if handles:
            _background.spawn(_dispose(handles))


async def _dispose(handles: list[Handle]) -> None:
    disposing = [each.dispose() for each in handles]
    handles.clear()  # work that the call began, and that goes on, knows the list
    await asyncio.gather(*disposing, return_exceptions=True)  # their page may have gone
