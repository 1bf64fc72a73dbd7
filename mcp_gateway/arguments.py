"""The command line has no settings, because hosts give those by the environment."""

import argparse
from collections.abc import Sequence
from typing import Final, NoReturn

from mcp_gateway.settings import Settings
from shared.similarity import nearest
from shared.wire import APP_NAME, VERSION

PROGRAM: Final = "mcp-gateway"
_SETTINGS: Final = {f"BROWSE_{name.upper()}": field.description for name, field in Settings.model_fields.items()}


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Exit with the message alone, without the usage."""
        self.exit(2, f"{self.prog}: {message}\n")


def check(arguments: Sequence[str]) -> NoReturn:
    """Answer `--help` or `--version`, or name the argument that is wrong. Hosts start the gateway without any."""
    rows = [f"  {name}\n      {description}" for name, description in _SETTINGS.items()]
    parser = _Parser(
        PROGRAM,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description=f"The MCP server of {APP_NAME}: a chat's host starts it, and speaks MCP with it on stdin and "
        "stdout.",
        epilog="\n".join(["settings, in the environment:", *rows]),
    )
    parser.add_argument("--version", action="version", version=f"{APP_NAME} {VERSION}")
    _, unknown = parser.parse_known_args(arguments)
    parser.error(_problem(unknown[0] if unknown else arguments[0]))


def _problem(unknown: str) -> str:
    """Name the argument, and the nearest flag, or the setting that it would be in the environment."""
    name = unknown.partition("=")[0]
    setting = f"BROWSE_{name.strip('-').replace('-', '_').upper()}"
    if name.startswith("-") and (near := nearest(setting, _SETTINGS, similarity=0.85)):
        return f"unknown argument {name!r}. Settings stand in the environment: {near[0]}=... {PROGRAM}"
    near = nearest(name, ("--help", "--version"))
    return f"unknown argument {name!r}. Did you mean {near[0] if near else '--help'}?"
