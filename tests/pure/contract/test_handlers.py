"""Tests that every action has one handler, and no handler is without an action: the service does not start
otherwise."""

from types import ModuleType

import pytest

from browse_together.contract.actions.help import CallTool
from browse_together.contract.catalogue import ACTIONS
from browse_together.contract.model import Json
from browser_service.actions import HANDLERS, collect


def module_with(*names: str) -> ModuleType:
    """Return a module with a handler under each name."""
    module = ModuleType("extra")

    async def handler() -> Json:
        return {}

    handler.__module__ = "extra"
    for name in names:
        setattr(module, name, handler)
    return module


def test_every_action_has_a_handler() -> None:
    assert HANDLERS.keys() == ACTIONS.keys() - {CallTool.name()}  # which becomes the one that it calls


def test_handlers_for_all_are_collected_by_their_actions_names() -> None:
    collected = collect([module_with("_helper", "type_", *(ACTIONS.keys() - {"type"}))])
    assert collected.keys() == ACTIONS.keys()


def test_an_action_without_a_handler_is_refused() -> None:
    with pytest.raises(TypeError, match="without a handler: click, wait"):
        collect([module_with(*(ACTIONS.keys() - {"wait", "click"}))])


def test_an_action_with_two_handlers_is_refused() -> None:
    with pytest.raises(TypeError, match="click has two handlers"):
        collect([module_with(*ACTIONS), module_with("click")])


def test_a_handler_without_an_action_is_refused() -> None:
    with pytest.raises(TypeError, match=r"extra\.swipe handles no action"):
        collect([module_with(*ACTIONS, "swipe")])
