"""Finds and kills the processes of one service: its driver, its browser and the renderers."""

import asyncio
import contextlib
from pathlib import Path

import psutil


def browsers(data_dir: Path) -> list[psutil.Process]:
    """Return the main processes of the browsers that use this data directory's profile."""
    return [process for process in _ours() if _is_browser(process, data_dir)]


def browser(data_dir: Path) -> psutil.Process:
    (found,) = browsers(data_dir)
    return found


def driver(data_dir: Path) -> psutil.Process:
    found = browser(data_dir).parent()
    assert found is not None
    assert "run-driver" in found.cmdline()
    return found


def renderers(data_dir: Path) -> list[psutil.Process]:
    children = browser(data_dir).children(recursive=True)
    return [process for process in children if "--type=renderer" in _command(process)]


def runs(process: psutil.Process) -> bool:
    """True while a process runs. A zombie has ended: the machine's init may leave it one."""
    with contextlib.suppress(psutil.NoSuchProcess):  # it may end between two questions
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


async def kill(*processes: psutil.Process) -> None:
    """kill -9, and wait until the processes are gone."""
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):  # it may have ended with another of them
            process.kill()
    _, alive = await asyncio.to_thread(psutil.wait_procs, processes, 10)
    assert not alive


def _ours() -> list[psutil.Process]:
    return psutil.Process().children(recursive=True)


def _is_browser(process: psutil.Process, data_dir: Path) -> bool:
    command = _command(process)
    return any(part.startswith(f"--user-data-dir={data_dir}/") for part in command) and not any(
        part.startswith("--type=") for part in command
    )


def _command(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except (psutil.NoSuchProcess, psutil.ZombieProcess):
        return []
