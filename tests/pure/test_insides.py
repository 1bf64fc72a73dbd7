"""Tests that we stand on libraries and not inside them: no private module or name of theirs, and nothing of theirs
replaced. An update may move all that silently."""

import ast
import importlib
import re
from collections.abc import Iterable, Iterator
from importlib.metadata import packages_distributions
from typing import Final

from scripts.lint.sources import AROUND, PACKAGES, ROOT, files, place, tree

INSIDE: Final = {
    "browser_service/cli/root.py": "typer has no setting for help that names an argument without its type",
    "browser_service/ray_hosts.py": "Ray has no public way to try its token before a cluster is joined",
    "tests/support/goldens/recorder.py": "it records what any client in a test sends, where a run asks for that",
}
"""Files that reach into a library, with the reason: three, and no more."""
OURS: Final = {*(each.rpartition("/")[2] for each in PACKAGES), *AROUND}
FOREIGN: Final = {name for name in packages_distributions() if name not in OURS and not name.startswith("_")} | {"ray"}
PRIVATE: Final = re.compile(r"\b([A-Za-z]\w*)(?:\.\w+)*\.(_[a-z]\w*)\b")
DOCUMENTED: Final = {("fastapi", "FastAPI", "openapi")}
"""Methods whose replacement is a library's own, documented way."""
PATCHES: Final = {"setattr", "delattr"}
"""Functions, and methods of pytest's monkeypatch, that replace an attribute. What stands in `sys.modules` for a package
that is not installed may be patched, because nothing of a library is changed by it."""
CHANGES_MODULES: Final = re.compile(r"sys\.modules\.(update|pop|setdefault|clear|popitem)\b")

Nodes = list[ast.AST]
"""All of a file's syntax, through which one walk has led: there are a million of them."""


def is_private(module: str, name: str = "") -> bool:
    """Return whether a module or name of a library begins with one underscore."""
    parts = [*module.split("."), name]
    return parts[0] in FOREIGN and any(each.startswith("_") and not each.startswith("__") for each in parts)


def imported(nodes: Nodes) -> Iterator[tuple[str, str, str]]:
    """Yield what is imported anywhere, for types or not: the name that it has here, its module, and its name there."""
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.asname or alias.name.split(".")[0], alias.name, ""
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from ((alias.asname or alias.name, node.module, alias.name) for alias in node.names)


def root(node: ast.AST) -> str:
    """Return the variable that an expression begins with."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def targets(nodes: Nodes) -> Iterator[ast.expr]:
    """Yield the attributes and items that statements write, or delete."""
    for node in nodes:
        if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
            yield node


def makers(nodes: Nodes, theirs: dict[str, tuple[str, str]]) -> dict[str, tuple[str, str]]:
    """Return the variables and parameters that are objects of a library's class, with the class."""
    found = dict[str, tuple[str, str]]()
    for node in nodes:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Name):
            names, kind = [each.id for each in node.targets if isinstance(each, ast.Name)], node.value.func.id
        elif isinstance(node, ast.arg) and node.annotation is not None:
            names, kind = [node.arg], ast.unparse(node.annotation).strip("'\"")
        else:
            continue
        found |= dict.fromkeys(names, theirs[kind]) if kind in theirs else {}
    return found


def replaces_method(target: ast.expr, objects: dict[str, tuple[str, str]]) -> bool:
    """Return whether a method of an object of a library's class is written."""
    if not (isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id in objects):
        return False
    module, kind = objects[target.value.id]
    made_of = getattr(importlib.import_module(module), kind, None)
    return (module, kind, target.attr) not in DOCUMENTED and callable(getattr(made_of, target.attr, None))


def writes(nodes: Nodes) -> Iterator[str]:
    """Yield where code writes into a library's modules, classes or methods, or past the checks of types."""
    theirs = {here: (module, name) for here, module, name in imported(nodes) if module.split(".")[0] in FOREIGN}
    objects = makers(nodes, theirs)
    for target in targets(nodes):
        inner = ast.unparse(target.value) if isinstance(target, ast.Subscript) else ""
        past_checks = inner.startswith("vars(") or inner.endswith((".__dict__", "sys.modules"))
        if past_checks or root(target) in theirs or replaces_method(target, objects):
            yield ast.unparse(target)
    for call in (node for node in nodes if isinstance(node, ast.Call)):
        called, given = ast.unparse(call.func), call.args[0] if call.args else call.func
        name = given.value if isinstance(given, ast.Constant) and isinstance(given.value, str) else ""
        is_theirs = root(given) in theirs or name.split(".")[0] in FOREIGN
        if (is_theirs and called.rpartition(".")[2] in PATCHES) or CHANGES_MODULES.match(called):
            yield ast.unparse(call)


def reaches(code: ast.AST) -> Iterator[str]:
    """Yield where code reaches into a library."""
    nodes = [*ast.walk(code)]
    yield from (f"{module} {name}".strip() for _, module, name in imported(nodes) if is_private(module, name))
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from (found[0] for found in PRIVATE.finditer(node.value) if found[1] in FOREIGN)
        elif isinstance(node, ast.Attribute) and node.attr.startswith("_impl"):
            yield ast.unparse(node)
    yield from writes(nodes)


SEEN: Final = (
    "from playwright._impl import _driver",
    "import httpx._main",
    "def f():\n    from fastapi.routing import _IncludedRouter as I",
    "if TYPE_CHECKING:\n    from pydantic._internal._repr import ReprArgs",
    "import_module('mcp.shared._stream_protocols')",
    "code = 'import sys; from playwright._impl import _driver'",
    "import httpx\nhttpx.Client = Other",
    "from mcp.server.lowlevel import Server\nServer.run = run",
    "from mcp.server.lowlevel import Server\nserver = Server('a')\nserver.run = run",
    "from mcp.server.lowlevel import Server\ndef f(server: Server):\n    server.run = run",
    "import mcp\ndel mcp.types",
    "vars(module)['name'] = 1",
    "module.__dict__['name'] = 1",
    "import sys\nsys.modules['rich'] = None",
    "import sys\nsys.modules.pop('rich')",
    "import httpx\nsetattr(httpx, 'Client', Other)",
    "import httpx\nmonkeypatch.setattr(httpx.Client, 'send', send)",
    "monkeypatch.setattr('httpx.Client.send', send)",
    "page._impl_obj",
)
UNSEEN: Final = (
    "import sys, os\nsys.argv = []\nos.environ['A'] = 'b'",
    "from mcp.server.lowlevel import Server\nserver = Server('a')\nserver.name = 'b'",
    "from client import instance\nmonkeypatch.setattr(instance, '_start', start)",
    "monkeypatch.setattr('browser_service.host.tabs._WITHIN_S', 1)",
    "monkeypatch.setitem(sys.modules, 'ray', None)",
    "from importlib.metadata import version\nfrom mcp import __version__",
    "self._pages['a'] = 1",
)


def test_each_way_into_a_library_is_seen_and_no_public_one() -> None:
    assert [code for code in SEEN if not [*reaches(ast.parse(code))]] == []
    assert {code: found for code in UNSEEN if (found := [*reaches(ast.parse(code))])} == {}


def inside(sources: Iterable[str]) -> dict[str, list[str]]:
    found = {place(path): [*reaches(tree(path))] for path in files(*sources)}
    return {path: reached for path, reached in found.items() if reached and path != place(files(__file__)[0])}


def test_nothing_reaches_into_a_library_but_a_few_files_with_their_reasons() -> None:
    found = inside((*PACKAGES, *AROUND))
    assert {path: reached for path, reached in found.items() if path not in INSIDE} == {}
    assert found.keys() == {*INSIDE}, "a file that no longer does so leaves the list"
    assert len(INSIDE) <= 3


def test_no_shell_script_names_a_private_module() -> None:
    scripts = [*(ROOT / "scripts").glob("*.sh"), ROOT / ".ci/run", ROOT / "Makefile"]
    said = [each[0] for path in scripts for each in PRIVATE.finditer(path.read_text("utf-8")) if each[1] in FOREIGN]
    assert said == []
