"""Reads flags. Each is a setting, and takes precedence over its environment variable."""

import argparse
import os
import sys
from collections.abc import MutableMapping, Sequence
from typing import Final, NoReturn

from pydantic.fields import FieldInfo

from browse_together.client import caller
from browse_together.contract.similarity import nearest
from browse_together.contract.variables import PROTECTING, REMOVED, REMOVED_SWITCHES, no_more
from browse_together.contract.wire import APP_NAME, VERSION
from mcp_gateway.flags import SECRETS, flag_of
from mcp_gateway.settings import Settings
from mcp_gateway.transports.settings import TransportSettings

PROGRAM: Final = "mcp-gateway"
_COMMAND: Final = f"{APP_NAME} mcp"
"""The other name under which the gateway is started."""
_EXAMPLES: Final = """examples:
  {0}                                  a chat's host starts it so, and speaks MCP on stdin and stdout
  {0} --transport http                 http://127.0.0.1:3000/mcp, for many chats at a time
  {0} --transport http,websocket       both, on the ports 3000 and 3001
  {0} --transport jsonl                a JSON object on a line, for shell scripts

Each flag is also a variable of the environment, which stands below it: --toolsets is BROWSE_TOOLSETS."""


class _Parser(argparse.ArgumentParser):
    flags: list[str]

    def error(self, message: str) -> NoReturn:
        """Exit with only the message, without the usage."""
        self.exit(2, f"{self.prog}: {message}\n")


def take(arguments: Sequence[str], environment: MutableMapping[str, str] | None = None) -> dict[str, str]:
    """Put the flags into the environment. Returns, for each variable, its flag as typed. Ends the process for `--help`,
    `--version` and wrong flags."""
    parser = _parser()
    given, unknown = parser.parse_known_args(arguments)
    unknown = _without_removed(unknown)
    if unknown:
        parser.error(_problem(unknown[0], parser))
    environment = os.environ if environment is None else environment
    transport = given.BROWSE_TRANSPORT or environment.get("BROWSE_TRANSPORT", "")
    networks = {*transport.replace(",", " ").lower().split()} - {"stdio"}
    alone = bool(networks) and networks <= {"websocket", "ws"}
    flags = dict[str, str]()
    for variable, value in vars(given).items():
        if value is not None:
            name = variable.replace("BROWSE_MCP_P", "BROWSE_WS_P") if alone else variable
            environment[name] = str(value)
            flags[name] = flag_of(variable.removeprefix("BROWSE_").lower())
    return flags


def _parser() -> _Parser:
    program = _COMMAND if sys.argv[0].endswith(_COMMAND) else PROGRAM
    parser = _Parser(
        program,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description=f"The MCP server of {APP_NAME}: it brings chats to the browser service, by any transport.",
        epilog=_EXAMPLES.format(program),
    )
    parser.add_argument("--version", action="version", version=f"{APP_NAME} {VERSION}")
    parser.flags = ["--help", "--version"]
    for title, settings in (("transports", TransportSettings), ("the service, and what chats are shown", Settings)):
        group = parser.add_argument_group(title)
        for name, field in settings.model_fields.items():
            if name not in SECRETS:
                _add(group, name, field, parser.flags)
    return parser


def _add(group: "argparse._ArgumentGroup", name: str, field: FieldInfo, flags: list[str]) -> None:
    flag = flag_of(name)
    flags.append(flag)
    variable = f"BROWSE_{name.upper()}"
    if field.annotation is bool:
        action = argparse.BooleanOptionalAction
        flags.append(f"--no-{flag.removeprefix('--')}")
        group.add_argument(flag, dest=variable, action=action, help=_help(field), default=None)
    else:
        group.add_argument(flag, dest=variable, metavar="VALUE", help=_help(field))


def _help(field: FieldInfo) -> str:
    """Return a setting's description with its default, if it has one."""
    default = ",".join(field.default) if isinstance(field.default, tuple) else field.default
    shown = "" if field.default_factory or default in (None, "") else f" (default {str(default).lower()})"
    return f"{field.description}{shown}"


def _without_removed(unknown: list[str]) -> list[str]:
    """Warn of flags whose settings no longer exist, and return the other arguments."""
    left = list[str]()
    takes_value = False
    for one in unknown:
        flag = one.partition("=")[0]
        name = flag.removeprefix("--").removeprefix("no-").replace("-", "_")
        if flag.startswith("--") and name in REMOVED.keys() - PROTECTING:
            caller.say(f"{PROGRAM}: {flag} {no_more(name)}\n")
            takes_value = one == flag and name not in REMOVED_SWITCHES
        elif takes_value and not flag.startswith("--"):
            takes_value = False
        else:
            left.append(one)
    return left


def _problem(unknown: str, parser: _Parser) -> str:
    """Name the wrong argument and the nearest flag. The value after a secret's name is not repeated."""
    name = unknown.partition("=")[0]
    near = nearest(name, parser.flags)
    problem = f"unknown argument {name!r}. Did you mean {near[0] if near else '--help'}?"
    instead = SECRETS.get(name.removeprefix("--").replace("-", "_"))
    if instead:
        problem += f" A secret is no flag, because others can read a command line: use {instead}."
    return problem
