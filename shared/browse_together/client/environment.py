"""Selects the environment variables for child processes: those that they need, and no secret."""

import contextlib
import os
from collections.abc import Iterator, Mapping
from typing import Final

from browse_together.contract import setting_names, variables

_NEEDED: Final = frozenset(
    """
    PATH HOME USER LOGNAME SHELL HOSTNAME PWD LANG LANGUAGE TZ TZDIR TERM COLORTERM NO_COLOR TMPDIR TMP TEMP
    BROWSER DISPLAY WAYLAND_DISPLAY WAYLAND_SOCKET XAUTHORITY XMODIFIERS DESKTOP_SESSION DBUS_SESSION_BUS_ADDRESS
    DBUS_SYSTEM_BUS_ADDRESS GNOME_KEYRING_CONTROL KDE_FULL_SESSION KDE_SESSION_VERSION PULSE_SERVER
    LD_LIBRARY_PATH LD_PRELOAD DYLD_LIBRARY_PATH FONTCONFIG_FILE FONTCONFIG_PATH SSL_CERT_FILE SSL_CERT_DIR
    PYTHONPATH PYTHONHOME PYTHONUTF8 PYTHONIOENCODING PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE PYTHONPYCACHEPREFIX
    PYTHON_KEYRING_BACKEND NODE_COMPILE_CACHE NODE_EXTRA_CA_CERTS NODE_OPTIONS CHROMIUM_FLAGS CHROME_DEVEL_SANDBOX
    PLAYWRIGHT_BROWSERS_PATH PLAYWRIGHT_NODEJS_PATH PLAYWRIGHT_SKIP_VALIDATE_HOST_REQUIREMENTS
    SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC PATHEXT OS USERPROFILE USERNAME USERDOMAIN COMPUTERNAME APPDATA LOCALAPPDATA
    PROGRAMDATA PROGRAMFILES PROGRAMFILES(X86) PROGRAMW6432 COMMONPROGRAMFILES COMMONPROGRAMFILES(X86) ALLUSERSPROFILE
    PUBLIC HOMEDRIVE HOMEPATH NUMBER_OF_PROCESSORS PROCESSOR_ARCHITECTURE __CF_USER_TEXT_ENCODING
    """.split()  # noqa: SIM905 - as a list it would be a page long
)
"""The variables that programs need: paths, language, display and the like. Any other variable may be a key."""
_TRACING: Final = "OTEL_"
"""The beginning of the variables that say where a service exports spans."""
_NEEDED_PREFIXES: Final = ("LC_", "XDG_", "GTK_", "GDK_", "QT_", "MESA_", "LIBGL_")
_PROXIES: Final = frozenset(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"))
_SETTINGS: Final = frozenset(
    {
        *variables.OF_SERVICE,
        *(f"{variables.PREFIX}{name.upper()}" for name in variables.PROTECTING),  # a service must refuse to start
        *(name.upper() for name in setting_names.BARE),
        "BROWSE_CONFIG",
    }
)


def needed(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that a program needs to run, without our settings."""
    return {name: value for name, value in environment.items() if _is_needed(name.upper(), value)}


def of_service(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables for a service that this process starts, including its settings, but no token or key of a
    gateway."""
    settings = {
        name: value
        for name, value in environment.items()
        if name.upper() in _SETTINGS or name.upper().startswith(_TRACING)
    }
    return needed(environment) | settings


def keep_needed() -> None:
    """Remove the other variables from this process's own environment, which child processes inherit."""
    kept = needed(os.environ).keys() | {"BROWSE_CONFIG"}
    for name in os.environ.keys() - kept:
        del os.environ[name]


@contextlib.contextmanager
def needed_alone() -> Iterator[None]:
    """Keep only the needed variables within the block."""
    before = dict(os.environ)
    keep_needed()
    try:
        yield
    finally:
        os.environ.update(before)


def _is_needed(name: str, value: str) -> bool:
    if name in _PROXIES:
        return "@" not in value  # before it stands a password
    return name in _NEEDED or name.startswith(_NEEDED_PREFIXES)
