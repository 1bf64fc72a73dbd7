"""Checks how long files and functions are, and what scripts of pages and classes of errors say of themselves."""

import ast
import re
from collections.abc import Iterator
from typing import Final

from browse_together.contract.errors import every_error
from scripts.lint.sources import AROUND, PACKAGES, PYTHON_CLIENT, ROOT, files, place, tree

LONGEST_FILE: Final = 500
LONGEST_FUNCTION: Final = 60
GENERATED: Final = {f"{PYTHON_CLIENT}/actions.py", f"{PYTHON_CLIENT}/errors.py"}


def sizes() -> Iterator[str]:
    for path in files(*PACKAGES, *AROUND):
        lines = len(path.read_text(encoding="utf-8").splitlines())
        if lines > LONGEST_FILE and place(path) not in GENERATED:
            yield f"{place(path)}: {lines} lines are more than {LONGEST_FILE}"
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or 0) - node.lineno + 1
                if lines > LONGEST_FUNCTION:
                    yield f"{place(path)}:{node.lineno}: {lines} lines of {node.name} are more than {LONGEST_FUNCTION}"


def page_scripts() -> Iterator[str]:
    """Yield scripts that nobody uses, do not begin with a sentence, or import what they do not use."""
    folder = ROOT / "browser_service/host/scripts"
    sources = {path.stem: path.read_text("utf-8") for path in sorted(folder.glob("*.js"))}
    python = "".join(path.read_text("utf-8") for path in files(*PACKAGES))
    used = {*re.findall(r'\bscript\("(\w+)"\)', python), *re.findall(r'from "\./(\w+)\.js"', "".join(sources.values()))}
    for name in sources.keys() - used:
        yield f"{name}.js: no module runs it and no script imports it"
    for name, source in sources.items():
        said = re.match(r"(// .+\n)+", source)
        if said is None or not re.match(r"// [A-Z][a-z]+s ", said.group()) or not said.group().rstrip().endswith("."):
            yield f'{name}.js: it does not begin with a sentence on what it does, such as "// Returns ..."'
        body = re.sub(r"^(//|import ).*", "", source, flags=re.MULTILINE)
        for names in re.findall(r"^import \{(.+)\} from", source, re.MULTILINE):
            for each in names.split(", "):
                if not re.search(rf"\b{each}\b", body):
                    yield f"{name}.js: it imports {each} and does not use it"


def errors() -> Iterator[str]:
    for error in every_error():
        if not re.fullmatch(r"Raised when [^\n]+\.", str(error.__doc__)):
            yield f'errors.py: {error.__name__} does not say in one line when it is raised: "Raised when ..."'


CHECKS: Final = (sizes, page_scripts, errors)
