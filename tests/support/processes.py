"""Finds and kills the processes of one service: its driver, its browser and the renderers."""

import asyncio
import contextlib
from pathlib import Path

import psutil


def command(process: psutil.Process) -> list[str]:
    """Return the words with which a process was started; none once it has ended."""
    try:
        return process.cmdline()
    except (psutil.NoSuchProcess, psutil.ZombieProcess):
        return []


def told_to(process: psutil.Process) -> str:
    """Return the command line and the environment of a process, as far as they can be read."""
    with contextlib.suppress(psutil.Error):
        return " ".join([*process.cmdline(), *(f"{name}={value}" for name, value in process.environ().items())])
    return ""


def is_browser(process: psutil.Process, data_dir: Path | str = "") -> bool:
    """Say if a process is the main one of a browser, with its profile in this data directory if one is given."""
    words = command(process)
    profile = f"--user-data-dir={data_dir}/" if data_dir else "--user-data-dir="
    return any(word.startswith(profile) for word in words) and not any(word.startswith("--type=") for word in words)


def browsers(data_dir: Path) -> list[psutil.Process]:
    """Return the main processes of the browsers that use this data directory's profile."""
    return [process for process in _ours() if is_browser(process, data_dir)]


def browser(data_dir: Path) -> psutil.Process:
    (found,) = browsers(data_dir)
    return found


def driver(data_dir: Path) -> psutil.Process:
    found = browser(data_dir).parent()
    assert found is not None
    assert "run-driver" in command(found)
    return found


def renderers(data_dir: Path) -> list[psutil.Process]:
    children = browser(data_dir).children(recursive=True)
    return [process for process in children if "--type=renderer" in command(process)]


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
