"""Saves, shows, edits, runs and exports flows: `flow`."""

import os
import shlex
import shutil
import subprocess
import tempfile
from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, cast

import typer

from browse_together.client import config_file
from browse_together.contract.errors import BrowseError, ServiceUnavailable, ValidationFailed
from browse_together.contract.model import Json
from browse_together.contract.quoting import one_line, quoted
from browser_service.cli import flags, output
from browser_service.cli.actions import perform
from browser_service.cli.client import Client
from browser_service.cli.options import new_app
from browser_service.flows import export as exports
from browser_service.flows.files import FlowFiles, file_schema

if TYPE_CHECKING:
    from browser_service.cli.flow_report import Entry

_EDITORS: Final = ("sensible-editor", "nano", "vim", "vi", "notepad")
_MOST_PAGES: Final = 20

app = new_app()
flow = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="What was done once, to be done again.")
app.add_typer(flow, name="flow")

Name = Annotated[str, typer.Argument(metavar="NAME", help="The flow's, such as send-invoice.")]
Values = Annotated[list[str] | None, typer.Option("--value", metavar="NAME=VALUE", help="A parameter; repeatable.")]


@flow.command()
def save(
    name: Name,
    *,
    page: Annotated[
        str | None, typer.Option(metavar="ID", help="What was done on this page, by whoever did it.")
    ] = None,
    last: Annotated[
        str, typer.Option("--last", "--since", metavar="TIME", help="30m, 2h ago, or an ISO time.")
    ] = "30m",
    call: Annotated[list[str] | None, typer.Option(metavar="CALLID", help="Only these calls; repeatable.")] = None,
    value: Values = None,
    description: Annotated[str, typer.Option(metavar="TEXT", help="What it is for.")] = "",
    replace: Annotated[bool, typer.Option("--replace", help="Overwrite the flow of this name.")] = False,
    data_dir: flags.DataDir = None,
    as_json: flags.AsJson = False,
) -> None:
    """Make a flow of what was done on a page: `browse-together activity --page ID` shows it."""
    body: Json = {"action": "save_flow", "name": name, "since": last, "description": description, "replace": replace}
    body |= {"pageId": page} if page else {}
    body |= {"calls": [*call]} if call else {}
    perform({**body, "values": _values(value)}, data_dir, None, as_json=as_json, person=True)


@flow.command("list")
def list_(*, data_dir: flags.DataDir = None, as_json: flags.AsJson = False) -> None:
    """The saved flows, and the values that they need."""
    described = _files(data_dir).described()
    if as_json:
        output.say_json(described)
    for each in () if as_json else described:
        needs = ", ".join(cast("list[str]", each.get("needs", [])))
        about = one_line(str(each.get("problem", ""))) or (each["description"] and quoted(str(each["description"])))
        name, steps = one_line(str(each["name"])), each.get("steps", 0)
        output.say(f"{name}  {steps} steps{f', needs {needs}' if needs else ''}  {about}".rstrip())


@flow.command()
def show(name: Name, *, data_dir: flags.DataDir = None) -> None:
    """A flow's file."""
    output.say(config_file.text_of(_files(data_dir).existing(name)))


@flow.command()
def edit(name: Name, *, data_dir: flags.DataDir = None) -> None:
    """Change a flow in your editor ($VISUAL, $EDITOR). A version with mistakes does not take its place, and is kept."""
    files = _files(data_dir)
    path = files.existing(name)
    aside, before = path.with_name(f"{path.name}.broken"), config_file.text_of(path)
    goes_on = aside.exists()
    if goes_on:
        since = f", and {path.name} was changed since" if path.stat().st_mtime > aside.stat().st_mtime else ""
        output.say(f"This goes on with {aside}, which was kept{since}. Delete it to begin with {path.name}.")
    text = _edited(config_file.text_of(aside) if goes_on else before, path)
    files.put(text, aside)
    try:
        files.parsed(text, name)
        problem = "" if config_file.text_of(path) == before else f"{path.name} was changed while you edited it."
    except BrowseError as error:
        problem = error.message
    if problem:
        raise ValidationFailed(
            problem, hint=f"{path.name} is as it was. What you wrote is in {aside}: flow edit {name} goes on with it."
        )
    aside.replace(path)
    output.say(str(path))


@flow.command("export")
def export_(
    name: Name,
    *,
    pytest: Annotated[bool, typer.Option("--pytest/--python", help="As a test, or as a program.")] = False,
    data_dir: flags.DataDir = None,
) -> None:
    """Print a flow as plain Playwright, which needs no service: as a program, or as a test."""
    loaded = _files(data_dir).load(name)
    output.say(exports.as_pytest(loaded) if pytest else exports.as_python(loaded))


@flow.command()
def schema() -> None:
    """Print the JSON Schema of a flow's file, for editors and checks."""
    output.say_json(file_schema())


@flow.command()
def run(
    name: Name,
    *,
    value: Values = None,
    page: Annotated[str | None, typer.Option(metavar="ID", help="A page of yours to do it on.")] = None,
    heal: Annotated[
        bool,
        typer.Option(
            "--heal", help="If an element is not found, take the only one of its role and name, or a renamed one."
        ),
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only check that it could begin.")] = False,
    each: Annotated[Path | None, typer.Option(metavar="CSV", help="Once for each row; columns are parameters.")] = None,
    pages: Annotated[int, typer.Option(min=1, max=_MOST_PAGES, help="With --each: how many rows at once.")] = 1,
    report: Annotated[
        Path | None, typer.Option(metavar="CSV", help="With --each: where the outcomes go. It is gone on with.")
    ] = None,
    data_dir: flags.DataDir = None,
    as_json: flags.AsJson = False,
) -> None:
    """Run a flow, or run it for each row of a table. No row is done twice: the same command goes on where it ended."""
    values = _values(value)
    if each is None:
        body: Json = {"action": "run_flow", "name": name, "values": values, "heal": heal, "dryRun": dry_run}
        perform({**body, **({"pageId": page} if page else {})}, data_dir, None, as_json=as_json)
        return
    if not each.is_file():
        raise ValidationFailed(f"--each: there is no file {each}.")
    from browser_service.cli.flow_report import Report  # noqa: PLC0415 - only a table needs it
    from browser_service.cli.flow_table import TableRun, rows_of  # noqa: PLC0415 - likewise

    rows = rows_of(each, _files(data_dir).load(name), values)
    service_dir = flags.settings(data_dir).data_dir
    if dry_run:
        output.say(f"{len(rows)} rows can begin; nothing was done.")
        return
    path = report or each.with_name(f"{each.stem}.{name}.csv")
    table = TableRun(name, rows, Report(path), partial(Client, service_dir), heal=heal, on_done=_tell)
    ran = table.run(pages)
    counts = Counter(entry.status for entry in table.report.last.values())
    if not ran:
        output.say("No row was run: each has its outcome.", to_stderr=True)
    output.say(f"{path}: {', '.join(f'{count} {status}' for status, count in sorted(counts.items()))}")
    if counts.keys() - {"ok"}:
        output.say("A row is run again once its line is deleted there.", to_stderr=True)
        raise typer.Exit(1)


def _tell(entry: "Entry") -> None:
    output.say(f"row {entry.row}: {entry.status}{f': {entry.detail}' if entry.detail else ''}", to_stderr=True)


def _files(data_dir: str | None) -> FlowFiles:
    return FlowFiles(flags.settings(data_dir).flows_dir)


def _values(given: list[str] | None) -> Json:
    values: Json = {}
    for each in given or []:
        name, equals, text = each.partition("=")
        if not equals:
            raise ValidationFailed(f"--value {each[:80]!r} is no NAME=VALUE.")
        values[name] = {"secret": text.removeprefix("secret:")} if text.startswith("secret:") else text
    return values


def _edited(text: str, file: Path) -> str:
    """Return the text of a file as edited by a person. Raises ServiceUnavailable if no editor can be started."""
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
