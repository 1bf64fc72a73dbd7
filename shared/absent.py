"""Spares imports that nobody needs."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, module_from_spec
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


def apart(*packages: str) -> None:
    """Have modules of these packages imported without what the packages bring along for those who want all of them.
    The rest comes as soon as it is asked for. A package is named after the one that it is in."""
    for name in packages:
        if name not in sys.modules and (spec := find_spec(name)) is not None:
            sys.modules[name] = module = module_from_spec(spec)
            vars(module)["__getattr__"] = partial(_late, module, spec)
            parent, _, own_name = name.rpartition(".")
            if parent:
                setattr(sys.modules[parent], own_name, module)


def _late(module: ModuleType, spec: ModuleSpec, name: str) -> object:
    """Return what a package has not been asked for before: a module in it, or else what it makes of them all."""
    if name.startswith("__"):
        raise AttributeError(name)
    if find_spec(f"{spec.name}.{name}") is not None:
        return import_module(f"{spec.name}.{name}")
    vars(module).pop("__getattr__", None)
    if spec.loader is not None:
        spec.loader.exec_module(module)
    return getattr(module, name)
