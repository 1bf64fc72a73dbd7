"""Reads a secret that an action types, which keeps it out of the command line and the shell's history."""

import getpass
import inspect
import sys
from pathlib import Path
from typing import Any, Final, cast

import typer
from pydantic import JsonValue

from browse_together.contract.actions.base import Action
from browse_together.contract.errors import ValidationFailed
from browse_together.contract.model import Json

_TYPED: Final = ("value", "text")
_MOST_BYTES: Final = 100_000
_MASK: Final = "••••••••"


def argument(action: type[Action]) -> str:
    """Return the argument that may be a secret; empty if the action types nothing."""
    fields = action.model_fields
    return next((name for name in _TYPED if action.reports and name in fields and fields[name].is_required()), "")


def parameter(action: type[Action]) -> list[inspect.Parameter]:
    """Return the option `--secret` if the action types something."""
    if not (name := argument(action)):
        return []
    help_text = f"Read the {name} from this file; -: asked for on a terminal, without an echo, or read from stdin."
    option = typer.Option(None, "--secret", metavar="FILE|-", help=help_text, show_default=False)
    return [inspect.Parameter("secret", inspect.Parameter.KEYWORD_ONLY, default=option, annotation=str | None)]


def take(action: type[Action], options: dict[str, Any]) -> dict[str, str]:  # Any: typer's value of each option
    """Replace the secret's source in the options by the secret. Returns the secret too, if there is one."""
    source = options.pop("secret", None)
    if source is None:
        return {}
    name = argument(action)
    if options[name] is not None:
        raise typer.BadParameter(f"It is the {name}: give --{name} or --secret, not both.", param_hint="--secret")
    options[name] = read(str(source))
    return {"secret": options[name]}


def read(source: str) -> str:
    """Return the secret without its line end. Raises ValidationFailed if there is none."""
    if source == "-" and sys.stdin.isatty():
        text = getpass.getpass("Secret: ", sys.stderr)
    elif source == "-":
        text = sys.stdin.read(_MOST_BYTES)
    else:
        with Path(source).open(encoding="utf-8") as file:
            text = file.read(_MOST_BYTES)
    if not (secret := text.removesuffix("\n").removesuffix("\r")):
        raise ValidationFailed(
            "There is no secret to type.", hint="Write it to stdin, or type it when asked: --secret -"
        )
    return secret


def masked(reply: Json, secret: str) -> Json:
    """Return the reply without the secret, which a page may show after it was typed."""
    return cast("Json", _masked(reply, secret))  # an object stays an object


def _masked(value: JsonValue, secret: str) -> JsonValue:
    if isinstance(value, str):
        return value.replace(secret, _MASK)
    if isinstance(value, list):
        return [_masked(item, secret) for item in value]
    if isinstance(value, dict):
        return {key: _masked(item, secret) for key, item in value.items()}
    return value
