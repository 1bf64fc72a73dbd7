"""Finds the running service, and compares its settings with those of a start from here."""

from pathlib import Path
from typing import NamedTuple

from browse_together.client import config_place
from browse_together.contract import wire
from browse_together.contract.errors import BrowseError
from browse_together.contract.model import Json
from browser_service import settings_report
from browser_service.cli import flags, output
from browser_service.settings import Settings


class Running(NamedTuple):
    """A running service's settings as it reports them, without secrets."""

    changed: Json
    """The values that are not defaults."""
    after_restart: Json
    """The values that a start from here would change, as they would be then."""
    before_restart: Json
    """The same values as they are now."""

    @property
    def difference(self) -> str:
        """Return what a restart would change; empty if nothing."""
        texts = [
            f"{name} is {output.value_text(self.before_restart[name])} and would be {output.value_text(value)}"
            for name, value in self.after_restart.items()
        ]
        return "; ".join(texts)


def restart(data_dir: Path) -> str:
    return f"A restart takes them: {flags.restart(data_dir)}."


class Rules(NamedTuple):
    """The owner's rules for acts: how many and where, or what is wrong."""

    found: str
    advice: str = ""
    ok: bool = True


def rules_of(settings: Settings, *, is_running: bool) -> Rules | None:
    """Read the rules for acts, and tell whether they changed since the service began; None without a file."""
    from browser_service.security.act_rules import WrongRules, read_rules  # noqa: PLC0415 - it knows every action

    file = settings.rules_file
    if not file.exists():
        return None
    try:
        found = f"{len(read_rules(file).rules)} in {file}"
    except WrongRules as error:
        return Rules(str(error), "Correct it: no service starts with this file.", ok=False)
    began = settings.data_dir / wire.INSTANCE_FILE
    if is_running and began.exists() and file.stat().st_mtime > began.stat().st_mtime:
        return Rules(f"{found}, which changed since the service began", restart(settings.data_dir))
    return Rules(found)


def running_settings(here: Settings) -> Running | None:
    """Return the settings of the running service; None if it does not report them."""
    from browser_service.cli.client import Client  # noqa: PLC0415 - `up` needs none, and it takes long to import

    try:
        with Client(here.data_dir, operator=True) as service:
            account = service.get(wire.SETTINGS)
    except (OSError, BrowseError):
        return None
    values, changed = account.get("settings"), account.get("changed")
    if not isinstance(values, dict) or not isinstance(changed, list):
        return None
    told = settings_report.told(here)
    others: Json = {name: told[name] for name, value in values.items() if name in told and told[name] != value}
    return Running({str(name): values[str(name)] for name in changed}, others, {name: values[name] for name in others})


def places() -> str:
    """Name the sources of settings for a start from here."""
    file = config_place.path()
    return f"this environment and {file}" if file.is_file() else "this environment"
