"""The names of the flags. It imports no pydantic, because a gateway reads its flags before that is loaded."""

from collections.abc import Sequence
from typing import Final

from browse_together.contract import setting_names

SECRETS: Final = {"token": "BROWSE_TOKEN or --token-file", "auth_secret": "AUTH_SECRET or --auth-file"}
"""What to use instead for settings without a flag: every process of the machine can read a command line."""
_RENAMED: Final = {"port": "service-port", "mcp_host": "host", "mcp_port": "port", "mcp_path": "path"}
"""Flags with other names than their settings, because people know them from other servers."""


def flag_of(name: str) -> str:
    return f"--{_RENAMED.get(name, name).replace('_', '-')}"


def simple(arguments: Sequence[str]) -> dict[str, str] | None:
    """Return the settings that these flags give, by variable; None if an argument needs the whole parser, which may
    refuse it."""
    names = {flag_of(name): name for name in setting_names.GATEWAY if name not in SECRETS}
    switches = {flag for flag, name in names.items() if name in setting_names.SWITCHES}
    given, rest = dict[str, str](), [*arguments]
    while rest:
        flag, has_value, value = rest.pop(0).partition("=")
        switched_on = flag.replace("--no-", "--", 1)
        if switched_on in switches and not has_value:
            flag, value = switched_on, str(flag == switched_on)
        elif flag in switches or flag not in names or not (has_value or (rest and not rest[0].startswith("-"))):
            return None
        elif not has_value:
            value = rest.pop(0)
        given[f"BROWSE_{names[flag].upper()}"] = value
    return given
