"""Spares imports that nobody needs."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Final, cast

HTTPX_COMMAND: Final = "httpx._main"
"""httpx's own command line."""
RICH: Final = "rich"
"""What shows structlog's tracebacks in colour."""
CRYPTOGRAPHY: Final = "cryptography"
"""What PyJWT signs with by other ways than ours."""

_ABSENT: Final = cast("ModuleType", None)  # as Python marks it
"""Stands among Python's modules for one that is not to be imported."""


@contextmanager
def absent(*names: str) -> Iterator[None]:
    """Leave out modules within the block that others import if they can, and that nothing here uses."""
    missing = [name for name in names if name not in sys.modules]
    sys.modules.update(dict.fromkeys(missing, _ABSENT))
    try:
        yield
    finally:
        for name in missing:
            del sys.modules[name]
