"""Takes everything away that the product has on this machine: lists it, asks, and removes it."""

import os
import shutil
import sys
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Final, NamedTuple

import typer
from filelock import FileLock, Timeout

from browser_service.cli import output
from browser_service.cli.install import files
from browser_service.cli.install.chat_clients import CLIENTS, ClientName
from browser_service.cli.install.machine import Machine
from browser_service.cli.install.registration import carry_out, own_names, plan_removing
from browser_service.cli.running import service_of
from browser_service.cli.service import command as service
from browser_service.cli.service.units import Start, Unit, unit_for
from browser_service.security.seal import NoKeyring, forget_key
from browser_service.settings import Settings
from client import config_file, config_place, instance
from shared.data_files import CONFIG_FILE, INSTANCE_LOCK, JOURNAL_FILE, MADE
from shared.errors import BrowseError, ServiceUnavailable, ValidationFailed
from shared.installation import GATEWAY, program, typed
from shared.socket_folder import socket_folder
from shared.wire import APP_NAME, SECRET_FILE

_PROOF: Final = (JOURNAL_FILE, INSTANCE_LOCK, SECRET_FILE)
"""Names what every service leaves there, so that no other directory is taken for one of its."""


class Belongings(NamedTuple):
    """Holds what is to be removed, and what is found beside it and stays."""

    running: instance.Instance | None
    unit: Unit | None
    servers: list[tuple[ClientName, str]]
    files: list[Path]
    foreign: list[Path]

    def lines(self) -> Iterator[str]:
        if self.running:
            yield f"the running service (process {self.running.pid}, {self.running.url}), which ends"
        if self.unit:
            yield f"its start at login: {self.unit.path}"
        for client, name in self.servers:
            yield f"the server {name} of {CLIENTS[client].title}"
        yield from map(str, self.files)


def take_everything_away(machine: Machine, settings: Settings, *, only_print: bool, asks: bool) -> None:
    """List what there is, ask at the terminal, and remove it. Raises ValidationFailed where nobody can be asked."""
    found = _belongings(machine, settings)
    lines = [*found.lines()]
    if not lines:
        output.say(f"There is nothing to take away (data directory {settings.data_dir}).")
        return
    output.say("This is taken away, for good, logins included:")
    for line in lines:
        output.say(f"  {line}")
    for path in found.foreign:
        output.say(f"{path} is not the service's, and stays.")
    if settings.output_dir.exists() and not settings.output_dir.is_relative_to(settings.data_dir):
        output.say(f"{settings.output_dir}, with the files of calls, stays.")
    if only_print:
        return
    if asks:
        _ask()
    complete = _remove(machine, settings, found)
    output.say(f"Open chats may still have its server: close them. The program itself: {_program_removal()}")
    browsers = typed(sys.executable, "-m", "playwright", "uninstall")
    output.say(f"A browser that Playwright downloaded stays, because other programs may use it: {browsers}")
    if not complete:
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


def _belongings(machine: Machine, settings: Settings) -> Belongings:
    unit = unit_for(machine, Start(program(APP_NAME), settings.data_dir, {}))
    servers: list[tuple[ClientName, str]] = []
    backups: list[Path] = []
    for key, client in CLIENTS.items():
        try:
            servers += [(key, name) for name in own_names(client, machine, APP_NAME, program(GATEWAY))]
        except ValidationFailed as error:
            output.say(f"{error.message} If it has the server, remove that by hand.", to_stderr=True)
        backups += [path for path in [files.backup_of(client.file(machine))] if path.exists()]
    ours, foreign = _data(settings.data_dir)
    config = config_place.path()
    named = config_place.VARIABLE in machine.environment
    configs = [] if named else [path for path in (config, config_file.broken(config)) if path.exists()]
    return Belongings(
        service_of(settings.data_dir),
        unit if unit.path.exists() else None,
        servers,
        [*backups, *ours, *_sockets(machine), *(path for path in configs if path not in ours)],
        foreign,
    )


def _sockets(machine: Machine) -> list[Path]:
    """Return the folder of the account's gateways, if there is one."""
    if os.name != "posix":
        return []
    folder = Path(socket_folder(machine.environment))
    return [folder] if folder.is_dir() and folder.stat().st_uid == os.getuid() else []


def _data(directory: Path) -> tuple[list[Path], list[Path]]:
    """Return what the service has made in a data directory, and what else is there."""
    if not any((directory / name).exists() for name in _PROOF):
        return [], []
    there = sorted(directory.iterdir())
    ours = [path for path in there if any(fnmatch(path.name, pattern) for pattern in MADE)]
    return ours, [path for path in there if path not in ours]


def _remove(machine: Machine, settings: Settings, found: Belongings) -> bool:
    """Remove it all, the service first. Returns whether nothing was left."""
    if found.unit:
        service.remove(machine, found.unit)
    running = service_of(settings.data_dir)
    if running and not instance.stop(running):
        raise ServiceUnavailable(
            f"The service did not end within {instance.END_WITHIN_S:.0f} s (process {running.pid}).",
            hint="End it, then repeat the command.",
        )
    complete = True
    for client, name in found.servers:
        try:
            carry_out(plan_removing(machine, CLIENTS[client], name), machine)
            output.say(f"Removed: the server {name} of {CLIENTS[client].title}")
            files.backup_of(CLIENTS[client].file(machine)).unlink(missing_ok=True)
        except BrowseError as error:
            complete = False
            output.say(f"{error.message} {error.advice or ''}", to_stderr=True)
    _remove_data(settings, [*dict.fromkeys([*found.files, *_data(settings.data_dir)[0]])])  # its end writes, too
    return complete


def _remove_data(settings: Settings, paths: list[Path]) -> None:
    """Remove these files, and folders that are empty then, while no service can start. Raises ServiceUnavailable."""
    directory = settings.data_dir
    if directory.is_dir():
        try:
            with FileLock(directory / INSTANCE_LOCK, timeout=1):
                _remove_each(paths)
        except Timeout:
            raise ServiceUnavailable(
                "The service was started again meanwhile, by a chat that is open.",
                hint="Close the chats that use it, then repeat the command.",
            ) from None
        (directory / INSTANCE_LOCK).unlink(missing_ok=True)
        if settings.key_store == "keyring":
            _forget_key(directory)
    else:
        _remove_each(paths)
    for folder in {directory, *(path.parent for path in paths if path.name == CONFIG_FILE)}:
        if folder.is_dir() and not any(folder.iterdir()):
            folder.resolve().rmdir()
            if folder.is_symlink():
                folder.unlink()
            output.say(f"Removed: {folder}")


def _remove_each(paths: list[Path]) -> None:
    for path in paths:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def _forget_key(directory: Path) -> None:
    try:
        forget_key(directory)
    except NoKeyring as error:
        output.say(str(error), to_stderr=True)


def _program_removal() -> str:
    """Return the command that removes the program, by what installed it."""
    parts = Path(sys.prefix).parts
    if "uv" in parts:
        return f"uv tool uninstall {APP_NAME}"
    if "pipx" in parts:
        return f"pipx uninstall {APP_NAME}"
    return typed(sys.executable, "-m", "pip", "uninstall", APP_NAME)
