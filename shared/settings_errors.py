"""Explains unusable settings, one line each, under the name by which they were given."""

import os
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from pydantic import AliasChoices, BaseModel, ValidationError

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_PREFIX: Final = "BROWSE_"
_CONSEQUENCE: Final = "default_factory_not_called"
"""pydantic's error for a default that depends on another wrong setting. It repeats that one's error."""
_WRONG_FORM: Final = "string_pattern_mismatch"
_QUOTED_CHARACTERS: Final = 200


def explain(
    error: ValidationError, settings: type[BaseModel], flags: Mapping[str, str] = MappingProxyType({})
) -> list[str]:
    """Return a line for each wrong setting, with its description if that explains the format. `flags` has, by variable,
    the flag that a person typed."""
    return [_line(fault, settings, flags) for fault in error.errors(include_url=False) if fault["type"] != _CONSEQUENCE]


def _line(fault: "ErrorDetails", settings: type[BaseModel], flags: Mapping[str, str]) -> str:
    if not fault["loc"]:  # an error about several settings, whose text names them itself
        return fault["msg"].removeprefix("Value error, ")
    field = str(fault["loc"][0]).removeprefix(_PREFIX).lower()
    setting = settings.model_fields.get(field)
    name = flags.get(f"{_PREFIX}{field.upper()}") or _name(
        field, fault["input"], setting.validation_alias if setting else None
    )
    why = (
        "this is not how it is written" if fault["type"] == _WRONG_FORM else fault["msg"].removeprefix("Value error, ")
    )
    if fault["type"] == "value_error" or setting is None:
        return f"{name}: {why}"
    text = str(fault["input"])[:_QUOTED_CHARACTERS]
    given = "" if "@" in text else f" (given: {text!r})"  # before it, there may be a password
    return f"{name}: {why}{given}. {setting.description}"


def _name(field: str, given: object, alias: object) -> str:
    """Return the variable with the value, or the flag that a person typed."""
    short_names = [str(choice) for choice in alias.choices] if isinstance(alias, AliasChoices) else []
    value = _words(",".join(given) if isinstance(given, tuple) else str(given))
    names = [f"{_PREFIX}{field.upper()}", *short_names]
    found = (name for name in names if _words(os.environ.get(name, "")) == value)
    return next(found, f"--{field.replace('_', '-')}")


def _words(text: str) -> list[str]:
    return text.replace(",", " ").split()
