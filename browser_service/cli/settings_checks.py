"""Checks the settings for `doctor`: the file that has them, and the service that runs with others."""

import os
from typing import Final

from browser_service.cli import config_text
from browser_service.cli.check import Check
from browser_service.cli.running import RESTART, places, running_settings
from browser_service.settings import Settings
from client import config_file, config_place, instance

_OTHERS: Final = 0o077


def check_config() -> list[Check]:
    """Name the file of settings, if there is one, and check that no other account can read a secret in it."""
    file = config_place.path()
    if not file.is_file():
        return []
    names = [*config_file.contents()]
    secrets = [name for name in names if config_text.is_secret(name)]
    if os.name == "posix" and secrets and file.stat().st_mode & _OTHERS:
        found = f"others may read {', '.join(secrets)} in {file}"
        return [Check("config", ok=False, found=found, advice=f"chmod 600 {file}")]
    return [Check("config", ok=True, found=f"{file} sets {', '.join(names) or 'nothing'}")]


def check_reach(settings: Settings) -> Check:
    """Tell where pages may go."""
    rules = [
        f"BROWSE_{name.upper()} {', '.join(values)}"
        for name in ("url_whitelist", "url_blacklist", "allow_hosts", "deny_hosts")
        if (values := getattr(settings, name))
    ]
    if settings.url_whitelist or settings.url_blacklist:
        rules.append(f"for {settings.url_rules_for}")
    network = "refused" if settings.private_network == "refuse" else "reached"
    rules.append(f"private networks are {network} (BROWSE_PRIVATE_NETWORK)")
    return Check("reach", ok=True, found="; ".join(rules))


def check_settings(settings: Settings, running: instance.Instance) -> Check:
    """Tell where the running service has other settings than one that is started from here: that is no fault."""
    account = running_settings(running, settings)
    if account is None:
        return Check("settings", ok=True, found="the running service does not say them")
    if not account.after_restart:
        return Check("settings", ok=True, found="those of the running service are as here")
    found = f"the running service has others than {places()}: {account.difference}"
    return Check("settings", ok=True, found=found, advice=RESTART)
