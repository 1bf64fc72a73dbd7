"""Plans and makes one change of a chat client's configuration: a server is added, or removed."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from browser_service.cli.install import files
from browser_service.cli.install.chat_clients import ChatClient, Gateway
from browser_service.cli.install.documents import Entry, Malformed, servers, with_entry, without_entry
from browser_service.cli.install.machine import Machine
from shared.errors import ValidationFailed
from shared.installation import typed

Edit = Callable[[str | None], str | None]
"""Makes a file's new text of its old one; None is no file."""


@dataclass(frozen=True)
class Plan:
    path: Path
    before: str | None
    edit: Edit
    command: tuple[str, ...] = ()
    """Holds the client's own command that does it, if it has one here."""
    earlier: str | None = None
    """Holds the copy of the file that an earlier change left."""

    @property
    def after(self) -> str | None:
        return self.edit(self.before)

    @property
    def changes(self) -> bool:
        return self.after != self.before


@dataclass(frozen=True)
class Done:
    after: str | None
    backup: Path | None
    by_command: bool
    problem: str = ""
    """Says why the client's own command could not do it, so that its file was edited."""


def entry_of(client: ChatClient, machine: Machine, name: str) -> JsonValue:
    """Return what a client's configuration says of a server; None if nothing. Raises ValidationFailed."""
    path = client.file(machine)
    with _explained(path, client):
        return servers(client.format, files.read(path) or "", client.section).get(name)


def own_names(client: ChatClient, machine: Machine, name: str, gateway: Gateway) -> list[str]:
    """Return the servers of a client that are this one: by their name, or by the command. Raises ValidationFailed."""
    path = client.file(machine)
    with _explained(path, client):
        entries = servers(client.format, files.read(path) or "", client.section)
    return [key for key, own in entries.items() if key == name or _starts(own, gateway)]


def plan_adding(machine: Machine, client: ChatClient, name: str, gateway: Gateway) -> Plan:
    """Plan to add a server. What else its entry says stays. Raises ValidationFailed for a file that cannot be used."""
    path = client.file(machine)
    before = files.read(path)

    def edit(text: str | None) -> str | None:
        with _explained(path, client):
            return _added(client, text, name, gateway)

    own = entry_of(client, machine, name)
    program = machine.program(client.program) if client.program and own is None else None
    words = client.adding(name, gateway) if client.adding else []
    # Some would take arguments of the server for their own, and Windows' shell breaks JSON.
    fits = len(gateway) == 1 and machine.platform != "win32"
    return Plan(path, before, edit, (program, *words) if program and words and fits else ())


def plan_removing(machine: Machine, client: ChatClient, name: str) -> Plan:
    """Plan to remove a server. Where nothing else was changed since, the file is what it was before it was added."""
    path = client.file(machine)
    backup = files.read(files.backup_of(path))

    def edit(text: str | None) -> str | None:
        with _explained(path, client):
            own = servers(client.format, text or "", client.section).get(name)
            if text is None or own is None:
                return text
            for earlier in (backup,) if path.is_symlink() else (backup, None):
                if isinstance(own, dict) and _restores(client, earlier, name, own, text):
                    return earlier
            return without_entry(client.format, text, client.section, name)

    program = machine.program(client.program) if client.program else None
    words = client.removing(name) if client.removing else []
    return Plan(path, files.read(path), edit, (program, *words) if program and words else (), backup)


def carry_out(plan: Plan, machine: Machine) -> Done:
    """Make the change, by the client's own command or in its file, with a copy of what was there."""
    files.check_writable(plan.path)
    earlier = plan.earlier
    backup = files.save_backup(plan.path, plan.before) if plan.before is not None else None
    problem = ""
    if plan.command:
        problem = machine.failure_of(plan.command)
        current = files.read(plan.path)
        if not problem and plan.edit(current) == current:
            return Done(current, backup, by_command=True)
        problem = problem or "it has not changed this file"
        plan = Plan(plan.path, current, plan.edit)
    after = plan.after
    if after is None:
        plan.path.unlink(missing_ok=True)
    elif after != plan.before:
        files.replace(plan.path, plan.before, after)
    if backup and after in {None, earlier}:  # all is as it was before the server came, and the copy has nothing more
        backup.unlink(missing_ok=True)
        backup = None
    return Done(after, backup, by_command=False, problem=problem)


def _added(client: ChatClient, text: str | None, name: str, gateway: Gateway) -> str:
    """Return the text with the server; the same text if it has it already, in whichever way it is written."""
    own = servers(client.format, text or "", client.section).get(name)
    entry = client.entry(gateway)
    if not isinstance(own, dict):
        return with_entry(client.format, text or "", client.section, name, entry)
    if text is not None and _starts(own, gateway):
        return text
    return with_entry(client.format, text or "", client.section, name, {**own, **entry})


def _starts(own: JsonValue, gateway: Gateway) -> bool:
    return isinstance(own, dict) and own.get("command") == gateway[0] and own.get("args", []) == list(gateway[1:])


def _restores(client: ChatClient, earlier: str | None, name: str, own: Entry, text: str) -> bool:
    """Say if the text is an earlier one with nothing but this server added."""
    try:
        if name in servers(client.format, earlier or "", client.section):
            return False
        return with_entry(client.format, earlier or "", client.section, name, own) == text
    except Malformed:
        return False


@contextmanager
def _explained(path: Path, client: ChatClient) -> Iterator[None]:
    """Say of which file and format a text is that is not well formed."""
    try:
        yield
    except Malformed as error:
        raise ValidationFailed(
            f"{path} is no {client.format.name} that {client.title} could read: {error}. It was left as it is.",
            hint="Correct it there, then repeat the command.",
        ) from None


def shown(command: tuple[str, ...]) -> str:
    """Write a client's command as one types it, with the program's short name."""
    return typed(Path(command[0]).stem, *command[1:])
