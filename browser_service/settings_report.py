"""Reports settings without their secrets: their values, and how they differ from defaults and wishes."""

from collections.abc import Mapping
from typing import Final, cast
from urllib.parse import urlsplit

from pydantic import JsonValue, SecretStr, ValidationError
from pydantic_settings import BaseSettings

from browse_together.client.config_file import as_variables, setting_name
from browse_together.contract.model import Json
from browser_service.settings import Settings

_SECRET_PATHS: Final = frozenset({"notify_webhook", "cdp_url"})
"""Settings whose addresses are secrets; only the host is shown."""
_NOT_TOLD: Final = "(set, not shown)"


def told(settings: BaseSettings) -> Json:
    """Return all settings as JSON, with a placeholder or a shortened address instead of secrets."""
    values = settings.model_dump(mode="json")
    return {name: _told(name, getattr(settings, name), cast("Json", values)[name]) for name in values}  # a dump is JSON


def changed(settings: BaseSettings) -> list[str]:
    """Return the names of the settings that differ from their defaults."""
    given = dict(settings)
    return [
        name
        for name, field in type(settings).model_fields.items()
        if given[name] != field.get_default(call_default_factory=True, validated_data=given)
    ]


def ineffective(running: Settings, asked: Mapping[str, str]) -> Json:
    """Return the running values that differ from the values asked for. `asked` has variables or names; unknown ones are
    ignored."""
    texts = {name: text for key, text in asked.items() if (name := setting_name(key)) in Settings.model_fields and text}
    wrong = set[str]()
    wanted: Mapping[str, object] = {}
    try:
        wanted = dict(Settings.alone(as_variables(texts)))
    except ValidationError as error:
        wrong = {setting_name(str(fault["loc"][0])) for fault in error.errors()} & texts.keys()
        right = {name: text for name, text in texts.items() if name not in wrong}
        wanted = dict(Settings.alone(as_variables(right)))
    values = told(running)
    return {name: values[name] for name in texts if name in wrong or wanted[name] != getattr(running, name)}


def _told(name: str, value: object, as_json: JsonValue) -> JsonValue:
    if isinstance(value, SecretStr):
        return _NOT_TOLD
    if isinstance(value, frozenset):
        return [*sorted(map(str, value))]
    if isinstance(value, str) and "://" in value:
        address = urlsplit(value)
        host = address.netloc.rpartition("@")[2]
        return f"{address.scheme}://{host}/…" if name in _SECRET_PATHS else f"{address.scheme}://{host}{address.path}"
    return as_json
