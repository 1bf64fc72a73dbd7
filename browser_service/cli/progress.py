"""Shows progress of long work on a terminal. Output for programs stays unchanged."""

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rich.status import Status

_SHOWN_AFTER_S: Final = 1.0


@contextlib.contextmanager
def waiting(doing: str) -> Iterator[None]:
    """Show what the block waits for, if that takes a while."""
    if not sys.stderr.isatty():
        yield
        return
    shown: list[Status] = []

    def show() -> None:
        from rich.console import Console  # noqa: PLC0415 - it takes long to import, and most work is short

        shown.append(Console(stderr=True).status(doing))
        shown[0].start()

    timer = threading.Timer(_SHOWN_AFTER_S, show)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        for status in shown:
            status.stop()


@contextlib.contextmanager
def bar(doing: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """Show a progress bar within the block. The yielded function adds a number of bytes."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console  # noqa: PLC0415 - as above
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn  # noqa: PLC0415 - as above

    columns = ("{task.description}", BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(doing, total=total)
        yield lambda count: progress.advance(task, count)
