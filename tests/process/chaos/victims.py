"""Finds the processes that the chaos started, by the data directory in their environment, and kills them."""

import asyncio
import contextlib
import json
import random
import time
from pathlib import Path
from typing import Final

import psutil

from browse_together.contract.wire import INSTANCE_FILE
from browser_service.host.sessions.processes import WatchedProcess
from tests.support.processes import command, is_browser

_GONE_WITHIN_S: Final = 20


def family(data_dir: Path) -> list[psutil.Process]:
    """Return all processes that were started with this data directory, whatever their parent is now."""
    return [
        process for process in psutil.process_iter() if _environment(process).get("BROWSE_DATA_DIR") == str(data_dir)
    ]


def service(data_dir: Path) -> psutil.Process:
    found = psutil.Process(json.loads((data_dir / INSTANCE_FILE).read_text(encoding="utf-8"))["pid"])
    assert _environment(found).get("BROWSE_DATA_DIR") == str(data_dir)
    return found


def driver(data_dir: Path) -> psutil.Process:
    (found,) = (child for child in service(data_dir).children() if "run-driver" in command(child))
    return found


def browser(data_dir: Path) -> psutil.Process:
    (found,) = (child for child in driver(data_dir).children() if is_browser(child))
    return found


def renderers(data_dir: Path) -> list[psutil.Process]:
    return [child for child in browser(data_dir).children(recursive=True) if "--type=renderer" in command(child)]


def a_renderer(data_dir: Path, dice: random.Random) -> psutil.Process:
    return dice.choice(sorted(renderers(data_dir), key=lambda process: process.pid))


async def gone(processes: list[psutil.Process], within_s: float = _GONE_WITHIN_S) -> list[psutil.Process]:
    """Return the processes that are still running after a while. A zombie has ended, but a process with some remaining
    threads has not, even though it is called a zombie too."""

    def left() -> list[psutil.Process]:
        watched = []
        for process in processes:
            with contextlib.suppress(psutil.NoSuchProcess, ProcessLookupError):
                watched.append(WatchedProcess(process))
        deadline = time.monotonic() + within_s
        while any(each.runs for each in watched) and time.monotonic() < deadline:
            time.sleep(0.005)  # only a parent is told when a process ends
        alive = [each.process for each in watched if each.runs]
        for each in watched:
            each.close()
        return alive

    return await asyncio.to_thread(left)


def _environment(process: psutil.Process) -> dict[str, str]:
    try:
        return process.environ()
    except (psutil.Error, OSError):
        return {}
