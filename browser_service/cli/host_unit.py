"""Prints the unit by which systemd runs a host on a machine of its own: `service --host`."""

from typing import Annotated, Final

import typer

from browse_together.contract.installation import program
from browse_together.contract.wire import APP_NAME
from browser_service.cli import output
from browser_service.cli.hosts import AllowLoopback, JoinUrl, Name, PlainHttp, TokenFile, joining, no_traceback
from browser_service.joining import Join

_NAME: Final = f"{APP_NAME}-host"
_DRAINS_WITHIN_S: Final = 90


def print_unit(
    context: typer.Context,
    *,
    host: Annotated[
        bool, typer.Option("--host", help="Print a unit of systemd that runs a host here, and change nothing.")
    ] = False,
    join: JoinUrl = "",
    token_file: TokenFile = None,
    name: Name = "",
    plain_http: PlainHttp = False,
    allow_loopback: AllowLoopback = False,
) -> None:
    """Start the service at login; or with --host, run a host of another machine's service from this machine's start."""
    if context.invoked_subcommand is not None:
        return
    if not host:
        output.say("Give a command, or --host: browse-together service --help", to_stderr=True)
        raise typer.Exit(2)
    with no_traceback():
        wanted = joining(join, token_file, name, plain_http=plain_http, allow_loopback=allow_loopback)
    output.say(unit(wanted, plain_http=plain_http).rstrip("\n"))
    output.say(
        f"As root: write this to /etc/systemd/system/{_NAME}.service, then systemctl enable --now {_NAME}",
        to_stderr=True,
    )


def unit(join: Join, *, plain_http: bool) -> str:
    """Return the unit. Its host has an account and a directory of its own, and gets the token from systemd, so that
    only root can read the file."""
    options = [
        *(["--name", join.name] if join.name else []),
        *(["--plain-http"] if plain_http else []),
        *(["--allow-loopback"] if join.allow_loopback else []),
    ]
    words = [*program(APP_NAME), "host", "--join", join.url, *options]
    command = " ".join([quoted(word, in_command=True) for word in words])
    return (
        "[Unit]\nDescription=Browsers for the service of another machine (browse-together)\n"
        "Wants=network-online.target\nAfter=network-online.target\n\n"
        f"[Service]\nType=exec\nDynamicUser=yes\nStateDirectory={_NAME}\nStateDirectoryMode=0700\n"
        f"Environment=HOME=%S/{_NAME}\nLoadCredential={quoted(f'host.token:{join.token_file}')}\n"
        f"ExecStart={command} --token-file ${{CREDENTIALS_DIRECTORY}}/host.token --data-dir ${{STATE_DIRECTORY}}\n"
        # It gives its sessions to other hosts when it is asked to end, and ends its browsers itself.
        f"KillMode=mixed\nTimeoutStopSec={_DRAINS_WITHIN_S}\nRestart=always\nRestartSec=5\nUMask=0077\n\n"
        "[Install]\nWantedBy=multi-user.target\n"
    )


def quoted(word: str, *, in_command: bool = False) -> str:
    """Quote a word for a unit's line: systemd expands % everywhere, and $ in commands."""
    word = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("\n", "\\n")
    return f'"{word.replace("$", "$$") if in_command else word}"'
