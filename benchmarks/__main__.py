"""Runs the benchmarks one after another and shows what they found."""

import argparse
import asyncio
import os
import platform
import signal
import sys
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

from playwright.async_api import Error as PlaywrightError
from rich.console import Console
from rich.markup import escape

from benchmarks import calls, flows, hosts, neighbours, recovery, skills, soak, startup, tasks, throughput
from benchmarks.figures import Report, Skipped, table, today
from benchmarks.processes import Failed
from browse_together.contract.errors import BrowseError

BENCHMARKS: Final[dict[str, Callable[..., Awaitable[Report]]]] = {
    "calls": calls.run,
    "startup": startup.run,
    "throughput": throughput.run,
    "sharing": throughput.sharing,
    "recovery": recovery.run,
}
ONLY_WHEN_NAMED: Final[dict[str, Callable[..., Awaitable[Report]]]] = {
    "first_page": startup.first_page,
    "flows": flows.run,
    "hosts": hosts.run,
    "neighbours": neighbours.run,
    "skills": skills.run,
    "soak": soak.run,
    "tasks": tasks.run,
}
"""These benchmarks take long."""
_LONGEST_S: Final = 120
_LONGEST_WHEN_NAMED_S: Final = 1_500
_ALL: Final[dict[str, Callable[..., Awaitable[Report]]]] = {**BENCHMARKS, **ONLY_WHEN_NAMED}

console = Console(width=110, highlight=False)


def main() -> int:
    """Return 1 if a benchmark could not run. A missed target is a finding, not a failure."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that started processes are stopped
    asked = _arguments()
    load_before, began = _load(), time.perf_counter()
    _ALL["flows"] = partial(flows.run, apps=asked.apps)
    reports = [asyncio.run(_report(name, quick=asked.quick)) for name in asked.names or BENCHMARKS]
    for report in reports:
        for note in report.notes:
            console.print(f"[dim]{report.benchmark} · {escape(note)}[/dim]", soft_wrap=True)
    console.print(table(reports))
    machine = f"{os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"
    loads = f"{load_before} before, {_load()} after"
    console.print(f"{today()}, {machine}; load {loads}; {time.perf_counter() - began:.0f} s", soft_wrap=True)
    return any(report.failed for report in reports)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(_ALL))
    parser.add_argument("--quick", action="store_true", help="fewer rounds: do they run at all, and roughly where")
    parser.add_argument("--apps", default="", metavar="DIR", help="flows: a virtual environment for each application")
    asked = parser.parse_args()
    if unknown := set(asked.names) - _ALL.keys():
        parser.error(f"no such benchmark: {', '.join(sorted(unknown))}; there are {', '.join(_ALL)}")
    return asked


async def _report(name: str, *, quick: bool) -> Report:
    console.print(f"[dim]{name} ...[/dim]")
    try:
        async with asyncio.timeout(_LONGEST_S if name in BENCHMARKS else _LONGEST_WHEN_NAMED_S):
            return await _ALL[name](quick=quick)
    except Skipped as skipped:
        return Report(name, "its peer", problem=str(skipped))
    except (Failed, BrowseError, PlaywrightError, TimeoutError) as error:
        return Report(name, "its peer", problem=f"failed: {type(error).__name__}: {error}", failed=True)


def _load() -> str:
    """Return the load of the last minute, if the system reports it."""
    return f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("interrupted; what was started is stopped")
