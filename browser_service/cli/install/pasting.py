"""Tells what a person pastes into a client whose configuration is not edited."""

import json
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from browser_service.cli.install.chat_clients import Gateway


class Pasted(NamedTuple):
    """Where the lines go, and how they are made from the server's name and command."""

    where: str
    lines: Callable[[str, Gateway], str]


def _goose(name: str, gateway: Gateway) -> str:
    entry = {
        "name": name,
        "type": "stdio",
        "enabled": True,
        "cmd": gateway[0],
        "args": list(gateway[1:]),
        "timeout": 300,
    }
    lines = [f"    {key}: {json.dumps(value)}" for key, value in entry.items()]  # YAML takes values as JSON has them
    return "\n".join(["extensions:", f"  {name}:", *lines])


def _usual(name: str, gateway: Gateway) -> str:
    return json.dumps({"mcpServers": {name: {"command": gateway[0], "args": list(gateway[1:])}}}, indent=2)


PASTED: Final[Mapping[str, Pasted]] = MappingProxyType(
    {
        "goose": Pasted(
            "~/.config/goose/config.yaml (%APPDATA%\\Block\\goose\\config\\config.yaml), in its `extensions`",
            _goose,
        )
    }
)
"""By client."""
UNKNOWN: Final = Pasted("the file in which it lists its MCP servers; most clients take this form", _usual)
