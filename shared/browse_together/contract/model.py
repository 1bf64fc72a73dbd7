"""The base of every message: camelCase on the wire, snake_case in Python."""

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError
from pydantic.alias_generators import to_camel

Json = dict[str, JsonValue]


class Model(BaseModel):
    """A message: camelCase on the wire, without unknown fields."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
        extra="forbid",
        defer_build=True,  # built at its first use: no process needs all models, and a gateway starts sooner
    )


def object_at(parent: Mapping[str, JsonValue], key: str) -> Json:
    """Return the object under a key; an empty one where there is none."""
    value = parent.get(key)
    return value if isinstance(value, dict) else {}


def list_at(parent: Mapping[str, JsonValue], key: str) -> list[JsonValue]:
    """Return the list under a key; an empty one where there is none."""
    value = parent.get(key)
    return value if isinstance(value, list) else []


def weight(value: JsonValue) -> int:
    """Return the approximate size of a value in bytes, by which caches are limited."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, list):
        return sum(map(weight, value)) + 8
    return sum(len(key) + weight(item) for key, item in value.items()) if isinstance(value, dict) else 8


def first_fault(error: ValidationError) -> tuple[str, str]:
    """Return where a value does not fit its model first, such as `steps.0.url`, and why. The value stays out of it."""
    fault = error.errors(include_url=False, include_input=False)[0]
    return ".".join(map(str, fault["loc"])), fault["msg"].removeprefix("Value error, ")
