"""Makes a flag for each field of `Settings`, with its description."""

import inspect
import shlex
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Final, cast

import typer
from pydantic import AliasChoices, JsonValue
from typer.core import TyperCommand

from browse_together.contract.schema import Schema, kebab, plain
from browse_together.contract.variables import PROTECTING, REMOVED, REMOVED_SWITCHES, no_more
from browser_service.cli.options import Option, parameter, parameters_of, switch, with_signature
from browser_service.settings import Settings

DataDir = Annotated[
    str | None,
    typer.Option(
        "--data-dir", metavar="DIR", help="The service's data directory (BROWSE_DATA_DIR, or the platform's)."
    ),
]
PARTS: Final = MappingProxyType(
    {
        "data_dir": "Its data and its log",
        "allow_remote": "Where it listens",
        "hosts": "Hosts on other machines",
        "app_env": "Files and keys",
        "browser_type": "The browser",
        "session_idle_ms": "How much at once",
        "metrics_port": "Clients and people",
        "url_whitelist": "What pages may do",
    }
)
"""The title of each part of the settings, by the first setting in it."""
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@cache
def flags() -> tuple[Option, ...]:
    properties = plain(cast("Schema", Settings.model_json_schema(by_alias=False)))["properties"]  # a schema is JSON
    return tuple(
        Option(name, schema, (kebab(name),), _help(name, schema))
        for name, schema in cast("dict[str, Schema]", properties).items()
    )


class InParts(TyperCommand):
    """A command whose help has its flags in the parts of the settings."""

    def format_options(self, ctx: Any, formatter: Any) -> None:  # Any: typer's own classes
        """Write the command's own options, and then each part."""
        rows: dict[str, list[tuple[str, str]]] = {"Options": []}
        settings, title = [option.identifier for option in flags()], ""
        for option in self.get_params(ctx):
            title = PARTS.get(str(option.name), title)
            if (row := option.get_help_record(ctx)) is not None:
                rows.setdefault(title if option.name in settings else "Options", []).append(row)
        for title, each in rows.items():
            with formatter.section(title):
                formatter.write_dl(each)


def with_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command a flag for each setting, and hidden ones for those that no longer exist."""
    return with_signature(command, [*parameters_of(command), *map(parameter, flags()), *map(_removed, REMOVED)])


def typed_settings(options: dict[str, Any]) -> dict[str, JsonValue]:  # Any: typer's value of each flag
    """Return the settings typed as flags. All others come from the environment. Says which no longer exist. Raises
    BadParameter for one that protected something."""
    typed = {name: value for name, value in options.items() if value not in (None, [])}
    for name in typed.keys() & REMOVED.keys():
        if name in PROTECTING:
            raise typer.BadParameter(no_more(name), param_hint=f"--{kebab(name)}")
        typer.echo(f"--{kebab(name)} {no_more(name)}", err=True)
    return {name: value for name, value in typed.items() if name not in REMOVED}


def settings(data_dir: str | None = None) -> Settings:
    return Settings(**typed_settings({"data_dir": data_dir}))  # type: ignore[arg-type] # pydantic makes the path


def command(words: str, data_dir: Path) -> str:
    """Return our command as it is typed for a data directory, which it names unless the environment does."""
    named = "" if data_dir == settings().data_dir else f" --data-dir {shlex.quote(str(data_dir))}"
    return f"browse-together {words}{named}"


def restart(data_dir: Path) -> str:
    return f"{command('down', data_dir)}, then {command('up --detach', data_dir)}"


def environment(changes: dict[str, JsonValue]) -> dict[str, str]:
    """Return settings as environment variables for a child process, because everybody can read a command line."""
    return {f"BROWSE_{name.upper()}": _text(value) for name, value in changes.items()}


def _removed(name: str) -> inspect.Parameter:
    is_switch = name in REMOVED_SWITCHES
    info = typer.Option(None, switch(kebab(name)) if is_switch else f"--{kebab(name)}", hidden=True)
    kind = bool if is_switch else str
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=info, annotation=kind | None)


def _text(value: JsonValue) -> str:
    return ",".join(str(item) for item in value) if isinstance(value, list) else str(value)


def _help(name: str, schema: Schema) -> str:
    """Return the description, the variable that also works without the prefix, and the default."""
    alias = Settings.model_fields[name].validation_alias
    notes = [str(choice) for choice in alias.choices[1:]] if isinstance(alias, AliasChoices) else []
    if (default := schema.get("default")) not in (None, []):
        notes.append(f"default {str(default).lower()}")
    return f"{schema.get('description', '')} ({'; '.join(notes)})" if notes else str(schema.get("description", ""))
