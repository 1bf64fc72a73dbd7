"""Sets this installation up in a chat client, and takes it away: `install` and `uninstall`."""

import re
import sys
from pathlib import Path
from typing import Annotated, Final

import typer

from browser_service.cli import flags, output
from browser_service.cli.install import removal
from browser_service.cli.install.chat_clients import CLIENTS, ClientName
from browser_service.cli.install.difference import difference
from browser_service.cli.install.machine import Machine
from browser_service.cli.install.registration import Plan, carry_out, entry_of, plan_adding, plan_removing, shown
from browser_service.cli.options import new_app
from shared.errors import ValidationFailed
from shared.installation import GATEWAY, command, program
from shared.model import Json
from shared.wire import APP_NAME

_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_COLUMNS: Final = {"client": False, "": False, "on this machine": False, APP_NAME: False, "configuration": True}
_PASSING: Final = ("archive-v0", "environments-v2", ".cache")
"""Names the folders in which `uvx` and `pipx run` keep what they may remove at any time."""
FIRST_PROMPT: Final = (
    'Open https://example.com in a page called "first" and tell me its headings. Then list your pages.'
)

app = new_app()


def _valid_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise typer.BadParameter("letters, digits, - and _, at most 64 of them.")
    return name


Client = Annotated[
    ClientName | None, typer.Argument(metavar="CLIENT", help=f"One of {', '.join(CLIENTS)}.", show_default=False)
]
Name = Annotated[str, typer.Option(help="Name of the server in the client.", callback=_valid_name)]
OnlyPrint = Annotated[bool, typer.Option("--print", help="Change nothing: print what would be written.")]


@app.command()
def install(
    client: Client = None, *, name: Name = APP_NAME, only_print: OnlyPrint = False, as_json: flags.AsJson = False
) -> None:
    """Set this browser up in a chat client, by the client's own command or in its configuration.

    What else is configured there stays, and a copy of the file lies beside it. Without CLIENT: which clients are on
    this machine, and which have it.
    """
    machine = Machine.here()
    if client is None:
        _list(machine, name, as_json=as_json)
        return
    chat_client, gateway = CLIENTS[client], program(GATEWAY)
    plan = plan_adding(machine, chat_client, name, gateway)
    if not plan.changes:
        output.say(f"{chat_client.title} has {name} already, and nothing changes ({plan.path}).")
        return
    if not chat_client.is_on(machine):
        output.say(f"{chat_client.title} was not found on this machine; it reads this file once it is.", to_stderr=True)
    if any(folder in Path(sys.prefix).parts for folder in _PASSING):
        output.say(
            f"This installation in {sys.prefix} is a passing one, and the server ends with it. One that stays: "
            f"`uv tool install {APP_NAME}` or `pipx install {APP_NAME}`, then `{APP_NAME} install {client}`.",
            to_stderr=True,
        )
    if only_print:
        _show(plan)
        return
    _make(plan, machine)
    output.say(f"{chat_client.title} has {name} now. {chat_client.next_step}")
    output.say(f"Then paste this into a chat: {FIRST_PROMPT}")


@app.command()
def uninstall(
    client: Client = None,
    *,
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
        raise typer.BadParameter(f"Say which client ({', '.join(CLIENTS)}), or --data for everything.")
    machine = Machine.here()
    if client is None:
        removal.take_everything_away(machine, flags.settings(data_dir), only_print=only_print, asks=not yes)
        return
    title = CLIENTS[client].title
    plan = plan_removing(machine, CLIENTS[client], name)
    if not plan.changes:
        output.say(f"{title} has no server {name}, and nothing changes ({plan.path}).")
        return
    if only_print:
        _show(plan)
        return
    _make(plan, machine)
    output.say(f"{title} has no server {name} any more. {CLIENTS[client].next_step}")


def _list(machine: Machine, name: str, *, as_json: bool) -> None:
    found: list[Json] = []
    for key, client in CLIENTS.items():
        try:
            state = "yes" if entry_of(client, machine, name) is not None else "no"
        except ValidationFailed as error:
            state = "unreadable"
            output.say(error.message, to_stderr=True)
        here, file = client.is_on(machine), str(client.file(machine))
        found.append({"client": key, "title": client.title, "found": here, "installed": state, "file": file})
    if as_json:
        output.say_json(found)
        return
    rows = [
        [
            str(each["client"]),
            str(each["title"]),
            "yes" if each["found"] else "no",
            str(each["installed"]),
            str(each["file"]),
        ]
        for each in found
    ]
    output.show_rows(_COLUMNS, [rows])
    output.say(f"Set it up in one of them: {command('install', 'CLIENT')}")


def _show(plan: Plan) -> None:
    """Print what would be done. Where the client's command does it, the file may look a little otherwise."""
    if plan.command:
        output.say(f"$ {shown(plan.command)}")
    for line in difference(plan.path, plan.before, plan.after):
        output.say(line)


def _make(plan: Plan, machine: Machine) -> None:
    done = carry_out(plan, machine)
    if plan.command:
        output.say(f"$ {shown(plan.command)}")
    if done.problem:
        output.say(f"That command could not do it ({done.problem}): its file is edited instead.", to_stderr=True)
    for line in difference(plan.path, plan.before, done.after):
        output.say(line)
    if done.backup:
        output.say(f"What was there is kept in {done.backup}")
