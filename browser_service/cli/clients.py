"""Shows who is there, and gives chats other names: `clients` and `clients rename`."""

from typing import Annotated, Final, cast

import typer

from browse_together.contract import wire
from browse_together.contract.model import Json
from browser_service.cli import flags, output
from browser_service.cli.client import Client
from browser_service.cli.options import new_app

_COLUMNS: Final = {"client": False, "pages": False, "": False}

app = new_app()
clients = typer.Typer(no_args_is_help=False, rich_markup_mode=None, help="The chats that are there, and their names.")
app.add_typer(clients, name="clients", invoke_without_command=True)


@clients.callback()
def show(context: typer.Context, *, data_dir: flags.DataDir = None, as_json: flags.AsJson = False) -> None:
    """The chats that are there or have a page, each by its name: its program and the folder that it works in."""
    if context.invoked_subcommand:
        return
    with Client(flags.settings(data_dir).data_dir, operator=True) as service:
        agents = cast("list[Json]", service.get(wire.AGENTS)["agents"])  # the service's reply
    if as_json:
        output.say_json(agents)
    elif not agents:
        output.say("No chat is there.")
    else:
        rows = [(str(each["label"]), str(each["pages"]), "" if each["since"] else "away") for each in agents]
        output.show_rows(_COLUMNS, [rows])


@clients.command()
def rename(
    client: Annotated[str, typer.Argument(metavar="CLIENT", help="Its name as `clients` shows it, or its id.")],
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its name from now on.")],
    *,
    data_dir: flags.DataDir = None,
) -> None:
    """Call a chat by another name, everywhere. It keeps that over restarts."""
    with Client(flags.settings(data_dir).data_dir, operator=True) as service:
        renamed = service.post(wire.RENAME, {"client": client, "name": name})
    output.say(f"{client} is called {renamed['name']} now.")
