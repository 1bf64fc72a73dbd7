"""Reads the JavaScript that runs in pages: each file exports one function."""

import re
from functools import cache
from importlib import resources
from typing import Final

_FOLDER: Final = resources.files(__name__)
_IMPORT: Final = re.compile(r'^import \{.+\} from "\./(\w+)\.js";\n', re.MULTILINE)
_COMMENT: Final = re.compile(r"^ *//.*\n", re.MULTILINE)
_EXPORT: Final = re.compile(r"^export (?:default \w+;\n)?", re.MULTILINE)


@cache
def script(name: str) -> str:
    """Return the source of a function that calls a file's default export, its imports included.

    Playwright evaluates sources and no modules, so the imported files stand before it, within the function.
    """
    shared = [_EXPORT.sub("", _own(other)) for other in _imported(name)]
    before, _, function = _own(name).partition("export default ")
    called = ("return (", function.rstrip().removesuffix(";"), ")(...given);\n")
    return "".join(("(...given) => {\n", *shared, _EXPORT.sub("", before), *called, "}"))


def applied(function: str, *given: str) -> str:
    """Return the source of a call of `function`, which gives another function; `given` are sources, or JSON."""
    return f"({function})({', '.join(given)})"


def _imported(name: str) -> list[str]:
    """List the files that a file needs, each once, after those that it needs itself."""
    found: dict[str, None] = {}
    for other in _IMPORT.findall(_text(name)):
        found |= dict.fromkeys([*_imported(other), other])
    return [*found]


def _own(name: str) -> str:
    return _COMMENT.sub("", _IMPORT.sub("", _text(name))).lstrip()


@cache
def _text(name: str) -> str:
    return _FOLDER.joinpath(f"{name}.js").read_text(encoding="utf-8")
