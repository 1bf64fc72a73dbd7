"""Finds the running service of a data directory, or starts it."""

import contextlib
from pathlib import Path

from browse_together.client import instance
from browse_together.contract.errors import ServiceUnavailable
from browse_together.contract.model import Json
from browse_together.contract.wire import LOG_FILE
from browser_service.cli import flags, output


def service_of(data_dir: Path) -> instance.Instance | None:
    """Return the service of this data directory, after checking its process. A killed service leaves its address and
    pid behind, which other programs may get and pretend to be the service."""
    found = instance.find(data_dir)
    if found is None:
        return None
    import psutil  # noqa: PLC0415 - most of a command's time where nothing runs

    with contextlib.suppress(psutil.Error):
        return found if "up" in psutil.Process(found.pid).cmdline() else None
    return None


def start(data_dir: Path, changes: Json) -> tuple[instance.Instance, bool]:
    """Return the service, and whether this call started it. Raises ServiceUnavailable with the end of the log if it
    does not answer."""
    try:
        with output.waiting("The service starts …"):
            running, pid = instance.start(
                data_dir, flags.environment(changes), lambda: service_of(data_dir), end_if_late=True
            )
    except instance.NotStarted as error:
        from browser_service.cli.log_lines import reasons  # noqa: PLC0415 - only a start that failed needs it

        why = f"It did not answer within {instance.START_WITHIN_S:.0f} s."
        if error.exit_code is not None:
            why = f"It ended with exit code {error.exit_code}."
        raise ServiceUnavailable(
            "\n".join([f"The service did not start. {why}", *reasons(error.log_end)]),
            hint=f"`browse-together doctor` says what is missing; the whole log: {data_dir / LOG_FILE}",
        ) from None
    except OSError as error:
        raise ServiceUnavailable(
            f"The data directory {data_dir} cannot be used: {error.strerror or error}.",
            hint="Make it writable for this account, or choose another: --data-dir or BROWSE_DATA_DIR.",
        ) from None
    return running, running.pid == pid  # another start may have been faster
