"""Changes a chat client's configuration: a server is added, or removed."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final, NamedTuple

from pydantic import JsonValue

from browser_service.cli import files
from browser_service.cli.install.chat_clients import ChatClient, Gateway
from browser_service.cli.install.machine import Machine
from browser_service.cli.install.texts import Malformed, NotEditable
from shared.errors import ValidationFailed
from shared.model import Json

_EMPTY: Final = re.compile(r"[\s{}]*")


class Done(NamedTuple):
    """What a change made of the file. `problem` says why the client's own command could not make it."""

    after: str | None
    backup: Path | None
    problem: str


@dataclass(frozen=True)
class Change:
    """A server to add to a client's configuration; without a gateway, to remove."""

    machine: Machine
    client: ChatClient
    name: str
    gateway: Gateway = ()

    @property
    def path(self) -> Path:
        return self.client.file(self.machine)

    @cached_property
    def earlier(self) -> str | None:
        """Return the copy of the file that an earlier change left."""
        return files.read(files.backup_of(self.path))

    def servers(self, text: str | None) -> Json:
        """Return the servers in a file's text by their names. Raises ValidationFailed."""
        with self._explained():
            return self.client.format.servers(text or "", self.client.section)

    def is_made(self, text: str | None) -> bool:
        """Return whether a file's text is as it should be, in whichever way it is written. Raises ValidationFailed."""
        own = self.servers(text).get(self.name)
        return starts(own, self.gateway) if self.gateway else own is None

    def command(self) -> Sequence[str]:
        """Return the client's own command that makes the change; empty if it has none here."""
        client = self.client
        program = self.machine.program(client.program) if client.program else None
        words = client.removing and client.removing(self.name)
        if self.gateway:
            # Some would take arguments of the server for their own, and Windows' shell breaks JSON.
            fits = len(self.gateway) == 1 and self.machine.platform != "win32"
            is_new = self.name not in self.servers(files.read(self.path))  # else its other settings would go
            words = client.adding(self.name, self.gateway) if client.adding and fits and is_new else None
        return [program, *words] if program and words else ()

    def after(self, text: str | None) -> str | None:
        """Return what becomes of a file's text; None is no file. Raises ValidationFailed."""
        if self.is_made(text):
            return text
        own, entry = self.servers(text).get(self.name), None
        if self.gateway:  # what an entry says beside the command stays
            entry = {**(own if isinstance(own, dict) else {}), **self.client.entry(self.gateway)}
        with self._explained():
            edited = self.client.format.edited(text or "", self.client.section, self.name, entry)
        is_ours = self.earlier is None and not self.path.is_symlink()
        return None if entry is None and is_ours and _EMPTY.fullmatch(edited) else edited

    def carry_out(self) -> Done:
        """Make the change, by the client's own command or in its file, with a copy of what was there."""
        files.check_writable(self.path)
        command, before, problem = self.command(), files.read(self.path), ""
        after = before if command else self.after(before)
        backup, earlier = files.backup_of(self.path), self.earlier
        if before is not None:
            files.replace(backup, earlier, before)
        if command:
            problem, before = self.machine.failure_of(command), files.read(self.path)
            if not problem and not self.is_made(before):
                problem = "it has not changed this file"
            after = self.after(before)
        if after is None:
            self.path.unlink(missing_ok=True)
        elif after != before:
            files.replace(self.path, before, after)
        if after in {None, earlier}:  # all is as it was before the server came, and the copy has nothing more
            backup.unlink(missing_ok=True)
        return Done(after, backup if backup.exists() else None, problem)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Say which file cannot be used, and how a person makes the change."""
        client, path = self.client, self.path
        try:
            yield
        except Malformed as error:
            raise ValidationFailed(
                f"{path} is no {client.format.name} that {client.title} could read: {error}. It was left as it is.",
                hint="Correct it there, then repeat the command.",
            ) from None
        except NotEditable:
            hint = f"Take {self.name} out of {client.section!r} there."
            if self.gateway:
                pasted = client.format.edited("", client.section, self.name, client.entry(self.gateway))
                hint = f"Paste this there:\n{pasted}"
            raise ValidationFailed(
                f"{path} cannot be edited without losing something of it, and was left as it is.", hint=hint
            ) from None


def servers_of(client: ChatClient, machine: Machine) -> Json:
    """Return the servers of a client's configuration by their names. Raises ValidationFailed."""
    return Change(machine, client, "").servers(files.read(client.file(machine)))


def starts(entry: JsonValue, gateway: Gateway) -> bool:
    """Return whether an entry starts this gateway, in whichever way it is written."""
    if not isinstance(entry, dict):
        return False
    return entry.get("command") == gateway[0] and entry.get("args", []) == list(gateway[1:])
