"""Adds a server to a chat client's configuration, or removes one."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final, NamedTuple

from browse_together.contract.errors import ValidationFailed
from browse_together.contract.model import Json
from browser_service.cli import files
from browser_service.cli.install.chat_clients import ChatClient, Gateway
from browser_service.cli.install.machine import Machine
from browser_service.cli.install.texts import JsonText, Malformed, NotEditable

_EMPTY: Final = re.compile(r"[\s{}]*")


class Done(NamedTuple):
    """The result of a change. `problem` says why the client's own command could not make it."""

    after: str | None
    backup: Path | None
    problem: str


@dataclass(frozen=True)
class Change:
    """A server to add to a client's configuration, or without a gateway, to remove."""

    machine: Machine
    client: ChatClient
    name: str
    gateway: Gateway = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    """The gateway's."""

    @property
    def path(self) -> Path:
        return self.client.file(self.machine)

    @property
    def entry(self) -> Json:
        variables: Json = {**self.variables}
        return {**self.client.entry(self.gateway), **({"env": variables} if variables else {})}

    @cached_property
    def earlier(self) -> str | None:
        """Return the text of the backup left by an earlier change; None without one."""
        return files.read(files.backup_of(self.path))

    def servers(self, text: str | None) -> Json:
        """Return the servers in a file's text, by name. Raises ValidationFailed."""
        with self._explained():
            return self.client.format.servers(text or "", self.client.section)

    def is_made(self, text: str | None) -> bool:
        """Return whether the text already has the change, however it is written. Raises ValidationFailed."""
        own = self.servers(text).get(self.name)
        if not self.gateway or not isinstance(own, dict):
            return not self.gateway and own is None
        return self.client.starts(own, self.gateway) and self.variables.items() <= _variables_in(own).items()

    def command(self) -> Sequence[str]:
        """Return the client's own command for the change; empty if it cannot be used here."""
        client = self.client
        program = self.machine.program(client.program) if client.program else None
        words = client.removing and client.removing(self.name)
        if self.gateway:
            # Some clients would take the server's arguments for their own, and the Windows shell breaks JSON.
            fits = len(self.gateway) == 1 and not self.variables and self.machine.platform != "win32"
            is_new = self.name not in self.servers(files.read(self.path))  # else its other settings would be lost
            words = client.adding(self.name, self.gateway) if client.adding and fits and is_new else None
        return [program, *words] if program and words else ()

    def after(self, text: str | None) -> str | None:
        """Return the text after the change; None means no file. Raises ValidationFailed."""
        if self.is_made(text):
            return text
        own, entry = self.servers(text).get(self.name), None
        if self.gateway:  # keeps an entry's other settings
            own = own if isinstance(own, dict) else {}
            entry = {**own, **self.entry}
            if self.variables:
                entry["env"] = {**_variables_in(own), **self.variables}
        with self._explained():
            edited = self.client.format.edited(text or "", self.client.section, self.name, entry)
        whole, earlier = isinstance(self.client.format, JsonText), self.earlier  # other formats keep what people write
        if entry is None and whole and earlier and self.client.format.says_same(edited, earlier):
            return earlier  # as it was written before the server came
        is_ours = self.earlier is None and not self.path.is_symlink()
        return None if entry is None and is_ours and _EMPTY.fullmatch(edited) else edited

    def carry_out(self) -> Done:
        """Make the change by the client's own command or in its file, with a backup of the file."""
        files.check_writable(self.path)
        command, before, problem = self.command(), files.read(self.path), ""
        after = before if command else self.after(before)
        backup, earlier = files.backup_of(self.path), self.earlier
        if before is not None:
            files.keep(self.path, before)
        if command:
            problem, before = self.machine.failure_of(command), files.read(self.path)
            if not problem and not self.is_made(before):
                problem = "it has not changed this file"
            after = self.after(before)
        if after is None:
            self.path.unlink(missing_ok=True)
        elif after != before:
            files.replace(self.path, before, after)
        if after in {None, earlier}:  # the file is as it was before the server came, so the backup adds nothing
            backup.unlink(missing_ok=True)
        return Done(after, backup if backup.exists() else None, problem)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn errors of the text into ones that name the file and say how a person makes the change."""
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
                pasted = client.format.edited("", client.section, self.name, self.entry)
                hint = f"Paste this there:\n{pasted}"
            raise ValidationFailed(
                f"{path} cannot be edited without losing something of it, and was left as it is.", hint=hint
            ) from None


def _variables_in(entry: Json) -> Json:
    given = entry.get("env")
    return given if isinstance(given, dict) else {}


def servers_of(client: ChatClient, machine: Machine) -> Json:
    """Return the servers in a client's configuration, by name. Raises ValidationFailed."""
    return Change(machine, client, "").servers(files.read(client.file(machine)))
