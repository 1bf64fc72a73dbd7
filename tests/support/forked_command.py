"""A command in a process that was forked from one which has imported it already: with its own streams, environment and
exit code all the same, after a tenth of the start."""

import multiprocessing
import os
import sys
from multiprocessing.forkserver import set_forkserver_preload
from pathlib import Path
from typing import Final

PROGRAM: Final = Path(__file__).parents[2] / "browser_service" / "__main__.py"
_FORKS: Final = multiprocessing.get_context("forkserver")
_COMMANDS: Final = ("activity", "actions", "requests", "lifecycle", "output", "logins", "upkeep", "config")
set_forkserver_preload([__name__, *(f"browser_service.cli.{name}" for name in _COMMANDS)])


def run(arguments: tuple[str, ...], env: dict[str, str], directory: Path, within_s: float) -> tuple[int, str, str]:
    """Return the exit code, and what the command wrote to stdout and stderr. Raises TimeoutError."""
    out, err = (directory / f"{stream}-of-command" for stream in ("stdout", "stderr"))
    process = _FORKS.Process(target=_command, args=(arguments, env, directory, out, err))
    process.start()
    process.join(within_s)
    if process.exitcode is None:
        process.kill()
        process.join()
        raise TimeoutError(f"{arguments} did not end within {within_s} s")
    return process.exitcode, out.read_text("utf-8"), err.read_text("utf-8")


def _command(arguments: tuple[str, ...], env: dict[str, str], directory: Path, out: Path, err: Path) -> None:
    os.environ.clear()
    os.environ.update(env)
    os.chdir(directory)
    for descriptor, path, flags in (
        (0, os.devnull, os.O_RDONLY),
        (1, out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
        (2, err, os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
    ):
        opened = os.open(path, flags, 0o600)
        os.dup2(opened, descriptor)
        os.close(opened)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - it lasts as long as the process
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - as there
    sys.stderr = open(2, "w", encoding="utf-8", closefd=False, buffering=1)  # noqa: SIM115 - as there
    sys.argv = [str(PROGRAM), *arguments]
    from browser_service.cli import main  # noqa: PLC0415 - preloaded; the parent has no use for it

    main()
