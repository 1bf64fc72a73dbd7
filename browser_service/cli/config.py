"""Shows the settings of both processes, their values, and where each comes from: `config`."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import typer
from pydantic import JsonValue, SecretStr, ValidationError
from pydantic.fields import FieldInfo

from browse_together.client import config_file, config_place
from browse_together.client.config_file import FileSettings
from browse_together.contract import toolsets
from browser_service import settings_report
from browser_service.cli import flags, output
from browser_service.cli.options import new_app
from browser_service.settings import Settings
from mcp_gateway.settings import Settings as GatewaySettings
from mcp_gateway.transports.settings import TransportSettings

PROCESSES: Final[Mapping[str, tuple[type[FileSettings], ...]]] = {
    "service": (Settings,),
    "gateway": (GatewaySettings, TransportSettings),
}
_TITLES: Final[Mapping[str, str]] = {"service": "The service:", "gateway": "A gateway:"}
_COLUMNS: Final = {"setting": False, "value": True, "from": True}
_RESTART: Final = (
    "A service that runs keeps what it has: browse-together status shows it; down, then up --detach renew it."
)

app = new_app()


class Effective(NamedTuple):
    """A setting's value for a start from here."""

    name: str
    value: JsonValue
    source: str
    where: str
    """The variable, the flag, or the file with its line."""


@app.command()
@flags.with_settings
def config(
    *,
    as_json: flags.AsJson = False,
    **options: Any,  # Any: typer's value of each flag
) -> None:
    """Every setting, its value for what starts here, and where that comes from. Secrets are not shown.

    Settings for every start are lines such as `max_pages = 50` in a file, which your editor makes or changes: its place
    stands below the table.
    """
    wrong = list[str]()
    found = _effective(flags.typed_settings(options), wrong)
    file = config_place.path()
    if as_json:
        listed = {process: {one.name: one._asdict() for one in settings} for process, settings in found.items()}
        output.say_json({"file": str(file), **listed})
    else:
        for process, title in _TITLES.items():
            output.say(title)
            rows = [
                (one.name, "" if one.value in (None, []) else output.value_text(one.value), one.where or one.source)
                for one in found[process]
            ]
            output.show_rows(_COLUMNS, [rows])
        begin = "" if file.exists() else ", which is not there yet"
        output.say(f"Settings for every start are in {file}{begin}: a line each, such as max_pages = 50.")
        output.say(_RESTART)
    for line in wrong:
        output.say(line, to_stderr=True)
    if wrong:
        raise typer.Exit(2)


def is_secret(name: str) -> bool:
    """Return whether a setting of either process has a secret for its value."""
    declared = [settings.model_fields.get(name) for classes in PROCESSES.values() for settings in classes]
    return any(field and SecretStr.__name__ in str(field.annotation) for field in declared)


def _effective(typed: Mapping[str, JsonValue], problems: list[str]) -> dict[str, list[Effective]]:
    """Return the settings of each process. For an unusable one, add a line to `problems`, and leave out the settings
    declared together with it. `typed` are flags of the service. Raises WrongFile."""
    said = config_file.contents()
    found = dict[str, list[Effective]]()
    for process, classes in PROCESSES.items():
        found[process] = []
        for settings in classes:
            given = typed if settings is Settings else {}
            try:
                made = settings(**given)  # type: ignore[arg-type] # pydantic makes the types
            except ValidationError as error:
                problems += config_file.explain(error, settings)
                continue
            fields = settings.model_fields
            found[process] += [
                Effective(name, value, *_source(name, fields[name], given, said))
                for name, value in settings_report.told(made).items()
            ]
            if isinstance(made, GatewaySettings) and (strange := sorted(made.toolsets - {*toolsets.NAMES})):
                problems.append(f"toolsets: there is no {', '.join(strange)}, but {', '.join(toolsets.NAMES)}.")
    return found


def _source(name: str, field: FieldInfo, typed: Mapping[str, JsonValue], said: Mapping[str, object]) -> tuple[str, str]:
    if name in typed:
        return "flag", f"--{name.replace('_', '-')}"
    if variable := config_file.variable_of(name, field):
        return "environment", variable
    if said.get(name, "") != "":
        return "file", config_file.place(config_place.path(), name)
    return "default", ""
