"""Removes everything of the product from this machine: lists it, asks, and deletes it."""

import errno
import os
import shutil
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

import typer
from filelock import FileLock, Timeout

from browser_service.cli import files, output, service
from browser_service.cli.install import skill
from browser_service.cli.install.chat_clients import CLIENTS
from browser_service.cli.install.machine import Machine
from browser_service.cli.install.registration import Change, servers_of
from browser_service.cli.running import service_of
from browser_service.cli.service import Start, unit_for
from browser_service.security.seal import NoKeyring, forget_key
from browser_service.settings import Settings
from client import config_place, instance
from shared.data_files import CONFIG_FILE, INSTANCE_LOCK, JOURNAL_FILE, MADE
from shared.errors import ServiceUnavailable, ValidationFailed
from shared.installation import GATEWAY, program, typed
from shared.socket_folder import socket_folder
from shared.wire import APP_NAME, SECRET_FILE

_PROOF: Final = (JOURNAL_FILE, INSTANCE_LOCK, SECRET_FILE)
"""Files that every service leaves in its directory, so that no other directory is mistaken for one."""


class Thing(NamedTuple):
    """Something to remove before the files, and how."""

    title: str
    remove: Callable[[], None]


def take_everything_away(machine: Machine, settings: Settings, *, only_print: bool, asks: bool) -> None:
    """List what exists, ask at the terminal, and remove it. Raises ValidationFailed if nobody can be asked."""
    things, others, (ours, foreign) = [*_things(machine, settings)], _others(machine), _data(settings.data_dir)
    lines = [*(thing.title for thing in things), *dict.fromkeys(map(str, [*others, *ours]))]
    if not lines:
        output.say(f"There is nothing to take away (data directory {settings.data_dir}).")
        return
    output.say("This is taken away, for good, logins included:")
    for line in lines:
        output.say(f"  {line}")
    for path in foreign:
        output.say(f"{path} is not the service's, and stays.")
    if settings.output_dir.exists() and not settings.output_dir.is_relative_to(settings.data_dir):
        output.say(f"{settings.output_dir}, with the files of calls, stays.")
    if only_print:
        return
    if asks:
        _ask()
    failed = [thing for thing in things if not _is_removed(thing)]
    _remove_files(settings, [*dict.fromkeys([*others, *ours, *_data(settings.data_dir)[0]])])  # ending writes files
    output.say(f"Open chats may still have its server: close them. The program itself: {_program_removal()}")
    browsers = typed(sys.executable, "-m", "playwright", "uninstall")
    output.say(f"A browser that Playwright downloaded stays, because other programs may use it: {browsers}")
    if failed:
        raise typer.Exit(1)


def has_terminal() -> bool:
    return sys.stdin.isatty()


def _ask() -> None:
    if not has_terminal():
        raise ValidationFailed(
            "Nothing was removed: there is no terminal at which to ask.", hint="To remove it without a question: --yes"
        )
    if not typer.confirm("Remove all of it?"):
        output.say("Nothing was removed.")
        raise typer.Exit(1)


def _things(machine: Machine, settings: Settings) -> Iterator[Thing]:
    unit, running = unit_for(machine, Start(program(APP_NAME), settings.data_dir, {})), service_of(settings.data_dir)
    if unit.path.exists():
        yield Thing(f"its start at login: {unit.path}", partial(service.remove, machine, unit))
    if running:
        title = f"the running service (process {running.pid}, {running.url}), which ends"
        yield Thing(title, partial(_end, settings.data_dir))
    for client in CLIENTS.values():
        try:
            own = servers_of(client, machine).items()
        except ValidationFailed as error:
            output.say(f"{error.message} If it has the server, remove that by hand.", to_stderr=True)
            continue
        for name in [name for name, entry in own if name == APP_NAME or client.starts(entry, program(GATEWAY))]:
            yield Thing(f"the server {name} of {client.title}", partial(_remove_server, Change(machine, client, name)))


def _is_removed(thing: Thing) -> bool:
    try:
        thing.remove()
    except ValidationFailed as error:  # a client's file cannot be changed: go on with the others
        output.say(f"{error.message} {error.advice or ''}", to_stderr=True)
        return False
    output.say(f"Removed: {thing.title}")
    return True


def _end(data_dir: Path) -> None:
    running = service_of(data_dir)  # unless its unit has already ended it
    if running and not instance.stop(running):
        raise ServiceUnavailable(
            f"The service did not end within {instance.END_WITHIN_S:.0f} s (process {running.pid}).",
            hint="End it, then repeat the command.",
        )


def _remove_server(server: Change) -> None:
    server.carry_out()
    files.backup_of(server.path).unlink(missing_ok=True)


def _others(machine: Machine) -> list[Path]:
    """Return the files outside of the data directory."""
    found = [files.backup_of(client.file(machine)) for client in CLIENTS.values()]
    skills = {path for client in CLIENTS.values() if (path := skill.place(client, machine))}
    found += [each for path in sorted(skills) for each in (path, files.backup_of(path))]
    if config_place.VARIABLE not in machine.environment:
        found += [config_place.path()]
    return [*(path for path in found if path.exists()), *_sockets(machine)]


def _sockets(machine: Machine) -> list[Path]:
    """Return the folder of the account's gateway sockets, unless a gateway, perhaps of another service, listens there:
    a gateway removes its own socket."""
    if os.name != "posix":
        return []
    folder = Path(socket_folder(machine.environment))
    is_ours = folder.is_dir() and folder.stat().st_uid == os.getuid()
    return [folder] if is_ours and not any(map(_is_listening, folder.glob("*.sock"))) else []


def _is_listening(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(1)
        return connection.connect_ex(str(path)) != errno.ECONNREFUSED


def _data(directory: Path) -> tuple[list[Path], list[Path]]:
    """Return the service's own files in a data directory, and all others there."""
    if not any((directory / name).exists() for name in _PROOF):
        return [], []
    there = sorted(directory.iterdir())
    ours = [path for path in there if any(fnmatch(path.name, pattern) for pattern in MADE)]
    return ours, [path for path in there if path not in ours]


def _remove_files(settings: Settings, paths: list[Path]) -> None:
    """Remove these files, and folders that become empty, while no service can start. Raises ServiceUnavailable."""
    directory = settings.data_dir
    lock = FileLock(directory / INSTANCE_LOCK, timeout=1) if directory.is_dir() else nullcontext()
    try:
        with lock:
            for path in paths:
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path)
                else:
                    path.unlink(missing_ok=True)
    except Timeout:
        raise ServiceUnavailable(
            "The service was started again meanwhile, by a chat that is open.",
            hint="Close the chats that use it, then repeat the command.",
        ) from None
    (directory / INSTANCE_LOCK).unlink(missing_ok=True)
    if settings.key_store == "keyring":
        try:
            forget_key(directory)
        except NoKeyring as error:
            output.say(str(error), to_stderr=True)
    for folder in {directory, *(path.parent for path in paths if path.name in {CONFIG_FILE, skill.SOURCE.name})}:
        if folder.is_dir() and not any(folder.iterdir()):
            folder.resolve().rmdir()
            if folder.is_symlink():
                folder.unlink()
            output.say(f"Removed: {folder}")


def _program_removal() -> str:
    """Return how the program is removed, depending on how it was installed."""
    parts = Path(sys.prefix).parts
    installers = {"uv": f"uv tool uninstall {APP_NAME}", "pipx": f"pipx uninstall {APP_NAME}"}
    clone = Path(__file__).parents[3]
    is_clone = (clone / "pyproject.toml").is_file()
    other = f"delete {clone}" if is_clone else typed(sys.executable, "-m", "pip", "uninstall", APP_NAME)
    return next((command for folder, command in installers.items() if folder in parts), other)
