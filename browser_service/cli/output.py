"""Prints text for people or JSON, the progress of long work, and errors with what to do about them."""

import contextlib
import json
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

import typer
from pydantic import ValidationError

from browse_together.client import config_file
from browse_together.contract.errors import BrowseError, ErrorBody, ServiceUnavailable
from browse_together.contract.next_calls import spelled
from browse_together.contract.quoting import escaped, legible
from browser_service.settings import Settings

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


_WIDE: Final = 200

Columns = Mapping[str, bool]
"""The names of a table's columns, and whether lines may break in each."""
Row = Sequence[str]


def say(text: str, style: str = "", rest: str = "", *, before: str = "", to_stderr: bool = False) -> None:
    """Print a line. On a terminal, `text` gets a style of rich, and what is `before` it and the `rest` none."""
    stream = sys.stderr if to_stderr else sys.stdout
    if not style or not stream.isatty():
        typer.echo(legible(before + text + rest), err=to_stderr)
    else:
        from rich.console import Console  # noqa: PLC0415 - no pipe needs it, and it takes long to import
        from rich.text import Text  # noqa: PLC0415 - likewise

        line = Text.assemble(legible(before), (legible(text), style), legible(rest))
        Console(stderr=to_stderr, highlight=False).print(line, soft_wrap=True)


def say_json(value: object) -> None:
    typer.echo(as_json(value))


def as_json(value: object) -> str:
    return escaped(json.dumps(value, indent=2, ensure_ascii=False))


def value_text(value: object) -> str:
    """Write a setting's value for people."""
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "empty"
    return str(value).lower() if isinstance(value, bool) else "none" if value is None else str(value)


def show_rows(columns: Columns, parts: Iterable[Sequence[Row]]) -> None:
    """Print a table with a line between its parts."""
    from rich import box  # noqa: PLC0415 - it takes long to import, and only tables need it
    from rich.console import Console  # noqa: PLC0415 - likewise
    from rich.table import Table  # noqa: PLC0415 - likewise
    from rich.text import Text  # noqa: PLC0415 - likewise

    table = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False)
    for name, may_break in columns.items():
        table.add_column(name, no_wrap=not may_break, overflow="fold")
    for rows in parts:
        for row in rows:
            table.add_row(*(Text(" ".join(legible(cell).split())) for cell in row))
        table.add_section()
    Console(width=None if sys.stdout.isatty() else _WIDE, highlight=False).print(table)


def print_error(error: ErrorBody) -> None:
    """Print what went wrong and what to do, with calls as commands."""
    from browse_together.contract.call_spellings import as_command  # noqa: PLC0415 - it knows every action, and few commands end so

    say(f"{error.code}:", "bold red", f" {spelled(error.message, as_command)}", to_stderr=True)
    if error.hint:
        say(spelled(error.hint, as_command), "yellow", to_stderr=True)


@contextlib.contextmanager
def print_errors() -> Iterator[None]:
    """Print errors as code, message and hint to stderr. The exit code is 1, or 2 for wrong input."""
    try:
        yield
    except BrowseError as error:
        print_error(error.body())
    except ValidationError as error:
        for line in config_file.explain(error, Settings):
            say(line, to_stderr=True)
        raise SystemExit(2) from None
    except config_file.WrongFile as error:
        say(str(error), to_stderr=True)
        raise SystemExit(2) from None
    except BrokenPipeError:  # whoever reads, such as `head`, has enough: click ends quietly
        raise
    except OSError as error:
        print_error(ServiceUnavailable(str(error)).body())
    else:
        return
    raise SystemExit(1)
