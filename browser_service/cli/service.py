"""Starts the service at login, by the means of the platform: `service install`, `uninstall` and `status`."""

import os
import plistlib
import subprocess
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final
from xml.sax.saxutils import escape

import typer

from browser_service.cli import files, flags, output
from browser_service.cli.host_unit import print_unit, quoted
from browser_service.cli.install.machine import Machine
from browser_service.cli.lifecycle import NOT_RUNNING
from browser_service.cli.options import new_app
from browser_service.cli.running import service_of
from browser_service.settings import Settings
from client import config_file, config_place
from shared.errors import ValidationFailed
from shared.installation import command, program, typed
from shared.wire import APP_NAME, LOG_FILE

_ENDS_WITHIN_S: Final = 30
_DESCRIPTION: Final = "One logged-in browser, shared by many agents (browse-together)"

_PRIVATE: Final = "BROWSE_NOTIFY_WEBHOOK"
_TASK: Final = """<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo><Description>{description}</Description></RegistrationInfo>
  <Triggers><LogonTrigger><Enabled>true</Enabled>{principal}</LogonTrigger></Triggers>
  <Principals><Principal id="Author">{principal}<LogonType>InteractiveToken</LogonType>\
<RunLevel>LeastPrivilege</RunLevel></Principal></Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <Hidden>true</Hidden>
  </Settings>
  <Actions Context="Author">
    <Exec>
      <Command>{program}</Command>
      <Arguments>{line}</Arguments>
    </Exec>
  </Actions>
</Task>
"""

Command = tuple[str, ...]


@dataclass(frozen=True)
class Start:
    """The program to start: its words, the data directory, and further settings by their variables."""

    program: Sequence[str]
    data_dir: Path
    settings: Mapping[str, str]

    @property
    def words(self) -> list[str]:
        return [*self.program, "up", "--data-dir", str(self.data_dir)]


@dataclass(frozen=True)
class Unit:
    """A file that the platform reads, and the commands that register it."""

    path: Path
    text: str
    enabling: tuple[Command, ...]
    """Enable the start at login, and start the service now."""
    enabling_later: tuple[Command, ...]
    """Enable only the start at login."""
    disabling: tuple[Command, ...]
    asking: Command
    """Succeeds if the platform knows the unit."""
    clearing: tuple[Command, ...] = ()
    """Make the platform forget an earlier unit of that name where it would not read the new one."""
    encoding: str = "utf-8"


def unit_for(machine: Machine, start: Start) -> Unit:
    if machine.platform == "darwin":
        return _launchd(machine, start)
    if machine.platform == "win32":
        return _task(machine, start)
    return _systemd(machine, start)


def _systemd(machine: Machine, start: Start) -> Unit:
    name = f"{APP_NAME}.service"
    log = str(start.data_dir / LOG_FILE).replace("%", "%%")
    command = " ".join(quoted(word, in_command=True) for word in start.words)
    settings = "".join(f"Environment={quoted(f'{key}={value}')}\n" for key, value in start.settings.items())
    text = (
        f"[Unit]\nDescription={_DESCRIPTION}\n\n"
        f"[Service]\nType=exec\nExecStart={command}\n{settings}"
        # The service ends its browsers itself. A start that fails with a reason would fail again.
        f"KillMode=mixed\nTimeoutStopSec={_ENDS_WITHIN_S}\nRestart=on-abnormal\nRestartSec=5\nUMask=0077\n"
        f"StandardOutput=append:{log}\nStandardError=append:{log}\n\n"
        "[Install]\nWantedBy=default.target\n"
    )
    systemctl = ("systemctl", "--user")
    return Unit(
        machine.folder("XDG_CONFIG_HOME", ".config") / "systemd" / "user" / name,
        text,
        enabling=((*systemctl, "daemon-reload"), (*systemctl, "enable", "--now", name)),
        enabling_later=((*systemctl, "daemon-reload"), (*systemctl, "enable", name)),
        disabling=((*systemctl, "disable", "--now", name),),
        asking=(*systemctl, "is-enabled", name),
    )


def _launchd(machine: Machine, start: Start) -> Unit:
    label, log = APP_NAME, str(start.data_dir / LOG_FILE)
    path = machine.home / "Library" / "LaunchAgents" / f"{label}.plist"
    job: dict[str, object] = {
        "Label": label,
        "ProgramArguments": start.words,
        "RunAtLoad": True,
        "KeepAlive": {"Crashed": True},  # a start that fails with a reason would fail again
        "ExitTimeOut": _ENDS_WITHIN_S,
        "Umask": 0o077,
        "StandardOutPath": log,
        "StandardErrorPath": log,
    }
    if start.settings:
        job["EnvironmentVariables"] = dict(start.settings)
    account = f"gui/{os.getuid()}" if hasattr(os, "getuid") else "gui"
    loading: tuple[Command, ...] = (("launchctl", "bootstrap", account, str(path)),)
    return Unit(
        path,
        plistlib.dumps(job, sort_keys=False).decode(),
        enabling=loading,
        enabling_later=(),  # only the folder is read at login
        disabling=(("launchctl", "bootout", f"{account}/{label}"),),
        clearing=(("launchctl", "bootout", f"{account}/{label}"),),
        asking=("launchctl", "print", f"{account}/{label}"),
    )


def _task(machine: Machine, start: Start) -> Unit:
    if _PRIVATE in start.settings:
        raise ValidationFailed(
            f"A scheduled task has its settings in a command line, which others can read, and {_PRIVATE} may be a key.",
            hint="Put it into the file that browse-together config names.",
        )
    program, *arguments = start.words
    user = "\\".join(filter(None, (machine.environment.get("USERDOMAIN"), machine.environment.get("USERNAME"))))
    line = subprocess.list2cmdline([*arguments, "--detach", *map(_flag, start.settings, start.settings.values())])
    principal = f"<UserId>{escape(user)}</UserId>" if user else ""
    text = _TASK.format(
        description=escape(_DESCRIPTION), principal=principal, program=escape(program), line=escape(line)
    )
    path = machine.settings_dir / APP_NAME / "start-at-login.xml"
    creating = ("schtasks", "/Create", "/TN", APP_NAME, "/XML", str(path), "/F")
    return Unit(
        path,
        text,
        enabling=(creating, ("schtasks", "/Run", "/TN", APP_NAME)),
        enabling_later=(creating,),
        disabling=(("schtasks", "/Delete", "/TN", APP_NAME, "/F"),),
        asking=("schtasks", "/Query", "/TN", APP_NAME),
        encoding="utf-16",
    )


def _flag(variable: str, value: str) -> str:
    """Write a setting as a flag, because scheduled tasks have no variables."""
    name = variable.removeprefix("BROWSE_").lower().replace("_", "-")
    switch = {"True": f"--{name}", "False": f"--no-{name}"}
    return switch.get(value, f"--{name}={value}")


app = new_app()
service = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Start the service at login.")
app.add_typer(service, name="service")
service.callback(invoke_without_command=True)(print_unit)

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
            f"At login there is no {', '.join(unseen)} as in this shell: give it as a flag here, or in the file "
            f"that {command('config')} names.",
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
