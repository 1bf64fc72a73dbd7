"""Names the environment variables that configure the service, for programs that check but do not read them."""

from collections.abc import Mapping
from typing import Final

from browse_together.contract import setting_names
from browse_together.contract.similarity import nearest

PREFIX: Final = "BROWSE_"
OF_SERVICE: Final = frozenset(f"{PREFIX}{name.upper()}" for name in setting_names.SERVICE)
REMOVED: Final = {
    "page_events_per_second": "all events of a page are heard; one that keeps the browser from answering is ended",
    "metrics_enabled": "metrics_port turns the port for metrics on, such as 9090",
    "metrics_host": "metrics_port has the address too, such as 0.0.0.0:9090",
    "activity_days": "the record of who did what is kept for 30 days",
    "artifacts_mb": "5,000 MB of files are kept, of all clients together",
    "invisible_text": "text that nobody sees is left out, and content with unseen shows it",
    "viewport_width": "viewport has width and height, such as 1280x720",
    "viewport_height": "viewport has width and height, such as 1280x720",
    "idle_work_ms": "there is no claimed work any more: a page is what is reserved",
    "client_calls_in_flight": "a client may have 32 calls running",
    "session_pages": "a session may have 120 pages",
    "page_popups": "a page may have 10 popups open",
    "client_artifacts_mb": "a client may keep 1,000 MB of files",
    "artifact_days": "files are kept for 7 days",
    "origin_at_once": "how often sites are asked is not limited",
    "origin_local": "how often sites are asked is not limited",
    "origin_pause_s": "the reply to a 429 or 503 names its Retry-After",
    "login_within_s": "the window of `browse-together login` stays open for 15 minutes",
    "dialog_wait_ms": "a dialog that nobody answers is dismissed after 30 s",
    "save_every_ms": "logins are saved every 30 s",
    "blank_pages_ms": "unused pages of clients that are gone are closed after 10 minutes",
    "park_after_ms": "unused pages are parked after 30 minutes",
    "park_in_need_ms": "where memory is short, pages are parked after 2 minutes",
    "idle_lease_ms": "others may take a page after 2 minutes without an act",
    "queue_wait_ms": "a call waits for its turn for 10 s",
    "presence_grace_ms": "a client that is gone for 5 s frees its pages",
    "client_pages": "a client may have 30 pages open; tokens with --pages fewer",
    "origin_per_minute": "how often sites are asked is not limited",
    "download_max_mb": "a download may have 500 MB",
    "allow_hosts": "write url_whitelist, with *.example.com for a host and all below it; url_rules_for requests covers "
    "proxies of sessions too",
    "deny_hosts": "write url_blacklist, with *.example.com for a host and all below it; url_rules_for requests covers "
    "proxies of sessions too",
    "policy_file": "rules for acts are in policy.toml in the data directory; move the file there",
    "spare_window_ms": "a window is kept ready for 5 minutes",
}
"""Removed settings, and what holds instead. Using one only causes a warning, unless it protected something."""
PROTECTING: Final = frozenset({"allow_hosts", "deny_hosts", "policy_file"})
"""Those that kept pages and agents from something. The service does not start with one, because it would allow more
than whoever wrote it expects."""
REMOVED_SWITCHES: Final = frozenset({"metrics_enabled", "origin_local"})
"""Those whose flag had no value."""
_FILE: Final = "config"
"""What the variable with the settings file's path is named after, which is no setting itself."""
_SIMILARITY: Final = 0.6
_MOST_NAMED: Final = 10


def misspelt(environment: Mapping[str, str]) -> list[str]:
    """Return a line for each of our variables that no program reads, with the nearest one that is read."""
    names = {name.upper() for name in (*setting_names.SERVICE, *setting_names.GATEWAY, _FILE)}
    strange = sorted(name for name in environment if name.startswith(PREFIX) and name.removeprefix(PREFIX) not in names)
    return [_line(name, names) for name in strange[:_MOST_NAMED]]


def no_more(name: str) -> str:
    """Return what holds instead of a removed setting."""
    effect = "" if name in PROTECTING else ", and has no effect"
    return f"is no setting any more{effect}: {REMOVED[name]}."


def unprotected(environment: Mapping[str, str]) -> str:
    """Return a line for a variable that protected something when it was a setting; empty without one."""
    found = (name for name in sorted(PROTECTING) if environment.get(f"{PREFIX}{name.upper()}"))
    return next((f"{PREFIX}{name.upper()} {no_more(name)}" for name in found), "")


def _line(variable: str, names: set[str]) -> str:
    if (name := variable.removeprefix(PREFIX).lower()) in REMOVED:
        return f"{variable} {no_more(name)}"
    near = nearest(variable.removeprefix(PREFIX), sorted(names), similarity=_SIMILARITY)
    advice = f"Did you mean {PREFIX}{near[0]}?" if near else "docs/settings.md lists the settings."
    return f"{variable} is no setting, and has no effect. {advice}"
