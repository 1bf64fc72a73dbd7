"""How each action is done: one module a category, mirroring `shared.actions`; one function an action."""

import inspect
from collections.abc import Awaitable, Callable, Iterable
from importlib import import_module
from types import MappingProxyType, ModuleType
from typing import Final

from shared.actions.help import CallTool
from shared.calls import Json
from shared.catalogue import ACTIONS, CATEGORIES


def collect(categories: Iterable[ModuleType]) -> dict[str, Callable[..., Awaitable[Json]]]:
    """Every handler by its action's name. Raises TypeError for an action with none or two, or a handler without one."""
    found: dict[str, Callable[..., Awaitable[Json]]] = {}
    for module in categories:
        for name, function in vars(module).items():
            if not inspect.iscoroutinefunction(function) or function.__module__ != module.__name__:
                continue
            action = name.rstrip("_")
            if name.startswith("_"):
                continue
            if action not in ACTIONS:
                raise TypeError(f"{module.__name__}.{name} handles no action")
            if action in found:
                raise TypeError(f"{action} has two handlers")
            found[action] = function
    if missing := ACTIONS.keys() - {CallTool.name()} - found.keys():  # which `parse` makes the one that it calls
        raise TypeError(f"actions without a handler: {', '.join(sorted(missing))}")
    return found


HANDLERS: Final = MappingProxyType(collect(import_module(f"{__name__}.{category}") for category in CATEGORIES))
