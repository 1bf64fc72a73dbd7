"""Registers this installation in a chat client, and removes it: `install` and `uninstall`."""

import re
import sys
from collections.abc import Iterator, Mapping
from difflib import unified_diff
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Final

import typer

from browse_together.client import config_place
from browse_together.contract.errors import ValidationFailed
from browse_together.contract.installation import GATEWAY, command, program, typed
from browse_together.contract.wire import APP_NAME
from browser_service.cli import files, flags, output
from browser_service.cli.install import skill as skills
from browser_service.cli.install.chat_clients import CLIENTS, ChatClient
from browser_service.cli.install.machine import Machine
from browser_service.cli.install.pasted_clients import PASTED, PastedClient, json_lines, usual_entry
from browser_service.cli.install.registration import Change, servers_of
from browser_service.cli.options import new_app
from browser_service.cli.service import unit_file
from browser_service.cli.starting import service_of
from browser_service.settings import Settings

_SERVER: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
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


def _valid_server(name: str) -> str:
    if not _SERVER.fullmatch(name):
        raise typer.BadParameter("letters, digits, - and _, at most 64 of them.")
    return name


_ALL: Final[tuple[ChatClient | PastedClient, ...]] = (*CLIENTS.values(), *PASTED.values())
_NAMES: Final = ", ".join([*CLIENTS, *PASTED])
Client = Annotated[str | None, typer.Argument(metavar="CLIENT", help=f"One of {_NAMES}.", show_default=False)]
Server = Annotated[str, typer.Option(help="Name of the server in the client.", callback=_valid_server)]
Skill = Annotated[
    bool, typer.Option("--skill", help="Instead, the skill: how an agent works in this browser, also by commands.")
]
OnlyPrint = Annotated[bool, typer.Option("--print", help="Change nothing: print what would be written.")]


@app.command()
def install(
    client: Client = None,
    *,
    skill: Skill = False,
    name: Annotated[
        str, typer.Option(help="What its chats are called, in place of the client and its folder.", show_default=False)
    ] = "",
    server: Server = APP_NAME,
    only_print: OnlyPrint = False,
    as_json: flags.AsJson = False,
) -> None:
    """Set this browser up in a chat client, by the client's own command or in its configuration.

    What else is configured there stays, and a copy of the file lies beside it. Without CLIENT: whose
    program or files are here, and which clients have it. For all other clients: the lines to paste.
    """
    machine = Machine.here()
    if client is None:
        _list(machine, server, as_json=as_json)
        return
    if skill:
        _add_skill(_with_skills(client), machine, only_print=only_print)
        return
    chat_client = CLIENTS.get(client)
    variables = machine.service_variables | ({"BROWSE_NAME": name} if name else {})
    if chat_client is None:
        _show_lines(client, machine, server, variables)
        return
    change = Change(machine, chat_client, server, program(GATEWAY), variables)
    if change.is_made(files.read(change.path)):
        output.say(f"{chat_client.title} has {server} already, and nothing changes ({change.path}).")
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
        output.say(f"{chat_client.title} has {server} now. {chat_client.next_step}")
        output.say(f"Then paste this into a chat: {FIRST_PROMPT}")


@app.command()
def uninstall(
    client: Client = None,
    *,
    skill: Annotated[bool, typer.Option("--skill", help="Instead, the skill that install --skill put there.")] = False,
    server: Server = APP_NAME,
    only_print: OnlyPrint = False,
) -> None:
    """Take this browser away from a chat client; without CLIENT, from each, and say what is left to delete."""
    machine = Machine.here()
    if client is None:
        if skill:
            raise typer.BadParameter(f"Say from which client ({_NAMES}).")
        _take_out_everywhere(machine, server, flags.settings(), only_print=only_print)
        return
    if skill:
        _remove_skill(_with_skills(client), machine, only_print=only_print)
        return
    if client not in CLIENTS:
        _show_lines(client, machine, server, machine.service_variables, remove=True)
        return
    change = Change(machine, CLIENTS[client], server)
    if change.is_made(files.read(change.path)):
        output.say(f"{change.client.title} has no server {server}, and nothing changes ({change.path}).")
    else:
        _remove(change, only_print=only_print)


def _remove(change: Change, *, only_print: bool) -> None:
    if _make(change, only_print=only_print):
        output.say(f"{change.client.title} has no server {change.name} any more. A chat that is open keeps it.")


def _show_lines(
    client: str, machine: Machine, name: str, variables: Mapping[str, str], *, remove: bool = False
) -> None:
    """Print the lines that a person pastes into a client's file, or takes out of it. Exits with 1 if the client is not
    known, because its file then has to be found too."""
    gateway = program(GATEWAY)
    if known := PASTED.get(client):
        file, section, lines = str(known.file(machine)), known.section, known.lines(name, gateway, variables)
    else:
        output.say(f"{client} is none of the clients that are known here ({_NAMES}).", to_stderr=True)
        file, section = "the file in which it lists its MCP servers", "mcpServers"
        lines = json_lines(section, name, usual_entry(gateway, variables))
    paste = f'Paste this into {file}. If "{section}" is there already, add to it what is in it here:'
    what = f'Take {name} out of "{section}" in {file}, where it stands like this:' if remove else paste
    output.say(f"Nothing was changed. {what}", to_stderr=True)
    output.say(lines)
    if known is None:
        raise typer.Exit(1)
    if not remove:
        output.say(f"{known.next_step}\nThen paste this into a chat: {FIRST_PROMPT}", to_stderr=True)


def _take_out_everywhere(machine: Machine, name: str, settings: Settings, *, only_print: bool) -> None:
    """Take our servers out of the clients that are set up here, and say what a person deletes. Exits with 1 if a
    client's file could not be changed."""
    failed = False
    for client in CLIENTS.values():
        try:
            own = servers_of(client, machine).items()
            for each in [each for each, entry in own if each == name or client.starts(entry, program(GATEWAY))]:
                _remove(Change(machine, client, each), only_print=only_print)
        except ValidationFailed as error:
            output.say(f"{error.message} {error.advice or ''}".rstrip(), to_stderr=True)
            failed = True
    if not only_print and not failed:
        output.say("No chat client that is set up here has the server any more.")
    _tell_left(machine, settings)
    if failed:
        raise typer.Exit(1)


def _tell_left(machine: Machine, settings: Settings) -> None:
    """Say what a person takes out, ends and deletes."""
    for key, pasted in PASTED.items():
        if APP_NAME in (files.read(pasted.file(machine)) or ""):
            output.say(f"{pasted.title} has lines that you pasted: {command('uninstall', key)} says which to take out.")
    if service_of(settings.data_dir):
        output.say(f"The service runs. End it: {command('down')}")
    if unit_file(machine).exists():
        output.say(f"It starts at login. To stop that: {command('service', 'uninstall')}")
    left = [path for path in dict.fromkeys(_left(machine, settings)) if path.exists()]
    if left:
        output.say("Then delete what is left:")
    for path in left:
        output.say(f"  {path}{', with all logins' if path == settings.data_dir else ''}")
    if settings.key_store == "keyring":
        output.say(f"The key of saved logins is in the system's keyring, under {APP_NAME}.")
    output.say(f"Last, the program: uv tool uninstall {APP_NAME}, pipx uninstall {APP_NAME}, or delete its clone.")


def _left(machine: Machine, settings: Settings) -> Iterator[Path]:
    """Yield what this product writes outside of clients' files, whether it is there or not."""
    yield settings.data_dir
    if not settings.output_dir.is_relative_to(settings.data_dir):
        yield settings.output_dir
    yield config_place.path()
    for client in _ALL:
        if path := skills.place(client, machine):
            yield path.parent


def _with_skills(client: str) -> ChatClient | PastedClient:
    """Return a client. Raises ValidationFailed for one that is not known."""
    if found := CLIENTS.get(client) or PASTED.get(client):
        return found
    raise ValidationFailed(
        f"{client} has no folder of skills that is known here.", hint=f"Copy this file there: {skills.SOURCE}"
    )


def _add_skill(client: ChatClient | PastedClient, machine: Machine, *, only_print: bool) -> None:
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


def _remove_skill(client: ChatClient | PastedClient, machine: Machine, *, only_print: bool) -> None:
    path = skills.required_place(client, machine)
    if files.read(path) is None:
        output.say(f"{client.title} has no such skill, and nothing changes ({path}).")
        return
    output.say(f"--- {path}")
    if not only_print:
        backup = skills.remove(path)
        readers = [each.title for each in _ALL if skills.place(each, machine) == path]
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
    output.say(f"The same prints the lines to paste for {', '.join(PASTED)}, and for any other client.")


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
