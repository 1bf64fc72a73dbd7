"""Writes `TOOLS.md`, the reference of all actions and errors, what a start is not to wait for, and the methods and
errors of the Python client; `--check` fails if they are stale."""

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Final

from browse_together.contract import toolsets, written
from browse_together.contract.actions.base import Action, PageAction
from browse_together.contract.catalogue import ACTIONS, digest
from browse_together.contract.errors import BrowseError, every_error
from browse_together.contract.help_text import allowed_values, as_text, behaviour, listed, type_of
from browse_together.contract.next_calls import next_call, plain
from browse_together.contract.schema import (
    Schema,
    full_schema,
    inherited_names,
    properties_of,
    required_of,
    second_names,
)
from browse_together.contract.wire import BROWSER
from scripts import python_client
from scripts.lint.sources import CONTRACT, PYTHON_CLIENT, ROOT


def reference() -> str:
    """Return the whole page."""
    categories = [
        (sys.modules[module], list(actions))
        for module, actions in groupby(ACTIONS.values(), lambda action: action.__module__)
    ]
    names = {module: module.__name__.rpartition(".")[2].capitalize() for module, _ in categories}
    contents = [
        f"- [{names[module]}](#{names[module].lower()}): {listed(action.name() for action in actions)}"
        for module, actions in categories
    ]
    sections = [_HEAD.format(count=len(ACTIONS), browser=BROWSER), "\n".join(contents), _inherited()]
    for module, actions in categories:
        sections += [f"## {names[module]}", str(module.__doc__).strip(), *map(_action, actions)]
    return "\n\n".join([*sections, _toolsets(), _errors(), f"Fingerprint of the catalogue: `{digest(ACTIONS)}`"]) + "\n"


_HEAD: Final = """# Tools

The {count} actions. Each is a tool of the MCP gateway, a body of `POST {browser}/{{pageId}}` (its name under `action`)
and a verb of the command line. `make docs` writes this page from the classes in `browse_together.contract.actions`."""

_INHERITED: Final = """## Arguments of every page action

Every action on a page takes these too; tool lists show `pageId` alone, and the instructions tell of the others.

{table}

Options may also stand in an object `params`, by the names that Playwright for JavaScript gives them:
`{{"action": "click", "selector": "#buy", "params": {{"clickCount": 2}}}}`."""


def _inherited() -> str:
    return _INHERITED.format(table=_arguments(PageAction, _properties(PageAction)))


def _action(action: type[Action]) -> str:
    inherited, common = inherited_names(action), _properties(PageAction)
    own = {name: node for name, node in _properties(action).items() if name not in inherited or node != common[name]}
    parts = [
        f"### {action.title()}: `{action.name()}`",
        action.whole_description(),
        behaviour(action),
        _arguments(action, own) if own else "No arguments of its own.",
    ]
    if bags := [bag for bag in action.option_bags if bag not in PageAction.option_bags]:
        parts.append(f"These may also stand in an object {listed(bags)}.")
    return "\n\n".join(parts)


def _properties(action: type[Action]) -> dict[str, Schema]:
    return properties_of(full_schema(action))


def _arguments(action: type[Action], properties: dict[str, Schema]) -> str:
    required = required_of(full_schema(action))
    twins = second_names(action)
    return _table(
        ("argument", "type", "default", "allowed", "what it is"),
        [
            (
                " or ".join(f"`{each}`" for each in [name, *twins.get(name, [])]),
                type_of(node),
                "*required*" if name in required else f"`{as_text(node['default'])}`" if "default" in node else "",
                allowed_values(node),
                str(node.get("description", "")),
            )
            for name, node in properties.items()
        ],
    )


def _toolsets() -> str:
    rows = []
    for name in toolsets.NAMES:
        tools = toolsets.tools({name})
        members = "all but `seven`" if name == "all" else listed(tool.name for tool in tools)
        rows.append((f"`{name}`", members, str(sum(map(tokens, tools)))))
    table = _table(("toolset", "actions", "tokens"), rows)
    return _TOOLSETS.format(
        help=plain(next_call("help", toolset="files")), of_one=plain(next_call("help", name="click")), table=table
    )


_TOOLSETS: Final = """## Toolsets

`BROWSE_TOOLSETS` says which tools are listed, several with commas between them: `core` by default, any category, or
`all`. It filters the list alone, in which `call_tool` always is: that runs every action by its name, and `help`
describes it. A chat adds a toolset to its own list by `{help}`.

The tokens are those of the list, as bytes of JSON by four. A list shows the arguments of every day and the first
paragraph of what is said here; each tool takes all the others too, and `{of_one}` tells them.

{table}"""


def tokens(tool: toolsets.Tool) -> int:
    """Estimate how many of a model's tokens a tool takes in the list. Title and annotations are for the host."""
    told = {"name": tool.name, "description": tool.description, "inputSchema": tool.schema}
    return round(len(json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode()) / 4)


def _errors() -> str:
    columns = ("code", "HTTP", "raised when", "what to do")
    rows = [(f"`{error.code}`", str(error.status), _meaning(error), plain(error.hint or "")) for error in every_error()]
    about = (
        "A reply may carry a more particular advice than the one here. The calls that it names are in the error's "
        "`calls` too, for programs: `action`, `arguments`, and the `text` that stands for each."
    )
    return f"## Errors\n\n{about}\n\n{_table(columns, rows)}"


def _meaning(error: type[BrowseError]) -> str:
    return " ".join((error.__doc__ or "").split()).removeprefix("Raised when ").removesuffix(".")


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|").replace("<", "&lt;") for cell in line) + " |" for line in lines
    )


def answers() -> str:
    """Return the file of what a gateway answers at its start."""
    listed = {name: toolsets.listed_names(frozenset({name})) for name in toolsets.NAMES}
    names = {name: [each for each in ACTIONS if each in listed[name]] for name in toolsets.NAMES}
    every = toolsets.tools(toolsets.NAMES)
    return written.text(digest(ACTIONS), names, [tool.message() for tool in every])


@cache
def files() -> Mapping[str, str]:
    """Return the text of each file, by its place."""
    return {
        f"{CONTRACT}/TOOLS.md": reference(),
        f"{CONTRACT}/written.json": answers(),
        f"{PYTHON_CLIENT}/actions.py": python_client.actions(),
        f"{PYTHON_CLIENT}/errors.py": python_client.errors(),
    }


def main(arguments: Sequence[str], root: Path = ROOT) -> int:
    texts = {root / place: text for place, text in files().items()}
    if "--check" not in arguments:
        for path, text in texts.items():
            path.write_text(text, encoding="utf-8")
        return 0
    stale = [path for path, text in texts.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path in stale:
        sys.stderr.write(f"{path.relative_to(root).as_posix()} is stale: run make docs\n")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
