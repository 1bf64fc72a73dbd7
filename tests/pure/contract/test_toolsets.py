"""Tests toolsets: what is in each, what that costs a model, and that they filter the list alone."""

import pytest

from shared import toolsets
from shared.catalogue import ACTIONS, CATEGORIES, NAMES, parse
from shared.reference import tokens
from shared.toolsets import CORE, category, tools

MOST_TOKENS = {"core": 5_200, "all": 21_800}
"""Whole schemas cost what they cost: no argument is left out of a list to save some."""
AT_MOST_A_TOOL = 215


def listed(*toolsets: str) -> list[str]:
    return [tool.name for tool in tools(frozenset(toolsets))]


def test_the_toolsets_are_core_each_category_and_all() -> None:
    assert ("core", *CATEGORIES, "all") == toolsets.NAMES
    for name in CATEGORIES:
        assert listed(name) == [action.name() for action in ACTIONS.values() if category(action) == name]


def test_core_has_what_nearly_every_task_needs() -> None:
    assert {*listed("core")} == {*CORE}
    assert listed() == []


def test_all_is_every_action_but_those_that_say_in_other_words_what_there_is_already() -> None:
    assert listed("all") == [name for name, action in ACTIONS.items() if category(action) != "seven"]
    assert listed("all", "seven") == [*ACTIONS]
    assert not {*listed("all")} & (NAMES.keys() - ACTIONS.keys())


def test_several_toolsets_list_each_tool_once_in_the_order_of_the_catalogue() -> None:
    both = listed("core", "interaction")
    expected = {*CORE, *listed("interaction")}
    assert both == [name for name in ACTIONS if name in expected]


def test_what_is_not_listed_can_be_called() -> None:
    assert "hover" not in listed("core")
    assert parse({"action": "hover", "selector": "#a"}).name() == "hover"


@pytest.mark.parametrize("toolset", MOST_TOKENS)
def test_a_list_costs_no_more_than_it_must(toolset: str) -> None:
    sizes = [tokens(tool) for tool in tools(frozenset({toolset}))]
    assert sum(sizes) <= MOST_TOKENS[toolset]
    assert toolset == "core" or sum(sizes) / len(sizes) <= AT_MOST_A_TOOL
