"""Names the variables of the environment that set the service, for programs that see them and do not read them."""

from collections.abc import Iterable, Mapping
from typing import Final

from shared.similarity import nearest

PREFIX: Final = "BROWSE_"
OF_SERVICE: Final = frozenset(
    f"{PREFIX}{name}"
    for name in (
        *("HOST", "PORT", "ALLOWED_HOSTS", "LOG_LEVEL", "APP_ENV", "DATA_DIR", "KEY_STORE", "OUTPUT_DIR"),
        *("BROWSER_TYPE", "HEADLESS", "EXECUTABLE_PATH", "CDP_URL", "LOGIN_WITHIN_S", "SANDBOX", "PROXY"),
        *("VIEWPORT_WIDTH", "VIEWPORT_HEIGHT", "IDLE_LEASE_MS", "IDLE_WORK_MS", "SESSION_IDLE_MS", "SAVE_EVERY_MS"),
        *("QUEUE_WAIT_MS", "PRESENCE_GRACE_MS", "DIALOG_WAIT_MS", "MAX_PAGES", "SESSION_PAGES", "MEMORY_MB"),
        *("PARK_AFTER_MS", "PARK_IN_NEED_MS", "BLANK_PAGES_MS", "MIN_INSTANCES", "MAX_INSTANCES"),
        *("INSTANCE_IDLE_MS", "ACTIVITY_DAYS", "ARTIFACT_DAYS", "ARTIFACTS_MB", "CLIENT_ARTIFACTS_MB"),
        *("CLIENT_PAGES", "CLIENT_CALLS_IN_FLIGHT", "CLIENT_CALLS_PER_MINUTE", "ORIGIN_AT_ONCE"),
        *("ORIGIN_PER_MINUTE", "ORIGIN_LOCAL", "ORIGIN_PAUSE_S", "NOTIFY", "NOTIFY_WEBHOOK", "ALLOW_HOSTS"),
        *("DENY_HOSTS", "DOWNLOAD_MAX_MB", "UPLOAD_ROOTS"),
    )
)
"""A test compares them with the service's settings."""
_SIMILARITY: Final = 0.6
_MOST_NAMED: Final = 10


def misspelt(environment: Mapping[str, str], known: Iterable[str]) -> list[str]:
    """Return a line for each variable of ours that no program reads, with the nearest that one does."""
    names = {name.removeprefix(PREFIX) for name in OF_SERVICE | {*known}}
    strange = sorted(name for name in environment if name.startswith(PREFIX) and name.removeprefix(PREFIX) not in names)
    return [_line(name, names) for name in strange[:_MOST_NAMED]]


def _line(variable: str, names: set[str]) -> str:
    near = nearest(variable.removeprefix(PREFIX), sorted(names), similarity=_SIMILARITY)
    advice = f"Did you mean {PREFIX}{near[0]}?" if near else "The README lists the settings."
    return f"{variable} is no setting, and has no effect. {advice}"
