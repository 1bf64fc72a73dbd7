"""Decides which tools a list shows. Toolsets filter only the list; `call_tool` runs every action."""

from collections.abc import Collection, Iterable, Mapping
from typing import Final

from shared.actions.base import Action

CORE: Final = (
    "goto",
    "click",
    "fill",
    "fill_form",
    "type",
    "press",
    "select_option",
    "find",
    "snapshot",
    "content",
    "screenshot",
    "wait_for_selector",
    "evaluate_script",
    "fetch",
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
"""Lists what nearly every task needs, `help` to learn of the rest, and `call_tool` to call it."""
APART: Final = "seven"
"""Names the category whose tools repeat others in other words; `all` is without it."""


def category(action: type[Action]) -> str:
    return action.__module__.rpartition(".")[2]


def names(actions: Iterable[type[Action]]) -> tuple[str, ...]:
    """Return the names of all toolsets: `core`, each category, and `all`."""
    return ("core", *dict.fromkeys(map(category, actions)), "all")


def chosen(actions: Mapping[str, type[Action]], toolsets: Collection[str]) -> dict[str, type[Action]]:
    """Return the actions of some toolsets, in the order of the catalogue."""

    def listed(name: str, action: type[Action]) -> bool:
        whole = "all" in toolsets and category(action) != APART
        return whole or category(action) in toolsets or ("core" in toolsets and name in CORE)

    return {name: action for name, action in actions.items() if listed(name, action)}
