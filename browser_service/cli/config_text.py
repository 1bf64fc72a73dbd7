"""Changes the text of `config.toml`: what else is in it stays as it was written, comments included."""

import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import tomlkit
from pydantic import SecretStr, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from browser_service.cli.setting_values import CLASSES, field_of
from client.config_file import WrongFile, as_variables, explain, parsed
from client.config_place import path
from shared import toolsets

Value = bool | int | str | list[str]
_HEAD: Final = "# Settings of browse-together; `browse-together config show` lists all.\n"
_OTHERS: Final = 0o077


def read() -> str:
    """Return the text of the file; empty where there is none. Raises WrongFile for one that cannot be read, also
    because it is no file."""
    file = path()
    if file.exists() and not file.is_file():
        raise WrongFile(f"{file} is no file.")
    return text_of(file) if file.exists() else ""


def text_of(file: Path) -> str:
    """Return a file's text. Raises WrongFile for one that cannot be read."""
    try:
        return file.read_bytes().decode()
    except (OSError, UnicodeDecodeError) as error:
        raise WrongFile(f"{file} cannot be read: {error}.") from None


@contextmanager
def copy_of(text: str, file: Path) -> Iterator[Path]:
    """Make a copy to edit, of the file's name, for this account alone."""
    with tempfile.TemporaryDirectory(prefix="browse-together-") as folder:
        copy = Path(folder) / file.name
        copy.write_text(text, encoding="utf-8", newline="")
        yield copy


def with_values(text: str, values: Mapping[str, Value]) -> str:
    """Return the text with these values. Raises WrongFile where it is no TOML."""
    document = _document(text or _HEAD)
    for name, value in values.items():
        document[name] = value
    return tomlkit.dumps(document)


def without(text: str, names: Iterable[str]) -> str:
    """Return the text without these keys. Raises WrongFile where it is no TOML."""
    document = _document(text)
    for name in names:
        document.remove(name)
    return tomlkit.dumps(document)


def keys(text: str) -> list[str]:
    return [str(key) for key in _document(text)]


def problems(text: str) -> list[str]:
    """Return a line for each mistake in a text that may be the file's; none if it can be."""
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
    """Return what was typed as the file has it: a number, true or false, a list, or a text. What is wrong stays a
    text."""
    field = field_of(name)
    if "tuple" in str(field.annotation) or "frozenset" in str(field.annotation):
        words = typed.split(",") if _is_path(field) else typed.replace(",", " ").split()
        items = [_absolute(word.strip()) if _is_path(field) else word for word in words if word.strip()]
        return items if len(items) > 1 else "".join(items)
    if _is_path(field):
        return _absolute(typed)
    with suppress(ValidationError):
        value: object = TypeAdapter(field.annotation or str).validate_python(typed)
        if isinstance(value, bool | int):
            return value
    return typed


def is_secret(name: str) -> bool:
    return SecretStr.__name__ in str(field_of(name).annotation)


def write(text: str, *, to: Path | None = None, secret: bool = False) -> Path:
    """Write the file, or another, whole or not at all, and return its path. A secret is for this account alone to
    read. Raises WrongFile where it cannot be written."""
    file = to or path()
    try:
        _replace(file.resolve(), text, secret=secret)  # a link to it stays one
    except OSError as error:
        raise WrongFile(f"{file} cannot be written: {error.strerror or error}. Nothing was changed.") from None
    return file


def _replace(file: Path, text: str, *, secret: bool) -> None:
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    mode = file.stat().st_mode & 0o777 if file.exists() else 0o600
    descriptor, name = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as new:
            new.write(text)
            new.flush()
            os.fsync(new.fileno())
        Path(name).chmod(mode & ~_OTHERS if secret else mode)
        Path(name).replace(file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def template(settings: Sequence[tuple[str, str, str]]) -> str:
    """Return a file that sets nothing, and names every setting with its description and default."""
    lines = [f"# {description}\n# {name} = {default}\n" for name, description, default in settings]
    return "\n".join([_HEAD, *lines])


def _document(text: str) -> tomlkit.TOMLDocument:
    parsed(path(), text, known=False)  # whose errors name the line
    return tomlkit.parse(text)


def _is_path(field: FieldInfo) -> bool:
    return "Path" in str(field.annotation)


def _absolute(text: str) -> str:
    return str(Path(text).expanduser().absolute()) if text else ""
