"""Starts the service at login, by the means of the platform: `service install`, `uninstall` and `status`."""

import os
from collections.abc import Collection, Sequence
from typing import Annotated, Any

import typer

from browser_service.cli import files, flags, output
from browser_service.cli.install.machine import Machine
from browser_service.cli.lifecycle import NOT_RUNNING
from browser_service.cli.options import new_app
from browser_service.cli.running import service_of
from browser_service.cli.service.units import Command, Start, Unit, unit_for
from browser_service.settings import Settings
from client import config_file, config_place
from shared.installation import command, program, typed
from shared.wire import APP_NAME

app = new_app()
service = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Start the service at login.")
app.add_typer(service, name="service")

OnlyPrint = Annotated[bool, typer.Option("--print", help="Change nothing: print what would be written.")]


@service.command()
@flags.with_settings
def install(*, only_print: OnlyPrint = False, **options: Any) -> None:  # Any: typer's value of each flag
    """Start the service at each login with these settings, and now.

    It is a unit of systemd for this user, a job of launchd, or a scheduled task of Windows.
    """
    changes = flags.typed_settings(options)
    settings = Settings(**changes)  # type: ignore[arg-type] # pydantic makes each what it should be
    changes.pop("data_dir", None)
    machine = Machine.here()
    unit = unit_for(machine, Start(program(APP_NAME), settings.data_dir, flags.environment(changes)))
    if only_print:
        output.say(unit.text.rstrip("\n"))
        return
    _warn_of_variables(changes.keys())
    settings.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)  # the log is opened before the service starts
    before = files.read(unit.path, unit.encoding)
    if before == unit.text:
        output.say(f"{unit.path} is there already, and nothing in it changes.")
    else:
        files.replace(unit.path, before, unit.text, unit.encoding)
        output.say(f"Written: {unit.path}")
    running = service_of(settings.data_dir)
    if running:
        _run(machine, unit.enabling_later)
        output.say(f"It runs already (process {running.pid}), and goes on; at the next login it starts by itself.")
        return
    for forgetting in unit.clearing:
        machine.failure_of(forgetting)  # usually there is nothing to forget
    _run(machine, unit.enabling)
    output.say("The service starts at each login.")


@service.command()
def uninstall(data_dir: flags.DataDir = None) -> None:
    """Stop starting the service at login, and end it if it was started that way."""
    machine = Machine.here()
    unit = _current(machine, flags.settings(data_dir))
    if not unit.path.exists():
        output.say(f"The service does not start at login, and nothing changes (there is no {unit.path}).")
        return
    remove(machine, unit)


@service.command()
def status(*, data_dir: flags.DataDir = None, as_json: flags.AsJson = False) -> None:
    """Whether the service starts at login. The exit code is 0 if it does, 3 if not."""
    machine, settings = Machine.here(), flags.settings(data_dir)
    unit, running = _current(machine, settings), service_of(settings.data_dir)
    exists = unit.path.exists()
    problem = machine.failure_of(unit.asking) if exists else ""
    said = f"not known to be enabled ({problem})" if problem else "enabled" if exists else "not installed"
    if as_json:
        pid = running.pid if running else None
        output.say_json({"installed": exists, "file": str(unit.path), "platform": said, "pid": pid})
    else:
        output.say(f"The service {'starts' if exists else 'does not start'} at login.")
        output.say(f"  file     {unit.path if exists else 'none'}")
        if exists:
            output.say(f"  platform {said}")
        output.say(f"  process  {f'{running.pid}, {running.url}' if running else 'none runs now'}")
        if exists and program(APP_NAME)[0] not in (files.read(unit.path, unit.encoding) or ""):
            output.say("It starts another installation than this one. To change that: service install.", to_stderr=True)
    if not exists:
        raise typer.Exit(NOT_RUNNING)


def remove(machine: Machine, unit: Unit) -> None:
    """Remove a unit. Print the platform's command if its program is missing or fails."""
    _run(machine, unit.disabling, must=False)
    unit.path.unlink(missing_ok=True)
    output.say(f"Removed: {unit.path}. The service starts at login no more.")


def _current(machine: Machine, settings: Settings) -> Unit:
    return unit_for(machine, Start(program(APP_NAME), settings.data_dir, {}))


def _warn_of_variables(given: Collection[str]) -> None:
    """Warn of settings in this shell that a service started at login will not have."""
    fields = {name: field for name, field in Settings.model_fields.items() if name not in {*given, "data_dir"}}
    unseen = [variable for name, field in fields.items() if (variable := config_file.variable_of(name, field))]
    unseen += [config_place.VARIABLE] if os.environ.get(config_place.VARIABLE) else []
    if unseen:
        output.say(
            f"At login there is no {', '.join(unseen)} as in this shell: give it as a flag here, or in config.toml "
            f"({command('config', 'set')}).",
            to_stderr=True,
        )


def _run(machine: Machine, commands: Sequence[Command], *, must: bool = True) -> None:
    """Run the platform's commands; print those that cannot run."""
    for place, words in enumerate(commands):
        if not (problem := machine.failure_of(words)):
            output.say(f"$ {typed(*words)}")
            continue
        output.say(f"{words[0]} could not be run ({problem}). By hand:", to_stderr=True)
        for left in commands[place:]:
            output.say(f"  {typed(*left)}", to_stderr=True)
        if must and machine.program(words[0]):
            raise typer.Exit(1)
        return
