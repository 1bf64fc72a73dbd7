"""Foresees what settings will say of a chat's handshake and list of tools, before what reads settings is loaded.

It knows the few settings that change either. Where it is in doubt it says nothing, and the reader of settings decides.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from browse_together.client import caller, config_place
from browse_together.contract import setting_names, written
from browse_together.contract.instructions import INSTRUCTIONS, instructed
from browse_together.contract.wire import TOKEN_LIMITS
from mcp_gateway.toolset_names import toolset_problem, valid_toolsets, words

_PREFIX: Final = "BROWSE_"
_IN_FILE: Final = frozenset((*setting_names.SERVICE, *setting_names.GATEWAY))


class Foreseen(NamedTuple):
    """What a chat is told first."""

    instructions: str = INSTRUCTIONS
    toolsets: frozenset[str] = frozenset({"core"})

    def tools(self) -> tuple[dict[str, object], ...]:
        return written.tools(self.toolsets)


def foresee(flags: Mapping[str, str], environment: Mapping[str, str]) -> Foreseen | None:
    """Return what a chat is told with these flags, by variable, and this environment; None if it is not certain."""
    try:
        seen = _foreseen(_given(flags, environment))
        seen.instructions.encode()  # variables may have bytes that are no text
    except (_Doubtful, OSError, RuntimeError, ValueError):  # the reader of settings will report it
        return None
    return seen


class _Doubtful(Exception):
    """Only the reader of settings knows."""


def _given(flags: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, str]:
    """Return flags and our variables, whose names may be in any case. Empty ones count as not given."""
    ours = [name for name in environment if name.upper().startswith(_PREFIX)]
    given = {name.upper(): environment[name] for name in ours} | {**flags}
    if len({name.upper() for name in ours}) < len(ours):
        raise _Doubtful
    return {name: value for name, value in given.items() if value}


def _foreseen(given: Mapping[str, str]) -> Foreseen:
    file = _file(given)
    token, token_file = (given.get(f"{_PREFIX}{name.upper()}") or file.get(name) for name in ("token", "token_file"))
    if _is_limited(token, token_file):
        raise _Doubtful
    if text := given.get("BROWSE_TOOLSETS"):
        names = words(text)
        return Foreseen(instructed(toolset_problem(names)), valid_toolsets(names))
    if listed := file.get("toolsets"):
        names = words(listed) if isinstance(listed, str) else frozenset(listed if isinstance(listed, list) else ())
        if not names or toolset_problem(names):
            raise _Doubtful
        return Foreseen(toolsets=valid_toolsets(names))
    return Foreseen()


def _file(given: Mapping[str, str]) -> dict[str, object]:
    """Return the settings of `config.toml`."""
    path = config_place.path()
    if config_place.VARIABLE not in given and not path.exists():
        return {}
    text = path.read_text(encoding="utf-8")
    if not text.strip():
        return {}
    import tomllib  # noqa: PLC0415 - a start without a file needs none

    values = tomllib.loads(text)
    if not values.keys() <= _IN_FILE:
        raise _Doubtful
    return values


def _is_limited(token: object, file: object) -> bool:
    """Return whether a given token, or the one in a given file, has limits."""
    if not token and not file:
        return False
    import base64  # noqa: PLC0415 - a start without a token needs none

    _, payload, _ = (str(token) if token else _token_in(caller.absolute(Path(str(file))))).split(".")
    claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    return not isinstance(claims, dict) or claims.get(TOKEN_LIMITS) is not None


def _token_in(file: Path) -> str:
    if not file.is_file():  # what is read from a pipe is read once
        raise _Doubtful
    return file.read_text(encoding="utf-8").strip()
