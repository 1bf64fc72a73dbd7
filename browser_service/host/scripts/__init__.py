"""Reads the JavaScript that runs in pages: each file exports one function."""

import re
from functools import cache
from importlib import resources
from typing import Final

_FOLDER: Final = resources.files(__name__)
_IMPORT: Final = re.compile(r'^import \{.+\} from "\./(\w+)\.js";\n', re.MULTILINE)
_COMMENT: Final = re.compile(r"^ *//.*\n", re.MULTILINE)
_BEGIN: Final = "const {Map, Set} = self[Symbol.for('uncounted')] ?? self;"
"""Keeps a script's own maps and sets out of what tree_bounds counts."""
IN_THE_PAGES_WORLD: Final = frozenset({"copied", "evaluated", "late_effects", "passkeys", "windows_behind"})
"""Scripts that must meet a page's own objects: callers' scripts, objects that its listeners get, timers, passkeys, and
what opens windows."""
_EXPORT: Final = re.compile(r"^export (?:default \w+;\n)?", re.MULTILINE)


@cache
def script(name: str) -> str:
    """Return the source of a function that calls a file's default export, with its imports.

    Playwright evaluates sources, not modules, so the imported files come first, within the function. The two arguments
    are named, because a page can replace what spreads a list of them."""
    begin = "" if name in IN_THE_PAGES_WORLD else _BEGIN
    imports = [_EXPORT.sub("", _body(imported)) for imported in _imported(name)]
    before, _, function = _body(name).partition("export default ")
    call = ("return (", function.rstrip().removesuffix(";"), ")(first, second);\n")
    return "".join((f"(first, second) => {{{begin}\n", *imports, _EXPORT.sub("", before), *call, "}"))


def call_of(function: str, *arguments: str) -> str:
    """Return the source of a call of `function`, which returns another function; `arguments` are sources or JSON."""
    return f"({function})({', '.join(arguments)})"


def _imported(name: str) -> list[str]:
    """List the files that a file needs, each once, after the files that it needs itself."""
    names: dict[str, None] = {}
    for imported in _IMPORT.findall(_text(name)):
        names |= dict.fromkeys([*_imported(imported), imported])
    return [*names]


def _body(name: str) -> str:
    return _COMMENT.sub("", _IMPORT.sub("", _text(name))).lstrip()


@cache
def _text(name: str) -> str:
    return _FOLDER.joinpath(f"{name}.js").read_text(encoding="utf-8")
