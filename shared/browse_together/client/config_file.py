"""Reads `config.toml`, with settings for every start of the service and of gateways.

Its keys are the names of the settings, all in one table. A name means the same there, in the environment and as a flag;
settings that both processes must share (the port, the data directory) appear once. Flags and the environment take
precedence.
"""

import os
import re
from collections.abc import Mapping
from contextvars import ContextVar
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Self

from pydantic import AliasChoices, BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)
from pydantic_settings.sources.utils import parse_env_vars

from browse_together.client import caller
from browse_together.client.config_place import VARIABLE, path
from browse_together.contract import setting_names
from browse_together.contract.similarity import nearest
from browse_together.contract.variables import PROTECTING, REMOVED, no_more

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_CONSEQUENCE: Final = "default_factory_not_called"
"""pydantic's error for a default that depends on another wrong setting. It repeats that one's error."""
_WRONG_FORM: Final = "string_pattern_mismatch"
_QUOTED_CHARACTERS: Final = 200
PREFIX: Final = "BROWSE_"
_MOST_BYTES: Final = 1_000_000
NAMES: Final = frozenset((*setting_names.SERVICE, *setting_names.GATEWAY))
SAID_AT_START: Final = {
    "transport": "a chat's host starts its gateway on stdin. Say it where you start another: mcp-gateway --transport",
    "client_id": "all chats would be one client. Say it where you start a gateway: BROWSE_CLIENT_ID",
}
"""Settings that no file may contain: why, and how to give them instead."""
_NONE: Final[Mapping[str, str]] = MappingProxyType({})


_alone: Final = ContextVar("alone", default=False)


class WrongFile(Exception):
    """The file cannot be used. Each line of the text names the file and the remedy."""


class FileSettings(BaseSettings):
    """Settings from arguments, the environment and the file, in this order of precedence. Raises WrongFile, and errors
    of pydantic."""

    model_config = SettingsConfigDict(
        env_prefix="BROWSE_", env_ignore_empty=True, extra="ignore", populate_by_name=True
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - pydantic's signature; none is read
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - as above
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        if _alone.get():
            return (init_settings,)
        if caller.current() and isinstance(env_settings, EnvSettingsSource):
            env_settings.env_vars = parse_env_vars(
                {**caller.environ()}, env_settings.case_sensitive, env_settings.env_ignore_empty
            )
        return (init_settings, env_settings, InitSettingsSource(settings_cls, as_variables(contents())))

    @classmethod
    def alone(cls, values: Mapping[str, object]) -> Self:
        """Make settings from these values alone, without the environment and the file."""
        before = _alone.set(True)
        try:
            return cls.model_validate(dict(values))
        finally:
            _alone.reset(before)


def contents() -> dict[str, object]:
    """Return the file's settings; none without a file. Raises WrongFile."""
    file = path()
    if not file.exists():
        if caller.environ().get(VARIABLE):
            raise WrongFile(
                f"There is no file {file}. {VARIABLE} names it. Make it with an editor, or take the variable away."
            )
        return {}
    return parsed(file, text_of(file))


def text_of(file: Path) -> str:
    """Return the text of a file. Raises WrongFile."""
    try:
        with file.open("rb") as opened:
            content = opened.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise WrongFile(f"{file}: it has more than {_MOST_BYTES:,} bytes.")
        return content.decode()
    except OSError as error:
        raise WrongFile(f"{file} cannot be read: {error.strerror or error}.") from None
    except UnicodeDecodeError as error:
        raise WrongFile(f"{file}: this is no TOML. {error}.") from None


def parsed(file: Path, text: str) -> dict[str, object]:
    """Parse the file's text. Raises WrongFile, also for unknown settings."""
    if not text.strip():
        return {}
    import tomllib  # noqa: PLC0415 - a start without a file needs none

    try:
        values: dict[str, object] = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        found = re.search(r" \(at (?:line (\d+), column \d+|end of document)\)", str(error))
        line = f", line {found[1] or len(text.splitlines())}" if found else ""
        raise WrongFile(f"{file}{line}: this is no TOML. {str(error)[: found.start() if found else None]}.") from None
    _check_names(file, values, text)
    return values


def as_variables(values: Mapping[str, object]) -> dict[str, object]:
    """Return the values in the form of variables: a text, or a list of texts. Empty texts are left out."""
    return {name: _text(value) for name, value in values.items() if value != ""}


def _check_names(file: Path, values: Mapping[str, object], text: str) -> None:
    """Raise WrongFile with a line for each wrong key; for an unknown one it names the nearest setting."""
    problems = {name: problem for name, value in values.items() if (problem := _problem(name, value))}
    if problems:
        raise WrongFile("\n".join(f"{place(file, name, text)}: {problem}" for name, problem in problems.items()))


def removed() -> list[str]:
    """Return a line for each setting in the file that no longer exists. Raises WrongFile."""
    names = [name for name in contents() if name in REMOVED]
    return [f"{place(path(), name)}: {name} {no_more(name)}" for name in names]


def nearest_name(text: str) -> str:
    """Return the setting that was probably meant; empty if none is similar."""
    name = setting_name(text)
    return name if name in NAMES else next(iter(nearest(name, NAMES)), "")


def setting_name(text: str) -> str:
    """Return a setting's name as in the file: `max_pages` for `BROWSE_MAX_PAGES` and `--max-pages`."""
    return text.strip("-").lower().replace("-", "_").removeprefix(PREFIX.lower())


def explain(error: ValidationError, settings: type[BaseModel], flags: Mapping[str, str] = _NONE) -> list[str]:
    """Return a line for each wrong setting. It names the file if the value is from there."""
    said = as_variables(contents())
    wrong = {setting_name(str(fault["loc"][0])): fault["input"] for fault in error.errors() if fault["loc"]}
    of_file = {
        f"{PREFIX}{name.upper()}": f"{name} in {place(path(), name)}"
        for name, given in wrong.items()
        if name in said and _words(given) <= _words(said[name])
        if variable_of(name, settings.model_fields[name]) is None
    }
    typed = {**of_file, **flags}
    return [_line(fault, settings, typed) for fault in error.errors(include_url=False) if fault["type"] != _CONSEQUENCE]


def place(file: Path, name: str, text: str | None = None) -> str:
    """Return the file, and the line of a key if it is found."""
    if text is None:
        text = file.read_text(encoding="utf-8")
    key = re.search(rf"""^[ \t]*\[?["']?{re.escape(name)}["']?[ \t]*[=.\]]""", text, re.MULTILINE)
    return f"{file}, line {text.count(chr(10), 0, key.start()) + 1}" if key else str(file)


def variables(name: str, field: FieldInfo) -> list[str]:
    """Return the variables that can give a setting, the prefixed one first."""
    alias = field.validation_alias
    return [str(choice) for choice in alias.choices] if isinstance(alias, AliasChoices) else [f"{PREFIX}{name.upper()}"]


def variable_of(name: str, field: FieldInfo) -> str | None:
    """Return the variable that gives a setting in this environment; None without one."""
    given = {variable.upper() for variable, value in caller.environ().items() if value}
    return next((variable for variable in variables(name, field) if variable.upper() in given), None)


def _problem(name: str, value: object) -> str:
    if isinstance(value, dict):
        key = nearest_name("_".join([name, *list(value)[:1]]))
        instead = f" Write {key} = ..." if key else ""
        return f"[{name}] is a table, and the settings are all in one, without a name.{instead}"
    if name in SAID_AT_START:
        return f"{name} is nothing for a file, because {SAID_AT_START[name]}."
    if name in PROTECTING:
        return f"{name} {no_more(name)}"
    if name in NAMES or name in REMOVED:
        return ""
    near = nearest_name(name)
    return f"there is no setting {name!r}. " + (f"Did you mean {near}?" if near else "See browse-together config.")


def _words(value: object) -> set[str]:
    texts = value if isinstance(value, list | tuple | set | frozenset) else [value]
    return {word for text in texts for word in str(text).replace(",", " ").split()}


def _text(value: object) -> object:
    if isinstance(value, list):
        return [_text(item) for item in value]
    return str(value).lower() if isinstance(value, bool) else str(value)


def _line(fault: "ErrorDetails", settings: type[BaseModel], flags: Mapping[str, str]) -> str:
    """Return a line for a wrong setting, with its description if that explains the format. `flags` has, by variable,
    the flag that a person typed, or the key in the file."""
    if not fault["loc"]:  # an error about several settings, whose text names them itself
        return fault["msg"].removeprefix("Value error, ")
    field = str(fault["loc"][0]).removeprefix(PREFIX).lower()
    setting = settings.model_fields.get(field)
    name = flags.get(f"{PREFIX}{field.upper()}") or _name(
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
    names = [f"{PREFIX}{field.upper()}", *short_names]
    found = (name for name in names if _words(os.environ.get(name, "")) == _words(given))
    return next(found, f"--{field.replace('_', '-')}")
