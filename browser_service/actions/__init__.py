"""Collects how each action is done: one function an action, of the action's name."""

import inspect
import pkgutil
from collections.abc import Awaitable, Callable, Iterable, Iterator
from importlib import import_module
from types import MappingProxyType, ModuleType
from typing import Final

from browse_together.contract.actions.help import CallTool
from browse_together.contract.actions.traits import Scope
from browse_together.contract.catalogue import ACTIONS
from browse_together.contract.model import Json
from browser_service.actions import page, service


def collect(categories: Iterable[ModuleType]) -> dict[str, Callable[..., Awaitable[Json]]]:
    """Map every action's name to its handler. Raises TypeError unless each has one, and each handler an action."""
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


def _modules() -> Iterator[ModuleType]:
    yield service
    for found in pkgutil.iter_modules(page.__path__):
        yield import_module(f"{page.__name__}.{found.name}")


HANDLERS: Final = MappingProxyType(collect(_modules()))


def handlers_of(*scopes: Scope) -> dict[str, Callable[..., Awaitable[Json]]]:
    """Return the handlers whose first argument is of one of these scopes."""
    return {name: handler for name, handler in HANDLERS.items() if ACTIONS[name].scope in scopes}
