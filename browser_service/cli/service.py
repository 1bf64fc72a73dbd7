"""Starts the service at login, by systemd: `service install`, `uninstall` and `status`."""

import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from browse_together.client import config_file, config_place
from browse_together.contract.errors import ValidationFailed
from browse_together.contract.installation import command, program, typed
from browse_together.contract.wire import APP_NAME, LOG_FILE
from browser_service.cli import files, flags, output
from browser_service.cli.host_unit import print_unit, quoted
from browser_service.cli.install.machine import Machine
from browser_service.cli.lifecycle import NOT_RUNNING
from browser_service.cli.options import new_app
from browser_service.cli.starting import service_of
from browser_service.settings import Settings

_ENDS_WITHIN_S: Final = 30
_DESCRIPTION: Final = "One logged-in browser, shared by many agents (browse-together)"
_UNIT: Final = f"{APP_NAME}.service"
_SYSTEMCTL: Final = ("systemctl", "--user")
_RELOADING: Final = (*_SYSTEMCTL, "daemon-reload")


def unit_file(machine: Machine) -> Path:
    return machine.folder("XDG_CONFIG_HOME", ".config") / "systemd" / "user" / _UNIT


def unit(program: Sequence[str], data_dir: Path, settings: Mapping[str, str]) -> str:
    """Return the unit that starts this program for a data directory, with further settings by their variables."""
    log = str(data_dir / LOG_FILE).replace("%", "%%")
    words = [*program, "up", "--data-dir", str(data_dir)]
    started = " ".join(quoted(word, in_command=True) for word in words)
    variables = "".join(f"Environment={quoted(f'{key}={value}')}\n" for key, value in settings.items())
    return (
        f"[Unit]\nDescription={_DESCRIPTION}\n\n"
        f"[Service]\nType=exec\nExecStart={started}\n{variables}"
        # The service ends its browsers itself. A start that fails with a reason would fail again.
        f"KillMode=mixed\nTimeoutStopSec={_ENDS_WITHIN_S}\nRestart=on-abnormal\nRestartSec=5\nUMask=0077\n"
        f"StandardOutput=append:{log}\nStandardError=append:{log}\n\n"
        "[Install]\nWantedBy=default.target\n"
    )


app = new_app()
service = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Start the service at login, on Linux.")
app.add_typer(service, name="service")
service.callback(invoke_without_command=True)(print_unit)

OnlyPrint = Annotated[bool, typer.Option("--print", help="Change nothing: print what would be written.")]


@service.command()
@flags.with_settings
def install(*, only_print: OnlyPrint = False, **options: Any) -> None:  # Any: typer's value of each flag
    """Start the service at each login with these settings, and now, by a unit of systemd for this user."""
    changes = flags.typed_settings(options)
    settings = Settings(**changes)  # type: ignore[arg-type] # pydantic makes each what it should be
    changes.pop("data_dir", None)
    machine = _with_systemd()
    text = unit(program(APP_NAME), settings.data_dir, flags.environment(changes))
    if only_print:
        output.say(text.rstrip("\n"))
        return
    _warn_of_variables(changes.keys())
    settings.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)  # the log is opened before the service starts
    file = unit_file(machine)
    before = files.read(file)
    if before == text:
        output.say(f"{file} is there already, and nothing in it changes.")
    else:
        files.replace(file, before, text)
        output.say(f"Written: {file}")
    if running := service_of(settings.data_dir):
        _run(machine, [_RELOADING, (*_SYSTEMCTL, "enable", _UNIT)])
        output.say(f"It runs already (process {running.pid}), and goes on; at the next login it starts by itself.")
        return
    _run(machine, [_RELOADING, (*_SYSTEMCTL, "enable", "--now", _UNIT)])
    output.say("The service starts at each login.")


@service.command()
def uninstall() -> None:
    """Stop starting the service at login, and end it if it was started that way."""
    machine = _with_systemd()
    file = unit_file(machine)
    if not file.exists():
        output.say(f"The service does not start at login, and nothing changes (there is no {file}).")
        return
    _run(machine, [(*_SYSTEMCTL, "disable", "--now", _UNIT)], must=False)
    file.unlink(missing_ok=True)
    output.say(f"Removed: {file}. The service starts at login no more.")


@service.command()
def status(*, data_dir: flags.DataDir = None, as_json: flags.AsJson = False) -> None:
    """Whether the service starts at login. The exit code is 0 if it does, 3 if not."""
    machine = _with_systemd()
    file, running = unit_file(machine), service_of(flags.settings(data_dir).data_dir)
    exists = file.exists()
    problem = machine.failure_of((*_SYSTEMCTL, "is-enabled", _UNIT)) if exists else ""
    said = f"not known to be enabled ({problem})" if problem else "enabled" if exists else "not installed"
    if as_json:
        pid = running.pid if running else None
        output.say_json({"installed": exists, "file": str(file), "platform": said, "pid": pid})
    else:
        output.say(f"The service {'starts' if exists else 'does not start'} at login.")
        output.say(f"  file     {file if exists else 'none'}")
        if exists:
            output.say(f"  platform {said}")
        output.say(f"  process  {f'{running.pid}, {running.url}' if running else 'none runs now'}")
        if exists and program(APP_NAME)[0] not in (files.read(file) or ""):
            output.say("It starts another installation than this one. To change that: service install.", to_stderr=True)
    if not exists:
        raise typer.Exit(NOT_RUNNING)


def _with_systemd() -> Machine:
    """Return this machine. Raises ValidationFailed where systemd is not what starts programs."""
    machine = Machine.here()
    if machine.platform.startswith("linux"):
        return machine
    raise ValidationFailed(
        "Start at login is for Linux. Elsewhere the first chat starts the service, or your system may run this at "
        f"login: {command('up', '--detach')}"
    )


def _warn_of_variables(given: Collection[str]) -> None:
    """Warn of settings in this shell that a service started at login will not have."""
    fields = {name: field for name, field in Settings.model_fields.items() if name not in {*given, "data_dir"}}
    unseen = [variable for name, field in fields.items() if (variable := config_file.variable_of(name, field))]
    unseen += [config_place.VARIABLE] if os.environ.get(config_place.VARIABLE) else []
    if unseen:
        output.say(
            f"At login there is no {', '.join(unseen)} as in this shell: give it as a flag here, or in the file "
            f"that {command('config')} names.",
            to_stderr=True,
        )


def _run(machine: Machine, commands: Sequence[Sequence[str]], *, must: bool = True) -> None:
    """Run commands; print those that cannot run."""
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
