"""The settings of both processes, their values, and where each comes from."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from pydantic import JsonValue, ValidationError
from pydantic.fields import FieldInfo

from browser_service import settings_report
from browser_service.settings import Settings
from client import config_file, config_place
from client.config_file import FileSettings
from mcp_gateway.settings import Settings as GatewaySettings
from mcp_gateway.transports.settings import TransportSettings

PROCESSES: Final[Mapping[str, tuple[type[FileSettings], ...]]] = {
    "service": (Settings,),
    "gateway": (GatewaySettings, TransportSettings),
}
CLASSES: Final = tuple(settings for classes in PROCESSES.values() for settings in classes)


class Effective(NamedTuple):
    """A setting's value for a start from here."""

    name: str
    value: JsonValue
    source: str
    where: str = ""
    """The variable, the flag, or the file with its line."""


def effective(typed: Mapping[str, JsonValue], problems: list[str]) -> dict[str, list[Effective]]:
    """Return the settings of each process. For an unusable one, add a line to `problems`, and leave out the settings
    declared together with it. `typed` are flags of the service. Raises WrongFile."""
    said = config_file.contents()
    found = dict[str, list[Effective]]()
    for process, classes in PROCESSES.items():
        found[process] = []
        for settings in classes:
            flags = typed if settings is Settings else {}
            try:
                values = settings_report.told(settings(**flags))  # type: ignore[arg-type] # pydantic makes the types
            except ValidationError as error:
                problems += config_file.explain(error, settings)
                continue
            fields = settings.model_fields
            found[process] += [
                Effective(name, values[name], *_source(name, fields[name], flags, said)) for name in values
            ]
    return found


def _source(name: str, field: FieldInfo, typed: Mapping[str, JsonValue], said: Mapping[str, object]) -> tuple[str, str]:
    if name in typed:
        return "flag", f"--{name.replace('_', '-')}"
    if variable := config_file.variable_of(name, field):
        return "environment", variable
    if said.get(name, "") != "":
        return "file", config_file.place(config_place.path(), name)
    return "default", ""


def field_of(name: str) -> FieldInfo:
    """Return a setting's declaration; the service's if both processes have one."""
    return next(settings.model_fields[name] for settings in CLASSES if name in settings.model_fields)
