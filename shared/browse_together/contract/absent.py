"""Avoids imports that nobody needs."""

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
"""The library that shows structlog's tracebacks in colour."""
CRYPTOGRAPHY: Final = "cryptography"
"""The library that PyJWT uses for signature algorithms other than ours."""

_ABSENT: Final = cast("ModuleType", None)  # Python's own mark
"""In `sys.modules`, makes the import of a module fail."""


@contextmanager
def absent(*names: str) -> Iterator[None]:
    """Within the block, make the import of these optional modules fail, because nothing here uses them."""
    missing = [name for name in names if name not in sys.modules]
    sys.modules.update(dict.fromkeys(missing, _ABSENT))
    try:
        yield
    finally:
        for name in missing:
            del sys.modules[name]


def apart(*packages: str) -> None:
    """Let modules of these packages be imported without running the packages' own code. That runs when one of its names
    is first needed. A subpackage comes after its package."""
    for name in packages:
        if name not in sys.modules and (spec := find_spec(name)) is not None:
            sys.modules[name] = module = module_from_spec(spec)
            vars(module)["__getattr__"] = partial(_late, module, spec)
            parent, _, own_name = name.rpartition(".")
            if parent:
                setattr(sys.modules[parent], own_name, module)


def _late(module: ModuleType, spec: ModuleSpec, name: str) -> object:
    """Import a package's missing name: a module in it, or else a name that its own code defines."""
    if name.startswith("__"):
        raise AttributeError(name)
    if find_spec(f"{spec.name}.{name}") is not None:
        return import_module(f"{spec.name}.{name}")
    vars(module).pop("__getattr__", None)
    if spec.loader is not None:
        spec.loader.exec_module(module)
    return getattr(module, name)
