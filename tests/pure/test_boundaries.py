"""Tests who may import whom: the layout, checked by reading the source.

What we may use of libraries is in `test_insides.py`.

It is longer than 300 lines because all rules of the layout stand here, each beside what finds a breach of it.
"""

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from browse_together.contract.actions.base import Action
from browse_together.contract.actions.traits import Traits
from browse_together.contract.catalogue import ACTIONS
from scripts.lint.sources import AROUND, CLIENT, CONTRACT, PACKAGES, PYTHON_CLIENT, ROOT, files, place, tree


def _packages(*names: str) -> set[str]:
    return {f"browser_service.{name}" for name in names}


NEVER = {
    PYTHON_CLIENT: {
        "browser_service",
        "mcp_gateway",
        "mcp",
        "fastapi",
        "starlette",
        "uvicorn",
        "playwright",
        "sqlite3",
    },
    "mcp_gateway": {"browser_service", "fastapi", "sse_starlette", "playwright", "sqlite3"},
    "browser_service": {"mcp_gateway", "mcp"},
    "browser_service/actions": {"logging", "structlog", "fastapi", "starlette", "httpx"},
    "browser_service/rules": {"asyncio", "anyio", "threading", "playwright", "structlog"},
    "browser_service/carriers": {"playwright", "fastapi", "starlette", "uvicorn"},
    "browser_service/host/host.py": {"playwright"},
}
"""What each part does not import."""
EXCEPT = {
    f"{PYTHON_CLIENT}/command.py": "it is the program of the command",
    f"{PYTHON_CLIENT}/gateway.py": "likewise",
    "browser_service/cli/config.py": "the command line shows the gateway's settings too, by their declarations",
}
"""Modules that may, with the reason."""

HTTP = (
    "browser_service/http/",
    "browser_service/wall/",
    "browser_service/app.py",
    "browser_service/process.py",
    "browser_service/http/edge.py",
)
ONLY_IN = {
    "playwright": ("browser_service/host/", "browser_service/actions/page/", "browser_service/actions/support/"),
    "sqlite3": ("browser_service/store/",),
    "prometheus_client": ("browser_service/observability/", "browser_service/http/watching.py"),
    "fastapi": HTTP,
    "starlette": (*HTTP, "mcp_gateway/transports/"),
    "sse_starlette": HTTP,
    "uvicorn": (*HTTP, "mcp_gateway/transports/"),
}
"""For each library, the only modules of the packages that may import it."""

BELOW = {
    "browser_service/rules": {
        "asyncio",
        "anyio",
        "threading",
        "playwright",
        "structlog",
        *_packages("host", "spine", "clients", "sessions", "http", "wall"),
    },
    "browser_service/host": _packages("spine", "clients", "sessions", "store", "http", "wall"),
    "browser_service/spine": {"playwright", "browse_together.contract.actions", *_packages("host", "http", "wall")},
    "browser_service/fleet": {"playwright", "browse_together.contract.actions", *_packages("host", "http", "wall")},
    "browser_service/clients": _packages("host", "spine", "http", "wall"),
    "browser_service/sessions": _packages("host", "spine", "http", "clients"),
    "browser_service/store": _packages("host", "spine", "http", "clients", "sessions"),
    "browser_service/security": _packages("host", "spine", "http", "clients", "sessions"),
    "browser_service/observability": _packages("host", "spine", "http", "clients", "sessions"),
    "browser_service/carriers": _packages("host", "spine", "sessions", "clients", "http", "wall", "services"),
    "browser_service/http": _packages("wall"),
    "browser_service/wall": {"playwright", *_packages("host")},
    "browser_service/actions/service.py": {"playwright", *_packages("host", "http", "wall")},
}
"""For each layer, the layers that it must not know, imports for types included."""
KNOWN_TO_ALL = (
    "browser_service.host.seam",
    "browse_together.contract.actions.base",
    "browse_together.contract.actions.traits",
)

FLOORS = (
    {"scripts"},
    {"background", "errors", "events", "files", "seam"},
    {"world"},
    {"elements"},
    {"network"},
    {"reading"},
    {"tabs"},
    {"record"},
    {"sessions"},
    {"calls"},
    {"watching"},
    {"pages"},
    {"handle"},
    {"stages"},
    {"pipeline"},
    {"host"},
)
"""The folders and files of the host, from the ground up: each module imports from its own floor and those below."""
MOST_IN_HALL = 8
"""The most files that lie in no folder of the host."""

ALL_IT_KNOWS = {
    f"{CONTRACT}/json_lines": ("browse_together.contract.json_lines", "browse_together.contract.wire"),
    "mcp_home_simulator": ("mcp_home_simulator", "browse_together.contract.json_lines", "browse_together"),
}
"""For each part that other programs may use alone, everything of ours that it imports, types included; the rest is the
standard library."""

SQL = re.compile(r"\s*(SELECT|INSERT|UPDATE|DELETE|CREATE|DROP|ALTER|PRAGMA)\s")
JAVASCRIPT = re.compile(
    r"=>|\b(const|let|return|await) .*;|\b(document|window)\.\w|\bfunction *\(|\w\.(map|querySelector)\("
)
WORDS = 80
"""Limit of a JavaScript expression's length in Python. Longer ones, and those with statements, are files."""
HANDLED = {"ValueError", "TypeError"}
"""Exceptions that a handler may catch: text that turned out not to be JSON."""


def imported(node: ast.AST) -> Iterator[str]:
    """Return the top-level names of everything that is imported at run time, so not under `if TYPE_CHECKING`."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from (alias.name.split(".")[0] for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            yield "relative import" if child.level else str(child.module).split(".")[0]
        elif isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            yield from (name for other in child.orelse for name in imported(ast.Module([other], [])))
        elif not isinstance(child, ast.expr):
            yield from imported(child)


@cache
def imports(path: Path) -> frozenset[str]:
    return frozenset(imported(tree(path)))


def test_an_import_is_seen_wherever_it_stands_unless_it_is_for_types_alone() -> None:
    code = "import a.b\ndef f():\n    from c import d\nif TYPE_CHECKING:\n    import e\nelse:\n    from . import g"
    assert list(imported(ast.parse(code))) == ["a", "c", "relative import"]


def test_the_contract_is_pydantic_and_the_standard_library() -> None:
    allowed = sys.stdlib_module_names | {"pydantic", "browse_together"}
    strangers = {(place(path), name) for path in files(CONTRACT) for name in imports(path) if name not in allowed}
    assert strangers == set()


@pytest.mark.parametrize(
    ("part", "known"),
    [(CONTRACT, ("browse_together.contract",)), (CLIENT, ("browse_together.contract", "browse_together.client"))],
)
def test_contract_and_client_know_nothing_of_what_stands_on_them(part: str, known: tuple[str, ...]) -> None:
    names = {(place(path), name) for path in files(part) for name in known_to(path)}
    assert {one for one in names if one[1].startswith("browse_together") and not one[1].startswith(known)} == set()


@pytest.mark.parametrize("part", NEVER)
def test_no_part_imports_what_it_must_not_know(part: str) -> None:
    sources = files(part)
    assert sources
    found = {(place(path), name) for path in sources for name in imports(path) if name in NEVER[part]}
    assert {(path, name) for path, name in found if path not in EXCEPT} == set()


def test_parts_with_settings_import_only_their_declarations() -> None:
    settings = [path for path, reason in EXCEPT.items() if "settings" in reason]
    known = {name for path in settings for name in known_to(ROOT / path) if name.startswith("mcp_gateway")}
    assert known == {"mcp_gateway.settings", "mcp_gateway.transports.settings"}


@pytest.mark.parametrize("library", ONLY_IN)
def test_a_library_is_imported_only_where_it_belongs(library: str) -> None:
    users = {place(path) for path in files(*PACKAGES) if library in imports(path)}
    assert {user for user in users if not user.startswith(ONLY_IN[library])} == set()


def test_only_benchmarks_borrow_from_tests_and_all_imports_are_absolute() -> None:
    others = {place(path) for path in files(*PACKAGES, "examples", "scripts") if "tests" in imports(path)}
    relative = {place(path) for path in files(*PACKAGES, *AROUND) if "relative import" in imports(path)}
    assert others | relative == set()


def test_only_the_store_contains_sql() -> None:
    speakers = {
        place(path)
        for path in files(*PACKAGES)
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and SQL.match(node.value)
    }
    assert speakers
    assert {speaker for speaker in speakers if not speaker.startswith("browser_service/store/")} == set()


def spoken(path: Path) -> Iterator[str]:
    """Yield each string of a file except its docstrings. One that is put together ends with a line break where it
    is."""
    silent: set[int] = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Expr):
            silent.add(id(node.value))
        elif isinstance(node, ast.JoinedStr):
            silent |= {id(part) for part in node.values}
            yield "\n".join(str(part.value) if isinstance(part, ast.Constant) else "" for part in node.values) + "\n"
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in silent:
            yield node.value


def test_javascript_stands_in_files_of_its_own() -> None:
    """But for an expression of a few words, which no f-string puts together."""
    loader = ROOT / "browser_service/host/scripts/__init__.py"
    found = {
        (place(path), text)
        for path in files("browser_service", "mcp_gateway")
        for text in spoken(path)
        if path != loader and JAVASCRIPT.search(text) and (len(text) > WORDS or re.search(r"[\n;]", text))
    }
    assert found == set()


def test_a_handler_leaves_failures_to_the_spine() -> None:
    caught = {
        (place(path), name)
        for path in files("browser_service/actions/page", "browser_service/actions/service.py")
        for node in ast.walk(tree(path))
        if isinstance(node, ast.ExceptHandler)
        for name in (re.findall(r"[\w.]+", ast.unparse(node.type)) if node.type else ["everything"])
    }
    assert {(where, name) for where, name in caught if name not in HANDLED} == set()


def names_in_data_dir(code: ast.Module) -> Iterator[str]:
    """Yield where code spells the name of something in the data directory."""
    for node in ast.walk(code):
        if isinstance(node, ast.BinOp) and isinstance(node.right, ast.Constant | ast.JoinedStr):
            yield from [ast.unparse(node)] if "data_dir" in ast.unparse(node.left) else []


def test_files_in_the_data_directory_are_named_in_one_place() -> None:
    spelt = {name for path in files(*PACKAGES) for name in names_in_data_dir(tree(path))}
    assert spelt == {"self.data_dir / 'policy.toml'"}, "a person's own file"


@cache
def modules() -> dict[str, Path]:
    """Return our modules by their names."""
    named = {".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in files(*PACKAGES)}
    return {name.removeprefix("shared.").removesuffix(".__init__"): path for name, path in named.items()}


@cache
def known_to(path: Path) -> frozenset[str]:
    """Return all modules that one imports, wherever the import stands, for types or not."""
    found = set[str]()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            each = {f"{node.module}.{alias.name}" for alias in node.names}
            ours = each & modules().keys()
            found |= ours | ({str(node.module)} if each - ours else set())
    return frozenset(found)


def circles() -> set[frozenset[str]]:
    """Return the modules that import each other, each circle whole."""
    reached = {name: {*known_to(path)} & modules().keys() for name, path in modules().items()}
    for through, beyond in reached.items():
        for others in reached.values():
            others.update(beyond if through in others else ())
    return {
        frozenset(other for other in others if name in reached[other])
        for name, others in reached.items()
        if name in others
    }


def test_no_modules_import_each_other_not_even_for_types() -> None:
    assert circles() == set()


def test_a_layer_knows_nothing_of_those_above_it() -> None:
    above = {
        (place(path), name)
        for layer, strangers in BELOW.items()
        for path in files(layer)
        for name in known_to(path)
        if any(name == each or name.startswith(f"{each}.") for each in strangers)
        if not name.startswith(KNOWN_TO_ALL)
    }
    assert above == set()


def floor(module: str) -> int:
    """Return on which floor of the host a module is."""
    room = module.split(".")[2]
    return next(number for number, rooms in enumerate(FLOORS) if room in rooms)


def test_no_module_of_the_host_imports_upwards() -> None:
    upwards = {
        (name, known)
        for name, path in modules().items()
        if name.startswith("browser_service.host.")
        for known in known_to(path) & modules().keys()
        if known.startswith("browser_service.host.") and floor(known) > floor(name)
    }
    assert upwards == set()


def test_a_floor_of_the_host_is_one_folder_and_few_files_lie_in_its_hall() -> None:
    host = ROOT / "browser_service/host"
    hall = {path.stem for path in host.glob("*.py")} - {"__init__"}
    assert len(hall) <= MOST_IN_HALL
    assert hall | {path.parent.name for path in host.glob("*/__init__.py")} == set[str]().union(*FLOORS)


@pytest.mark.parametrize("part", ALL_IT_KNOWS)
def test_a_part_for_other_programs_brings_nothing_along(part: str) -> None:
    strangers = {
        (place(path), name)
        for path in files(part)
        for name in known_to(path)
        if not name.startswith(ALL_IT_KNOWS[part]) and name.split(".")[0] not in sys.stdlib_module_names
    }
    assert files(part)
    assert strangers == set()


ACTION_CLASSES = {kind.__name__ for action in ACTIONS.values() for kind in action.__mro__ if issubclass(kind, Action)}
ASKED_OF_ACTIONS = {name for action in ACTIONS.values() for name in [*action.model_fields, *vars(Traits)]}


def class_questions(node: ast.AST) -> Iterator[str]:
    """Yield where code asks for the class of an action, or whether it has an argument."""
    for child in ast.walk(node):
        if not isinstance(child, ast.Call) or not isinstance(child.func, ast.Name):
            continue
        if child.func.id in {"isinstance", "issubclass"}:
            named = {each.id for each in ast.walk(child.args[1]) if isinstance(each, ast.Name)}
        elif child.func.id in {"getattr", "hasattr"}:
            named = {ast.unparse(child.args[1]).strip(chr(39))}
        else:
            continue
        if named & (ACTION_CLASSES | ASKED_OF_ACTIONS):
            yield ast.unparse(child)


def test_a_question_of_class_is_seen() -> None:
    code = 'isinstance(it, Goto | str) or getattr(action, "url", None) or isinstance(it, str) or getattr(os, "getuid")'
    assert [*class_questions(ast.parse(code))] == ["isinstance(it, Goto | str)", "getattr(action, 'url', None)"]


def test_policys_questions_are_attributes_of_actions() -> None:
    asked = {
        f"{place(path)}: {question}"
        for path in files("browser_service", "mcp_gateway", CLIENT)
        if not place(path).startswith(("browser_service/actions/page/", "browser_service/actions/service.py"))
        for question in class_questions(tree(path))
    }
    assert asked == set()


WHOLE_ENTRY = {
    "browser_service/host/pages/entry.py": "it is one",
    "browser_service/host/pages/registry.py": "it makes them, and forgets them",
    "browser_service/host/host.py": "it keeps them by their pageIds, for the seam",
    "browser_service/host/pages/upkeep.py": "it tells the front what would be lost with them",
    "browser_service/host/pages/person_tabs.py": "it has pages made of tabs, and gives the tabs back",
    "browser_service/host/pages/room.py": "it closes those that nobody needs",
    "browser_service/host/stages/openings.py": "it finds the page of a call, or has it made",
    "browser_service/host/handle/page.py": "it takes those parts of one that a call may use",
    "browser_service/host/pipeline.py": "it finds the page of a call",
}
"""Modules that may take a page's whole entry, with the reason. All others take its record, its tab, or the one part
that they use."""


def takers_of_entries(code: ast.Module) -> Iterator[str]:
    """Yield each parameter, attribute and return value that is declared to be, or to have, a page's whole entry."""
    for node in ast.walk(code):
        declared = getattr(node, "annotation", None) or getattr(node, "returns", None)
        if isinstance(declared, ast.AST) and "PageEntry" in ast.unparse(declared):
            yield ast.unparse(node)


def test_a_taker_of_entries_is_seen() -> None:
    code = "def f(a: PageEntry, b: 'dict[str, PageEntry]', c: Page) -> None: ...\nclass D:\n    e: PageEntry | None"
    assert len([*takers_of_entries(ast.parse(code))]) == 3


def test_only_a_few_modules_take_a_pages_whole_entry() -> None:
    takers = {place(path) for path in files("browser_service") if [*takers_of_entries(tree(path))]}
    assert takers == WHOLE_ENTRY.keys()


def test_a_handler_of_a_page_does_not_reach_its_entry() -> None:
    reached = {
        (place(path), ast.unparse(node))
        for path in files("browser_service/actions/page")
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Attribute) and node.attr == "entry" and ast.unparse(node.value) != "session"
    }
    assert reached == set()
