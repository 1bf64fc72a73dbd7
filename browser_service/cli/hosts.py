"""Runs a host, which dials the service and has browsers for it, and shows the service's hosts: `host` and `hosts`."""

import contextlib
import sys
from collections.abc import Iterator
from dataclasses import replace
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Final, Literal, cast

import typer

from browse_together.contract import wire
from browse_together.contract.model import Json
from browser_service.cli import client, flags, output
from browser_service.cli.options import new_app
from browser_service.joining import CannotJoin, Join, address, check_platform, host_state, read_token

_COLUMNS: Final = {
    **dict.fromkeys(("name", "state", "sessions", "pages", "free-mb", "version", "seen"), False),
    "from": True,
}

app = new_app()
hosts = typer.Typer(no_args_is_help=False, rich_markup_mode=None, help="The hosts that have dialled in.")
app.add_typer(hosts, name="hosts", invoke_without_command=True)

JoinUrl = Annotated[str, typer.Option("--join", metavar="URL", help="The service to join: https://server:8888.")]
TokenFile = Annotated[
    Path | None, typer.Option("--token-file", metavar="FILE", help="What `browse-together token host POOL` printed.")
]
Name = Annotated[str, typer.Option("--name", help="What it is called; by default its pool and four characters.")]
PlainHttp = Annotated[
    bool, typer.Option("--plain-http", help="Join another machine without TLS, where nobody else is on the network.")
]
AllowLoopback = Annotated[
    bool, typer.Option("--allow-loopback", help="Let pages open what listens on this host's own machine.")
]
Refuse = Annotated[
    list[str] | None,
    typer.Option("--refuse", metavar="ADDRESS", help="Keep pages from this IP address, all ports; may be repeated."),
]


@app.command()
def host(
    *,
    join: JoinUrl = "",
    token_file: TokenFile = None,
    name: Name = "",
    plain_http: PlainHttp = False,
    allow_loopback: AllowLoopback = False,
    refuse: Refuse = None,
    engine: Annotated[Literal["ray"] | None, typer.Option(help="Let it start the hosts, on its own machines.")] = None,
    count: Annotated[int, typer.Option(min=0, help="With --engine: how many. 0 ends them.")] = 1,
    data_dir: flags.DataDir = None,
    check: Annotated[
        bool, typer.Option("--check", help="Only say whether the host of this data directory runs and moves.")
    ] = False,
    linked: Annotated[bool, typer.Option("--linked", help="With --check: and is linked to its service.")] = False,
) -> None:
    """Run browsers for a service on another machine. The host dials it, and listens on nothing.

    SIGTERM and Ctrl+C give its sessions to other hosts first. An engine may start as many as it likes, and end them.
    """
    settings = flags.settings(data_dir)
    if check or linked:
        is_well, words = host_state(settings.data_dir, must_be_linked=linked)
        output.say(words, to_stderr=not is_well)
        raise typer.Exit(0 if is_well else 1)
    with no_traceback():
        check_platform(sys.platform)
        wanted = joining(join, token_file, name, plain_http=plain_http, allow_loopback=allow_loopback)
        if engine:
            _let_start(wanted, count, plain_http=plain_http)
            return
        wanted = replace(wanted, refuses=frozenset(map(_ip_address, refuse or [])))
        read_token(wanted.token_file)
        from browser_service.host_process import run  # noqa: PLC0415 - its import takes long, and a check is frequent

        run(wanted, settings)


def _let_start(join: Join, count: int, *, plain_http: bool) -> None:
    """Let Ray start the hosts. Raises CannotJoin."""
    from browser_service.ray_hosts import launch  # noqa: PLC0415 - for those alone who ask for it

    if join.name:
        raise CannotJoin("--name names one host, and --engine starts several. Leave it out.")
    launch(join, count, plain_http=plain_http, say=output.say)


def _ip_address(text: str) -> str:
    try:
        return str(ip_address(text))
    except ValueError:
        raise CannotJoin(f"--refuse {text[:80]}: this is no IP address, such as 10.0.0.5.") from None


@contextlib.contextmanager
def no_traceback() -> Iterator[None]:
    """Print in one line why a host cannot join or start, and end with 1."""
    try:
        yield
    except CannotJoin as error:
        output.say(str(error), to_stderr=True)
        raise typer.Exit(1) from None


def joining(url: str, token_file: Path | None, name: str, *, plain_http: bool, allow_loopback: bool) -> Join:
    """Return what the options say. Raises CannotJoin, which names the wrong one."""
    if not url or token_file is None:
        missing = "--join URL" if not url else "--token-file FILE"
        raise CannotJoin(
            f"{missing} is missing: browse-together host --join https://server:8888 --token-file host.token"
        )
    if name and not wire.is_host_name(name):
        raise CannotJoin(f"--name {name[:80]}: a name has up to 48 letters, digits, '.', '_' and '-', such as rack-1.")
    origin = address(url, plain_http=plain_http)
    return Join(origin, token_file.expanduser().absolute(), name, allow_loopback)


@hosts.callback()
def list_(context: typer.Context, *, data_dir: flags.DataDir = None, as_json: flags.AsJson = False) -> None:
    """The hosts that have dialled in: what each has, whether it takes sessions, and where it dials from."""
    if context.invoked_subcommand is not None:
        return
    with client.Client(flags.settings(data_dir).data_dir, operator=True) as service:
        listed = cast("list[Json]", service.get(wire.HOSTS)["hosts"])  # the service's reply
    if as_json:
        output.say_json(listed)
    else:
        output.show_rows(_COLUMNS, [[_row(each) for each in listed]])


@hosts.command()
def drain(
    name: Annotated[str, typer.Argument(metavar="NAME", help="As `hosts` shows it.")], *, data_dir: flags.DataDir = None
) -> None:
    """Give a host no more sessions, let its calls end, and move its sessions to others. Then its process ends."""
    with client.Client(flags.settings(data_dir).data_dir, operator=True) as service:
        service.post(wire.HOSTS_DRAIN, {"name": name})
    output.say(f"{name} is being emptied; `browse-together hosts` shows how far it is.")


def _row(each: Json) -> tuple[str, ...]:
    seen = each.get("seenMs")
    ago = "" if not isinstance(seen, int | float) else f"{seen / 1000:.0f} s ago"
    cells = (each.get(key) for key in ("name", "state", "sessions", "pages", "freeMb", "version"))
    return *("" if cell is None else str(cell) for cell in cells), ago, str(each.get("from") or "")
