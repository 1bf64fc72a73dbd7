"""Makes tokens of callers and of hosts, lists them, and revokes them: `token`."""

from typing import Annotated, Final, cast

import typer

from browse_together.client.credentials import DAY_S
from browse_together.contract import wire
from browse_together.contract.model import Json
from browser_service.cli import client, flags, output, times
from browser_service.cli.options import new_app

_COLUMNS: Final = {"name": False, "state": False, "limits": True, "made": False, "last used": False, "expires": False}

app = new_app()
token = typer.Typer(no_args_is_help=False, rich_markup_mode=None, help="Tokens for callers, with limits or without.")
app.add_typer(token, name="token", invoke_without_command=True)

Name = Annotated[str, typer.Argument(metavar="NAME", help="As `token list` shows it.")]


@token.callback()
def print_one(
    context: typer.Context,
    *,
    data_dir: flags.DataDir = None,
    label: Annotated[
        str, typer.Option(help="Name of a caller that is to have pages of its own; else it shares the command line's.")
    ] = "",
    days: Annotated[int, typer.Option(min=1, max=3650, help="How long it is valid.")] = 30,
    header: Annotated[bool, typer.Option("--header", help="Print the whole header, as curl reads it.")] = False,
) -> None:
    """Without a command: print a token of this account, without limits, for callers over plain HTTP: browse-together
    token --header | curl -H @- ..., which shows it in no command line. With one: tokens that have a name and limits."""
    if context.invoked_subcommand is None:
        made = client.token(flags.settings(data_dir).data_dir, label, lifetime_s=days * DAY_S)
        typer.echo(f"Authorization: Bearer {made}" if header else made)


@token.command()
def create(
    *,
    data_dir: flags.DataDir = None,
    name: Annotated[str, typer.Option(metavar="NAME", help="What the token is called, such as ci-reader.")],
    read_only: Annotated[
        bool, typer.Option("--read-only", help="It only reads; it opens, moves and closes pages of its own for that.")
    ] = False,
    no_scripting: Annotated[
        bool, typer.Option("--no-scripting", help="It runs no JavaScript of its own in pages, and mocks no answers.")
    ] = False,
    no_cookies: Annotated[
        bool, typer.Option("--no-cookies", help="It has nothing to do with cookies, in no session.")
    ] = False,
    cookies: Annotated[
        bool, typer.Option("--cookies", help="It reads cookie values of the shared login, and may export that.")
    ] = False,
    origin: Annotated[
        list[str] | None,
        typer.Option(metavar="PATTERN", help="Where it goes, reads and acts: https://shop.example. May be repeated."),
    ] = None,
    session: Annotated[str, typer.Option(metavar="ID", help="The one session that it uses.")] = "",
    toolset: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Whose tools it may call. May be repeated.")
    ] = None,
    pages: Annotated[int | None, typer.Option(min=1, help="Pages that it may have open.")] = None,
    expires: Annotated[str, typer.Option(metavar="30d", help="When it ends: 12h, 30d, 8w, or a date.")] = "30d",
    as_json: flags.AsJson = False,
) -> None:
    """Make a token with a name and limits, and print it. It is shown this once. Chats share it by BROWSE_TOKEN or
    BROWSE_TOKEN_FILE."""
    # Longer than 40 lines, because its arguments are the options with their help.
    if cookies and no_cookies:
        raise typer.BadParameter("--cookies and --no-cookies exclude each other: give one.", param_hint="--cookies")
    body: Json = {
        "name": name,
        "readOnly": read_only,
        "scripting": not no_scripting,
        "cookies": "values" if cookies else "none" if no_cookies else "names",
        "origins": [*(origin or [])],
        "session": session or None,
        "toolsets": [*(toolset or [])],
        "pages": pages,
        "expiresAt": times.end(expires),
    }
    with client.Client(flags.settings(data_dir).data_dir, operator=True) as service:
        made = service.post(wire.TOKENS, body)
    if as_json:
        output.say_json(made)
        return
    output.say(f"{made['name']}: {made['limits'] or 'no limits'}; until {made['expiresAt']}.", to_stderr=True)
    typer.echo(made["token"])


@token.command()
def host(
    pool: Annotated[str, typer.Argument(metavar="POOL", help="The pool, such as rack: its hosts are rack-k3q9, ...")],
    *,
    data_dir: flags.DataDir = None,
    name: Annotated[str, typer.Option(metavar="NAME", help="What the token is called; by default like the pool.")] = "",
    expires: Annotated[str, typer.Option(metavar="52w", help="When it ends: 30d, 52w, or a date.")] = "52w",
) -> None:
    """Make a token that admits hosts of a pool, and nothing else, and print it. Whoever has it can be given sessions
    with their logins: browse-together token host rack > host.token, and keep that file like a password."""
    with client.Client(flags.settings(data_dir).data_dir, operator=True) as service:
        made = service.post(wire.TOKENS, {"name": name or pool, "pool": pool, "expiresAt": times.end(expires)})
    output.say(f"{made['name']}: {made['limits']}; until {made['expiresAt']}.", to_stderr=True)
    typer.echo(made["token"])


@token.command(name="list")
def list_(*, data_dir: flags.DataDir = None, as_json: flags.AsJson = False) -> None:
    """The tokens with a name: their limits, when they were made and used last, and when they end."""
    with client.Client(flags.settings(data_dir).data_dir, operator=True) as service:
        tokens = cast("list[Json]", service.get(wire.TOKENS)["tokens"])  # the service's reply
    if as_json:
        output.say_json(tokens)
    elif not tokens:
        output.say("There is no token with a name. Make one: browse-together token create --name NAME --help")
    else:
        output.show_rows(_COLUMNS, [[_row(each) for each in tokens]])


@token.command()
def revoke(name: Name, *, data_dir: flags.DataDir = None) -> None:
    """Take a token back: at once, for all that share it. Their streams close and their calls end."""
    with client.Client(flags.settings(data_dir).data_dir, operator=True) as service:
        service.post(wire.REVOKE, {"name": name})
    output.say(f"{name}: revoked. To let it in again: browse-together token restore {name}")


@token.command()
def restore(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A token's name, or a client's label or id.")],
    *,
    data_dir: flags.DataDir = None,
) -> None:
    """Let a token, or a client, in again that was revoked."""
    with client.Client(flags.settings(data_dir).data_dir, operator=True) as service:
        restored = service.post(wire.RESTORE, {"names": [name, client.client_id(name)]})["restored"]
    output.say(f"{name}: {'let in again.' if restored else 'was not revoked.'}")


def _row(described: Json) -> tuple[str, ...]:
    made, used, expires = (str(described[key] or "never")[:16].replace("T", " ") for key in _TIMES)
    return str(described["name"]), str(described["state"]), str(described["limits"] or "none"), made, used, expires


_TIMES: Final = ("madeAt", "usedAt", "expiresAt")
