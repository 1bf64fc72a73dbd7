"""Measures how long a new user waits: from the wheel in an empty environment to the first page.

Each round makes a virtual environment, has pip install the wheel with its dependencies, and starts `mcp-gateway`,
which starts the service, which starts the browser. Then it opens a page of a site on loopback. The packages come from
wherever this machine takes them, so the figure depends on that too. A browser must be there.

Compares the whole with its share until pip has ended. Target: 60 s in all.
"""

import asyncio
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Final

from benchmarks.figures import Figure, Report, Target
from benchmarks.processes import Failed, environment, mcp_server
from client import instance
from scripts import wheel
from tests.support.site import Site
from tests.support.tab import closed_port

MOST_S: Final = 60.0
_ROUNDS: Final = 3
_MB: Final = 1_000_000


async def run(*, quick: bool) -> Report:
    with (
        tempfile.TemporaryDirectory(prefix="browse-together-bench-", ignore_cleanup_errors=True) as folder,
        Site() as site,
    ):
        site.page("/first", "<title>First</title><h1>First</h1>")
        built = await asyncio.to_thread(wheel.build, Path(folder))
        rounds = [await _round(built, Path(folder, str(number)), site) for number in range(1 if quick else _ROUNDS)]
    whole, installed = (median(each[part] for each in rounds) for part in (0, 1))
    target = Target(MOST_S)
    figures = [
        Figure("first page", whole, 0.0, "s", "difference", target),
        Figure("installed", installed, 0.0, "s", "difference"),
    ]
    return Report("installing", "nothing", figures, [f"{megabytes:.0f} MB installed" for _, _, megabytes in rounds[:1]])


async def _round(built: Path, folder: Path, site: Site) -> tuple[float, float, float]:
    """Return the seconds to the first page, those until it was installed, and the megabytes of the packages."""
    began = time.perf_counter()
    await asyncio.to_thread(_install, built, folder / "tool")
    installed = time.perf_counter() - began
    env = environment(BROWSE_DATA_DIR=str(folder / "data"), PORT=str(closed_port()))
    try:
        async with mcp_server(str(folder / "tool/bin/mcp-gateway"), env=env) as gateway:
            opened = await gateway.call("goto", url=site.url("/first"))
            whole = time.perf_counter() - began
        if "First" not in str(opened):
            raise Failed(f"another page was opened: {opened}")
    finally:
        if service := instance.find(folder / "data"):
            await asyncio.to_thread(instance.stop, service)
    packages = (path for path in (folder / "tool").rglob("*") if path.is_file() and not path.is_symlink())
    return whole, installed, sum(path.stat().st_size for path in packages) / _MB


def _install(built: Path, home: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", home], check=True)
    done = subprocess.run(
        [home / "bin/python", "-m", "pip", "--disable-pip-version-check", "-q", "install", built],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise Failed(f"pip could not install the wheel: {done.stderr[-2_000:]}")
