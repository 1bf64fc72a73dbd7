"""Makes the lists of tools. Toolsets filter only what a list shows; `call_tool` runs every action."""

from collections.abc import Collection
from functools import lru_cache
from typing import Final, NamedTuple

from browse_together.contract.actions.base import Action, PageAction
from browse_together.contract.actions.help import CallTool
from browse_together.contract.actions.traits import Effect
from browse_together.contract.catalogue import ACTIONS
from browse_together.contract.schema import Schema, listed_schema

CORE: Final = (
    "goto",
    "go_back",
    "click",
    "hover",
    "fill",
    "fill_form",
    "type",
    "press",
    "select_option",
    "upload_file",
    "find",
    "snapshot",
    "content",
    "screenshot",
    "wait_for_selector",
    "evaluate_script",
    "fetch",
    "get_console_messages",
    "get_network_log",
    "list_pages",
    "open_page",
    "close_page",
    "handle_dialog",
    "batch",
    "claim_page",
    "request_human",
    "help",
    "call_tool",
)
"""The tools that nearly every task needs, `help` for the others, and `call_tool` to call them."""
APART: Final = "seven"
"""The category whose tools repeat others in another form. `all` leaves it out."""
_FOR_PEOPLE: Final = "hands"
"""The category of actions that only the account's own person may do. `all` leaves it out too."""


class Tool(NamedTuple):
    """An action as shown in a tool list."""

    name: str
    description: str
    schema: Schema
    annotations: dict[str, bool]

    def message(self) -> dict[str, object]:
        """Return the tool in the protocol's form, its keys in the order in which the SDK sends them."""
        told = {"annotations": dict(sorted(self.annotations.items()))} if self.annotations else {}
        schema, title = dict(sorted(self.schema.items())), self.name.replace("_", " ").capitalize()
        return {**told, "description": self.description, "inputSchema": schema, "name": self.name, "title": title}


def category(action: type[Action]) -> str:
    return action.__module__.rpartition(".")[2]


_CATEGORIES: Final = tuple(dict.fromkeys(map(category, ACTIONS.values())))
_ALSO: Final = {"session": {"sessions"}, "utility": {"waiting", "scripting", "sessions"}}
NAMES: Final = ("core", *_CATEGORIES, *_ALSO, "all")
"""All toolsets: `core`, each category, and `all`."""


def actions_in(toolsets: Collection[str]) -> dict[str, type[Action]]:
    """Return the actions of some toolsets, in catalogue order."""
    categories = frozenset(toolsets).union(*(_ALSO[name] for name in _ALSO.keys() & {*toolsets}))

    def is_listed(name: str, action: type[Action]) -> bool:
        in_all = "all" in toolsets and category(action) not in {APART, _FOR_PEOPLE}
        return in_all or category(action) in categories or ("core" in toolsets and name in CORE)

    return {name: action for name, action in ACTIONS.items() if is_listed(name, action)}


def tools(toolsets: Collection[str] = ("core",), *, extra: Collection[str] = ()) -> list[Tool]:
    """Return the tools of some toolsets and those named by `extra`, in catalogue order."""
    names = {*actions_in(toolsets), *extra}
    return [
        Tool(name, action.description(), listed_schema(action), annotations(action))
        for name, action in ACTIONS.items()
        if name in names
    ]


@lru_cache(maxsize=64)  # callers combine toolsets at will
def listed_names(toolsets: frozenset[str]) -> frozenset[str]:
    """Return the names of the tools in a list of some toolsets. It includes `call_tool`, because replies name calls
    through it, except in a list of only the seven, which is documented as exactly these."""
    always = {CallTool.name()} if toolsets != {APART} else set[str]()
    return frozenset(actions_in(toolsets)) | always


def annotations(action: type[Action]) -> dict[str, bool]:
    """Return the action's effect in MCP's terms, so that clients ask people less often. It contains only values that
    differ from the protocol's defaults and that some client uses."""
    if action.effect is Effect.READS:
        return {"readOnlyHint": True}
    destructive = {} if action.effect is Effect.DESTROYS else {"destructiveHint": False}
    return destructive if issubclass(action, PageAction | CallTool) else {**destructive, "openWorldHint": False}
