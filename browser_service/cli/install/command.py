"""Registers this installation in a chat client, and removes it: `install` and `uninstall`."""

import re
import sys
from collections.abc import Iterator, Mapping
from difflib import unified_diff
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Final, cast

import typer

from browser_service.cli import files, flags, output
from browser_service.cli.install import removal
from browser_service.cli.install import skill as skills
from browser_service.cli.install.chat_clients import CLIENTS, PASTED, UNKNOWN, ChatClient, ClientName
from browser_service.cli.install.machine import Machine
from browser_service.cli.install.registration import Change, servers_of
from browser_service.cli.options import new_app
from shared.errors import ValidationFailed
from shared.installation import GATEWAY, command, program, typed
from shared.wire import APP_NAME

_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_COLUMNS: Final = {"client": False, "": False, "program or files here": False, APP_NAME: False, "configuration": True}
_PASSING: Final = ("archive-v0", "environments-v2", ".cache")
"""Folders of `uvx` and `pipx run`, which may delete their contents at any time."""
_YES_OR_NO: Final[Mapping[object, str]] = MappingProxyType({True: "yes", False: "no"})
_MOST_LINES: Final = 60
_MOST_CHARACTERS: Final = 200
_MOST_COMPARED: Final = 20_000
FIRST_PROMPT: Final = (
    'Open https://example.com in a page called "first" and tell me its headings. Then list your pages.'
)

app = new_app()


def _valid_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise typer.BadParameter("letters, digits, - and _, at most 64 of them.")
    return name


_NAMES: Final = f"{', '.join([*CLIENTS, *PASTED])}"
Client = Annotated[str | None, typer.Argument(metavar="CLIENT", help=f"One of {_NAMES}.", show_default=False)]
Name = Annotated[str, typer.Option(help="Name of the server in the client.", callback=_valid_name)]
Skill = Annotated[
    bool, typer.Option("--skill", help="Instead, the skill: how an agent works in this browser, also by commands.")
]
OnlyPrint = Annotated[bool, typer.Option("--print", help="Change nothing: print what would be written.")]


@app.command()
def install(
    client: Client = None,
    *,
    skill: Skill = False,
    name: Name = APP_NAME,
    only_print: OnlyPrint = False,
    as_json: flags.AsJson = False,
) -> None:
    """Set this browser up in a chat client, by the client's own command or in its configuration.

    What else is configured there stays, and a copy of the file lies beside it. Without CLIENT: whose
    program or files are here, and which clients have it. With one that is not known: the lines to paste.
    """
    machine = Machine.here()
    if client is None:
        _list(machine, name, as_json=as_json)
        return
    if skill and client not in CLIENTS:
        raise ValidationFailed(
            f"{client} has no folder of skills that is known here.", hint=f"Copy this file there: {skills.SOURCE}"
        )
    chat_client = _known(client, machine, name)
    if skill:
        _add_skill(chat_client, machine, only_print=only_print)
        return
    change = Change(machine, chat_client, name, program(GATEWAY), machine.service_variables)
    if change.is_made(files.read(change.path)):
        output.say(f"{chat_client.title} has {name} already, and nothing changes ({change.path}).")
        return
    if not chat_client.is_on(machine):
        output.say(f"{chat_client.title} was not found on this machine; it reads this file once it is.", to_stderr=True)
    if any(folder in Path(sys.prefix).parts for folder in _PASSING):
        output.say(
            f"This installation in {sys.prefix} is a passing one, and the server ends with it. One that stays: "
            f"`uv tool install {APP_NAME}` or `pipx install {APP_NAME}`, then `{APP_NAME} install {client}`.",
            to_stderr=True,
        )
    if _make(change, only_print=only_print):
        output.say(f"{chat_client.title} has {name} now. {chat_client.next_step}")
        output.say(f"Then paste this into a chat: {FIRST_PROMPT}")


@app.command()
def uninstall(
    client: Client = None,
    *,
    skill: Annotated[bool, typer.Option("--skill", help="Instead, the skill that install --skill put there.")] = False,
    name: Name = APP_NAME,
    only_print: OnlyPrint = False,
    data: Annotated[
        bool, typer.Option("--data", help="Take everything away: service, clients' servers, and all data.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before --data.")] = False,
    data_dir: flags.DataDir = None,
) -> None:
    """Take this browser away from a chat client; or, with --data, everything that it has on this machine."""
    if (client is None) is not data:
        raise typer.BadParameter(f"Say which client ({_NAMES}), or --data for everything.")
    machine = Machine.here()
    if client is None:
        removal.take_everything_away(machine, flags.settings(data_dir), only_print=only_print, asks=not yes)
        return
    chat_client = _known(client, machine)
    if skill:
        _remove_skill(chat_client, machine, only_print=only_print)
        return
    change = Change(machine, chat_client, name)
    if change.is_made(files.read(change.path)):
        output.say(f"{change.client.title} has no server {name}, and nothing changes ({change.path}).")
    elif _make(change, only_print=only_print):
        output.say(f"{change.client.title} has no server {name} any more. {change.client.next_step}")


def _known(client: str, machine: Machine, name: str = "") -> ChatClient:
    """Return a client. For another one this says what to paste, or to take out if there is no name, and exits."""
    if found := {**CLIENTS}.get(cast("ClientName", client)):
        return found
    where, lines = PASTED.get(client, UNKNOWN)
    if client not in PASTED:
        output.say(f"{client} is none of the clients that are known here ({_NAMES}).", to_stderr=True)
    if name:
        output.say(f"Nothing was changed. Paste this into {where}:", to_stderr=True)
        output.say(lines(name, program(GATEWAY), machine.service_variables))
    else:
        output.say(f"Nothing was changed. Take {APP_NAME} out of {where}.", to_stderr=True)
    raise typer.Exit(1)


def _add_skill(client: ChatClient, machine: Machine, *, only_print: bool) -> None:
    path = skills.required_place(client, machine)
    if files.read(path) == skills.text():
        output.say(f"{client.title} has the skill already, and nothing changes ({path}).")
        return
    output.say(f"+++ {path}")
    if only_print:
        output.say(skills.text())
        return
    backup = skills.add(path)
    output.say(f"{client.title} has the skill now, from the next chat on.")
    _tell_kept(backup)


def _tell_kept(backup: Path | None) -> None:
    if backup:
        output.say(f"What was there is kept in {backup}")


def _remove_skill(client: ChatClient, machine: Machine, *, only_print: bool) -> None:
    path = skills.required_place(client, machine)
    if files.read(path) is None:
        output.say(f"{client.title} has no such skill, and nothing changes ({path}).")
        return
    output.say(f"--- {path}")
    if not only_print:
        backup = skills.remove(path)
        readers = [each.title for each in CLIENTS.values() if skills.place(each, machine) == path]
        output.say(f"Gone from where it is read by {', '.join(readers)}.")
        _tell_kept(backup)


def _list(machine: Machine, name: str, *, as_json: bool) -> None:
    found: list[dict[str, str | bool]] = []
    for key, client in CLIENTS.items():
        try:
            installed = "yes" if name in servers_of(client, machine) else "no"
        except ValidationFailed as error:
            installed = "unreadable"
            output.say(error.message, to_stderr=True)
        here, file = client.is_on(machine), str(client.file(machine))
        found.append({"client": key, "title": client.title, "found": here, "installed": installed, "file": file})
    if as_json:
        output.say_json(found)
        return
    rows = [[_YES_OR_NO.get(value) or str(value) for value in each.values()] for each in found]
    output.show_rows(_COLUMNS, [rows])
    output.say(f"Set it up in one of them: {command('install', 'CLIENT')}")


def _make(change: Change, *, only_print: bool) -> bool:
    """Make the change, or only print it. Returns whether it was made."""
    before, words = files.read(change.path), change.command()
    if words:
        output.say(f"$ {typed(Path(words[0]).stem, *words[1:])}")
    if only_print:
        after = before if words else change.after(before)
    else:
        after, backup, problem = change.carry_out()
        if problem:
            output.say(f"That command could not do it ({problem}): its file is edited instead.", to_stderr=True)
    if after != before:
        for line in difference(change.path, before, after):
            output.say(line)
    if not only_print and backup:
        output.say(f"What was there is kept in {backup}")
    return not only_print


def difference(path: Path, before: str | None, after: str | None) -> Iterator[str]:
    """Yield the lines of a diff, with few unchanged lines, because these may contain others' secrets."""
    old, new = (before or "").splitlines(), (after or "").splitlines()
    yield f"--- {path}" if before is not None else "--- (no file)"
    yield f"+++ {path}" if after is not None else "+++ (no file)"
    if max(len(old), len(new)) > _MOST_COMPARED:
        yield f"@@ {len(old)} lines become {len(new)} @@"
        return
    lines = [*unified_diff(old, new, n=1, lineterm="")][2:]
    for line in lines[:_MOST_LINES]:
        yield line if len(line) <= _MOST_CHARACTERS else f"{line[:_MOST_CHARACTERS]}…"
    if len(lines) > _MOST_LINES:
        yield f"… {len(lines) - _MOST_LINES} more lines"
