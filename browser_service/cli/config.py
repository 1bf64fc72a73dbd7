"""Shows and changes the settings for every start: `config`."""

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Final, NoReturn

import typer

from browser_service.cli import config_text, flags, output, setting_values
from browser_service.cli.config_text import problems
from browser_service.cli.options import new_app
from client import config_file, config_place
from client.config_file import setting_name
from shared.errors import ServiceUnavailable, ValidationFailed

_COLUMNS: Final = {"setting": False, "value": True, "from": True}
_EDITORS: Final = ("sensible-editor", "nano", "vim", "vi", "notepad")
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
    values = {name: config_text.value_of(name, _ask(name) if value == "-" else value) for name, value in typed.items()}
    before = config_text.read()
    after = config_text.with_values(before, values)
    if wrong := problems(after):
        _stop([*wrong, "Nothing was written."])
    file = config_text.write(after, secret=any(map(config_text.is_secret, values)))
    _say_done(values, f"set in {file}")


@config.command()
def unset(names: Names) -> None:
    """Take settings out of the file, so that their defaults hold again."""
    before = config_text.read()
    there = config_text.keys(before)
    gone = [name if name in there else setting_name(name) for name in names]
    if strange := [name for name in gone if name not in there]:
        _stop([f"{config_place.path()} does not set {', '.join(strange)}."])
    after = config_text.without(before, dict.fromkeys(gone))
    file = config_text.write(after)
    _say_done(gone, f"taken out of {file}")
    for line in problems(after):
        output.say(line, to_stderr=True)


@config.command()
def edit() -> None:
    """Open the file in your editor ($VISUAL, $EDITOR). A version with mistakes does not take its place, and is kept."""
    file = config_place.path()
    before = config_text.read()
    aside = config_file.broken(file)
    goes_on = aside.exists() and (not file.exists() or aside.stat().st_mtime >= file.stat().st_mtime)
    if goes_on:
        output.say(f"This goes on with {aside}, which was kept.")
    text = config_file.text_of(aside) if goes_on else before or config_text.template()
    edited = _edited(text, file)
    if edited == text and not goes_on:
        output.say("Nothing was changed.")
        return
    if wrong := problems(edited):
        config_text.write(edited, to=aside)
        held = f"{file} is as it was" if file.exists() else f"{file} was not made"
        _stop([*(line.replace(str(file), str(aside)) for line in wrong), f"{held}; your version is kept in {aside}."])
    config_text.write(edited)
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
    if name not in config_file.NAMES:
        near = config_file.nearest_name(name)
        hint = f"Did you mean {near}?" if near else "browse-together config show lists them."
        raise ValidationFailed(f"There is no setting {typed!r}.", hint=hint)
    return name


def _ask(name: str) -> str:
    return str(typer.prompt(name, hide_input=True)) if sys.stdin.isatty() else sys.stdin.readline().rstrip("\n")


def _edited(text: str, file: Path) -> str:
    """Return the text as edited by a person. Raises ServiceUnavailable if no editor can be started."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or next(filter(shutil.which, _EDITORS), "vi")
    with tempfile.TemporaryDirectory(prefix="browse-together-") as folder:
        copy = Path(folder, file.name)
        copy.write_text(text, encoding="utf-8", newline="")
        try:
            code = subprocess.call([*shlex.split(editor), str(copy)])
        except OSError as error:
            raise ServiceUnavailable(
                f"The editor {editor!r} cannot be started: {error}.", hint=f"Set EDITOR, or edit {file} yourself."
            ) from None
        if code:
            raise ServiceUnavailable(f"The editor {editor!r} ended with exit code {code}; nothing was changed.")
        return config_file.text_of(copy)


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
