"""The command line takes nothing that sets anything, for hosts give settings by the environment."""

import argparse
from collections.abc import Sequence
from typing import Final, NoReturn

from shared.similarity import nearest
from shared.wire import APP_NAME, VERSION

PROGRAM: Final = "mcp-gateway"


def check(given: Sequence[str]) -> NoReturn:
    """Answer `--help` or `--version`, or say what is wrong; the gateway itself is started without arguments."""
    parser = _Parser(
        PROGRAM,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description=f"The MCP server of {APP_NAME}: a chat's host starts it, and speaks MCP with it on stdin and "
        "stdout.",
    )
    parser.add_argument("--version", action="version", version=f"{APP_NAME} {VERSION}")
    if not {"-h", "--help"}.isdisjoint(given):  # which alone needs to know the settings
        rows = [f"  {name}\n      {description}" for name, description in _settings().items()]
        parser.epilog = "\n".join(["settings, in the environment:", *rows])
    _, unknown = parser.parse_known_args(given)
    parser.error(_problem(unknown[0] if unknown else given[0]))


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Say what is wrong in one line, without the usage."""
        self.exit(2, f"{self.prog}: {message}\n")


def _settings() -> dict[str, str]:
    from mcp_gateway.settings import Settings  # noqa: PLC0415 - most of what an import of this costs

    return {f"BROWSE_{name.upper()}": field.description or "" for name, field in Settings.model_fields.items()}


def _problem(unknown: str) -> str:
    """Name an argument that is none, and the nearest: a flag, or a setting, which is no flag."""
    name = unknown.partition("=")[0]
    setting = f"BROWSE_{name.strip('-').replace('-', '_').upper()}"
    if name.startswith("-") and (near := nearest(setting, _settings(), similarity=0.85)):
        return f"unknown argument {name!r}. Settings stand in the environment: {near[0]}=... {PROGRAM}"
    near = nearest(name, ("--help", "--version"))
    return f"unknown argument {name!r}. Did you mean {near[0] if near else '--help'}?"
