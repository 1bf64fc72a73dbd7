"""Makes the service's log, JSON lines for programs, readable for people."""

import functools
import json

import structlog

from browse_together.contract.quoting import legible


def readable(line: str, *, colours: bool = False) -> str:
    """Return a log line for people. Lines that are not JSON, such as the last words of a failed start, stay as they
    are."""
    try:
        entry = json.loads(line)
    except ValueError:
        return legible(line)
    if not isinstance(entry, dict) or "event" not in entry:
        return legible(line)
    entry = {key: legible(value) if isinstance(value, str) else value for key, value in entry.items()}
    return str(_renderer(colours)(None, "", entry))


def reasons(lines: list[str]) -> list[str]:
    """Return why a start failed: its own last words, or else its whole log."""
    words = [line for line in lines if not line.startswith("{")]
    return words or [readable(line) for line in lines]


@functools.cache
def _renderer(colours: bool) -> structlog.dev.ConsoleRenderer:  # noqa: FBT001 - the key of a cache
    return structlog.dev.ConsoleRenderer(colors=colours, exception_formatter=structlog.dev.plain_traceback)
