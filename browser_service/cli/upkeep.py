"""Inspects the installation: `doctor` and `logs`."""

import os
import sys
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from browse_together.contract.errors import ServiceUnavailable
from browse_together.contract.wire import LOG_FILE
from browser_service.cli import flags, output
from browser_service.cli.options import new_app
from browser_service.settings import Settings

_POLL_S: Final = 0.2

app = new_app()


@app.command()
@flags.with_settings
def doctor(
    *,
    as_json: flags.AsJson = False,
    **options: Any,  # Any: typer's value of each flag
) -> None:
    """Check what a service with these settings needs, starting its browser once. Exit code 1 if anything is missing."""
    from browser_service.cli.doctor import examine  # noqa: PLC0415 - Playwright, which logs do not need

    checks = examine(Settings(**flags.typed_settings(options)))  # type: ignore[arg-type] # pydantic makes the types
    healthy = all(check.ok for check in checks)
    if as_json:
        output.say_json({"ok": healthy, "checks": [check._asdict() for check in checks]})
    else:
        for check in checks:
            mark, style = ("✓", "green") if check.ok else ("✗", "bold red")
            output.say(mark, style, f" {check.name:<11} {check.found}")
            if check.advice:
                output.say(f"  {'':<11} {check.advice}", "dim" if check.ok else "yellow")
    raise typer.Exit(0 if healthy else 1)


@app.command()
def logs(
    *,
    data_dir: flags.DataDir = None,
    lines: Annotated[int, typer.Option("--lines", "-n", min=0, help="How many of the last lines.")] = 50,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on with what is written.")] = False,
) -> None:
    """Show the log of a service that runs detached, or was started by a gateway: JSON, readable on a terminal."""
    log = flags.settings(data_dir).data_dir / LOG_FILE
    if not log.exists():
        raise ServiceUnavailable(
            f"There is no log {log}.",
            hint="A detached service writes one; in the foreground it writes to its terminal.",
        )
    for line in _log_lines(log, lines, follow=follow):
        _say_line(line)


def _say_line(line: str) -> None:
    """Print a line of the log: unchanged for programs, readable on a terminal."""
    if sys.stdout.isatty():
        from browser_service.cli.log_lines import readable  # noqa: PLC0415 - no pipe needs it

        line = readable(line, colours="NO_COLOR" not in os.environ)
    typer.echo(line)


def _log_lines(log: Path, last: int, *, follow: bool) -> Iterator[str]:
    """Yield the last lines; with `follow`, also each new one, until interrupted."""
    with log.open(encoding="utf-8", errors="replace") as file:
        for line in deque(file, maxlen=last):
            yield line.rstrip("\n")
        unfinished = ""
        while follow:
            unfinished += file.readline()
            if unfinished.endswith("\n"):
                yield unfinished.rstrip("\n")
                unfinished = ""
            else:
                time.sleep(_POLL_S)  # the standard library has no event for a growing file
