"""What makes each platform start the service at login: a systemd unit, a launchd job or a scheduled task."""

import os
import plistlib
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from xml.sax.saxutils import escape

from browser_service.cli.install.machine import Machine
from shared.errors import ValidationFailed
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
    command = " ".join(_quoted(word, in_command=True) for word in start.words)
    settings = "".join(f"Environment={_quoted(f'{key}={value}')}\n" for key, value in start.settings.items())
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
            hint="Put it into the file of settings: browse-together config set notify_webhook -",
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


def _quoted(word: str, *, in_command: bool = False) -> str:
    """Quote a word for a unit's line: systemd expands % everywhere, and $ in commands."""
    word = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("\n", "\\n")
    return f'"{word.replace("$", "$$") if in_command else word}"'


def _flag(variable: str, value: str) -> str:
    """Write a setting as a flag, because scheduled tasks have no variables."""
    name = variable.removeprefix("BROWSE_").lower().replace("_", "-")
    switch = {"True": f"--{name}", "False": f"--no-{name}"}
    return switch.get(value, f"--{name}={value}")
