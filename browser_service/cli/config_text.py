"""Changes the text of `config.toml`; all else in it stays as written, including comments."""

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

import tomlkit
from pydantic import SecretStr, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from browser_service.cli import files
from browser_service.cli.setting_values import CLASSES, field_of
from client.config_file import SAID_AT_START, WrongFile, as_variables, explain, parsed, text_of
from client.config_place import path
from shared import toolsets

Value = bool | int | str | list[str]
_HEAD: Final = "# Settings of browse-together; `browse-together config show` lists all.\n"
_OWN: Final = 0o700


def read() -> str:
    """Return the file's text; empty without a file. Raises WrongFile."""
    file = path()
    if file.exists() and not file.is_file():
        raise WrongFile(f"{file} is no file.")
    return text_of(file) if file.exists() else ""


def with_values(text: str, values: Mapping[str, Value]) -> str:
    """Return the text with these values. Raises WrongFile if it is no TOML."""
    document = _document(text or _HEAD)
    for name, value in values.items():
        document[name] = value
    return tomlkit.dumps(document)


def without(text: str, names: Iterable[str]) -> str:
    """Return the text without these keys. Raises WrongFile if it is no TOML."""
    document = _document(text)
    for name in names:
        document.remove(name)
    return tomlkit.dumps(document)


def keys(text: str) -> list[str]:
    return [str(key) for key in _document(text)]


def problems(text: str) -> list[str]:
    """Return a line for each mistake in a text; none if the file may have it."""
    file = path()
    try:
        said = parsed(file, text)
    except WrongFile as wrong:
        return str(wrong).splitlines()
    lines = dict[str, None]()
    for settings in CLASSES:
        try:
            own = {name: value for name, value in as_variables(said).items() if name in settings.model_fields}
            settings.alone(own)
        except ValidationError as error:
            lines |= dict.fromkeys(explain(error, settings, text=text))
    named = as_variables(said).get("toolsets", [])
    words = named.replace(",", " ").split() if isinstance(named, str) else named
    strange = [str(word) for word in words if word not in toolsets.NAMES] if isinstance(words, list) else []
    if strange:
        lines[f"toolsets: there is no {', '.join(strange)}, but {', '.join(toolsets.NAMES)}."] = None
    return [*lines]


def value_of(name: str, typed: str) -> Value:
    """Convert typed text to a value of the file: a number, true or false, a list, or a text. A wrong value stays a
    text."""
    annotation = field_of(name).annotation
    is_path, is_list = ("Path" in str(annotation), str(annotation).startswith(("tuple", "frozenset")))
    if is_list:
        words = typed.split(",") if is_path else typed.replace(",", " ").split()
        items = [_absolute(word.strip()) if is_path else word for word in words if word.strip()]
        return items if len(items) > 1 else "".join(items)
    if is_path:
        return _absolute(typed)
    with suppress(ValidationError):
        value: object = TypeAdapter(annotation or str).validate_python(typed)
        if isinstance(value, bool | int):
            return value
    return typed


def is_secret(name: str) -> bool:
    return SecretStr.__name__ in str(field_of(name).annotation)


def write(text: str, *, to: Path | None = None, secret: bool = False) -> Path:
    """Write the file, or another one, completely or not at all, and return its path. With `secret`, only this account
    can read it. Raises WrongFile if it cannot be written."""
    file = to or path()
    try:
        files.write(file, text.encode(), files.mode_of(file) & (_OWN if secret else -1))
    except OSError as error:
        raise WrongFile(f"{file} cannot be written: {error.strerror or error}. Nothing was changed.") from None
    return file


def template() -> str:
    """Return a file that sets nothing, but lists every setting with its description and default."""
    lines = dict[str, str]()
    for settings in CLASSES:
        for name, field in settings.model_fields.items():
            if name not in SAID_AT_START:
                lines.setdefault(name, f"# {field.description}\n# {name} = {_default(field)}\n")
    return "\n".join([_HEAD, *lines.values()])


def _default(field: FieldInfo) -> str:
    value = field.default
    if isinstance(value, tuple | frozenset):
        value = sorted(map(str, value))
    return '""' if value in (None, PydanticUndefined) else json.dumps(value)


def _document(text: str) -> tomlkit.TOMLDocument:
    parsed(path(), text, known=False)  # its errors name the line
    return tomlkit.parse(text)


def _absolute(text: str) -> str:
    return str(Path(text).expanduser().absolute()) if text else ""
