"""Measures the memory of the browsers, and compares it with the limit."""

import asyncio
import contextlib
import time
from pathlib import Path
from typing import Final

import psutil

from browse_together.contract.model import Json
from browser_service.host.sessions.processes import HasDriver

_MB: Final = 1_000_000
_DEFAULT_SHARE: Final = 0.6
"""The default limit, as a share of the memory of the machine, or of its container."""
_EXACT_FROM_SHARE: Final = 0.7
"""Above this share of the limit we measure memory exactly, which costs some 5 ms a process."""
_CGROUPS: Final = Path("/sys/fs/cgroup")


def memory_limit(wanted_mb: int | None) -> int:
    """Return the limit in MB: the one that is wanted, else a share of what there is. 0 means none."""
    return wanted_mb if wanted_mb is not None else round(machine_mb() * _DEFAULT_SHARE)


class Memory:
    """The memory of a driver and of all processes that it started, as it was last measured: exactly near the limit,
    else roughly. One measurement runs at a time, in a thread."""

    def __init__(self, limit_mb: int | None, launcher: HasDriver) -> None:
        self.limit_mb = memory_limit(limit_mb)
        self.used_mb = 0
        self._launcher = launcher
        self._begun_at = 0.0
        self._measuring = asyncio.Lock()

    @property
    def is_short(self) -> bool:
        return 0 < self.limit_mb < self.used_mb

    @property
    def free_mb(self) -> int | None:
        """Return the memory that is left for browsers; None is no limit."""
        return max(0, self.limit_mb - self.used_mb) if self.limit_mb else None

    def describe(self) -> Json:
        return {"usedMb": self.used_mb, "limitMb": self.limit_mb}

    async def measure(self) -> None:
        """Measure, unless somebody else has begun to since the call came."""
        came_at = time.monotonic()
        async with self._measuring:
            if self._begun_at >= came_at:
                return
            self._begun_at = time.monotonic()
            root = self._launcher.driver
            self.used_mb = await asyncio.to_thread(_used_mb, root, self.limit_mb) if root is not None else 0


def _used_mb(root: psutil.Process, limit_mb: int) -> int:
    processes = _descendants(root)
    rough = rough_mb(processes)
    return exact_mb(processes) if 0 < limit_mb * _EXACT_FROM_SHARE < rough else rough


def _descendants(root: psutil.Process) -> list[psutil.Process]:
    with contextlib.suppress(psutil.Error):
        return [root, *root.children(recursive=True)]
    return []


def rough_mb(processes: list[psutil.Process]) -> int:
    """Return a fast over-estimate: the sum of the private memory, and the largest shared part."""
    private, shared = 0, 0
    for process in processes:
        with contextlib.suppress(psutil.Error):
            usage = process.memory_info()
            common = getattr(usage, "shared", 0)
            private += usage.rss - common
            shared = max(shared, common)
    return (private + shared) // _MB


def exact_mb(processes: list[psutil.Process]) -> int:
    """Return the sum of the proportional set sizes (PSS), or an estimate if the system does not tell them."""
    total = 0
    for process in processes:
        with contextlib.suppress(psutil.Error):
            total += getattr(process.memory_full_info(), "pss", 0)  # Linux alone has it
    return total // _MB if total else rough_mb(processes)


def machine_mb() -> int:
    """Return the memory of the machine, or of its container if that has less."""
    return min([psutil.virtual_memory().total, *_container_limits()]) // _MB


def _container_limits() -> list[int]:
    """Read the limits of both versions of control groups, including those of parent groups."""
    limits = []
    for line in _read(Path("/proc/self/cgroup")).splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        top = _CGROUPS / "memory" if controllers else _CGROUPS
        name = "memory.limit_in_bytes" if controllers else "memory.max"
        group = top / path.lstrip("/")
        for place in [group, *(each for each in group.parents if each.is_relative_to(top))]:
            limit = _read(place / name).strip()
            limits += [int(limit)] if limit.isdecimal() else []
    return limits


def _read(path: Path) -> str:
    with contextlib.suppress(OSError):
        return path.read_text(encoding="utf-8")
    return ""
