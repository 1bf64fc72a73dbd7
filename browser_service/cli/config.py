"""Shows and changes the settings for every start (`config`), and keeps what else the file says."""

import json
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Final, NoReturn

import tomlkit
import typer
from pydantic import SecretStr, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from browser_service.cli import files, flags, output, setting_values
from browser_service.cli.editor import edited
from browser_service.cli.options import new_app
from browser_service.cli.setting_values import CLASSES, field_of
from client import config_file, config_place
from client.config_file import SAID_AT_START, WrongFile, as_variables, explain, parsed, setting_name, text_of
from client.config_place import path
from shared import toolsets
from shared.errors import ValidationFailed
from shared.variables import REMOVED, no_more

Value = bool | int | str | list[str]
_HEAD: Final = "# Settings of browse-together; `browse-together config show` lists all.\n"
_OWN: Final = 0o700


def read() -> str:
    """Return the file's text; empty without a file. Raises WrongFile."""
    file = path()
    if file.exists() and not file.is_file():
        raise WrongFile(f"{file} is no file.")
    return text_of(file) if file.exists() else ""


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
    """Parse a text so that what is not changed stays as written. Raises WrongFile if it is no TOML."""
    parsed(path(), text, known=False)  # its errors name the line
    return tomlkit.parse(text)


def _absolute(text: str) -> str:
    return str(Path(text).expanduser().absolute()) if text else ""


_COLUMNS: Final = {"setting": False, "value": True, "from": True}
_RESTART: Final = (
    "A service that runs keeps what it has: browse-together status shows it, down and up --detach renew it."
)

app = new_app()
config = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="The settings that hold for every start.")
app.add_typer(config, name="config")

Names = Annotated[list[str], typer.Argument(metavar="NAME...", help="As `config show` lists it.")]
Pairs = Annotated[
    list[str],
    typer.Argument(metavar="NAME VALUE...", help="A setting and its value; `-` asks for it without showing it."),
]


@config.command()
@flags.with_settings
def show(
    *,
    as_json: flags.AsJson = False,
    **options: Any,  # Any: typer's value of each flag
) -> None:
    """Every setting, its value for what starts here, and where that comes from. Secrets are not shown."""
    wrong = list[str]()
    found = setting_values.effective(flags.typed_settings(options), wrong)
    if as_json:
        listed = {process: {one.name: one._asdict() for one in settings} for process, settings in found.items()}
        output.say_json({"file": str(config_place.path()), **listed})
    else:
        for process, title in (("service", "The service:"), ("gateway", "A gateway:")):
            output.say(title)
            rows = [
                (one.name, "" if one.value in (None, []) else output.value_text(one.value), one.where or one.source)
                for one in found[process]
            ]
            output.show_rows(_COLUMNS, [rows])
    if wrong:
        _stop(wrong)


@config.command("set")
def set_(pairs: Pairs) -> None:
    """Set what holds for every start, such as `config set max_pages 50`. It is checked before it is written."""
    if len(pairs) % 2:
        raise typer.BadParameter(f"{pairs[-1]!r} has no value.", param_hint="NAME VALUE")
    typed = {_known(name): value for name, value in zip(pairs[::2], pairs[1::2], strict=True)}
    values = {name: value_of(name, _ask(name) if value == "-" else value) for name, value in typed.items()}
    document = _document(read() or _HEAD)
    for name, value in values.items():
        document[name] = value
    after = tomlkit.dumps(document)
    if wrong := problems(after):
        _stop([*wrong, "Nothing was written."])
    file = write(after, secret=any(map(is_secret, values)))
    _say_done(values, f"set in {file}")


@config.command()
def unset(names: Names) -> None:
    """Take settings out of the file, so that their defaults hold again."""
    document = _document(read())
    gone = [name if name in document else setting_name(name) for name in names]
    if strange := [name for name in gone if name not in document]:
        _stop([f"{config_place.path()} does not set {', '.join(strange)}."])
    for name in dict.fromkeys(gone):
        document.remove(name)
    after = tomlkit.dumps(document)
    file = write(after)
    _say_done(gone, f"taken out of {file}")
    for line in problems(after):
        output.say(line, to_stderr=True)


@config.command()
def edit() -> None:
    """Open the file in your editor ($VISUAL, $EDITOR). A version with mistakes does not take its place, and is kept."""
    file = config_place.path()
    before = read()
    aside = config_file.broken(file)
    goes_on = aside.exists() and (not file.exists() or aside.stat().st_mtime >= file.stat().st_mtime)
    if goes_on:
        output.say(f"This goes on with {aside}, which was kept.")
    text = config_file.text_of(aside) if goes_on else before or template()
    changed = edited(text, file)
    if changed == text and not goes_on:
        output.say("Nothing was changed.")
        return
    if wrong := problems(changed):
        write(changed, to=aside)
        held = f"{file} is as it was" if file.exists() else f"{file} was not made"
        _stop([*(line.replace(str(file), str(aside)) for line in wrong), f"{held}; your version is kept in {aside}."])
    write(changed)
    aside.unlink(missing_ok=True)
    output.say(f"{file} is written.")
    output.say(_RESTART)


@config.command("path")
def path_() -> None:
    """Print where the file is, or would be."""
    typer.echo(str(config_place.path()))


def _known(typed: str) -> str:
    """Return the name of a setting that the file may have. Raises ValidationFailed with the nearest name."""
    name = setting_name(typed)
    if reason := config_file.SAID_AT_START.get(name):
        raise ValidationFailed(f"{name} is nothing for a file, because {reason}.")
    if name in REMOVED:
        raise ValidationFailed(f"{name} {no_more(name)}")
    if name not in config_file.NAMES:
        near = config_file.nearest_name(name)
        hint = f"Did you mean {near}?" if near else "browse-together config show lists them."
        raise ValidationFailed(f"There is no setting {typed!r}.", hint=hint)
    return name


def _ask(name: str) -> str:
    return str(typer.prompt(name, hide_input=True)) if sys.stdin.isatty() else sys.stdin.readline().rstrip("\n")


def _say_done(names: Iterable[str], what: str) -> None:
    """Print what was done, and where it has no effect."""
    output.say(f"{', '.join(names)}: {what}")
    for name in names:
        if name in config_file.NAMES and (variable := config_file.variable_of(name, setting_values.field_of(name))):
            output.say(f"{variable} is set in this environment, and stands above the file.", to_stderr=True)
    output.say(_RESTART, to_stderr=True)


def _stop(lines: Iterable[str]) -> NoReturn:
    for line in lines:
        output.say(line, to_stderr=True)
    raise typer.Exit(2)
