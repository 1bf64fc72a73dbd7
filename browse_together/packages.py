"""Finds our packages, whose names others may have too.

`client` and `shared` are common names. Our commands are nobody else's processes and may put our packages first; a
program that imports `browse_together` may have modules of these names itself, before or after, and keeps them.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

_OURS = ("client", "shared")
_PARENT = str(Path(__file__).parents[1])


@contextmanager
def found() -> Iterator[None]:
    """Within the block, `client` and `shared` are ours. After it, these names mean again what they meant to the
    program: nothing yet, or modules of its own. If the process is one of ours, they stay."""
    if all(_is_ours(name) for name in _OURS):
        yield
        return
    theirs = _taken_out()
    sys.path.insert(0, _PARENT)
    try:
        yield
    finally:
        sys.path.remove(_PARENT)
        _taken_out()
        sys.modules.update(theirs)


def _is_ours(name: str) -> bool:
    file = getattr(sys.modules.get(name), "__file__", None)
    return file is not None and Path(file) == Path(_PARENT, name, "__init__.py")


def _taken_out() -> dict[str, ModuleType]:
    """Forget all modules of these names, and return them."""
    names = [name for name in sys.modules if name.partition(".")[0] in _OURS]
    return {name: sys.modules.pop(name) for name in names}
