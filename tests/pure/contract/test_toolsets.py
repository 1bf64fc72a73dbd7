"""Tests toolsets: what is in each, what that costs a model, and that they filter the list alone."""

from typing import cast

from browse_together.contract import toolsets
from browse_together.contract.actions.base import Action
from browse_together.contract.catalogue import ACTIONS, CATEGORIES, NAMES, parse
from browse_together.contract.instructions import INSTRUCTIONS
from browse_together.contract.schema import Schema, full_schema, listed_schema, properties_of
from browse_together.contract.toolsets import CORE, category, tools
from scripts.reference import tokens
from tests.support.each import each

MOST_TOKENS_OF_CORE = 2_250
MOST_TOKENS_AT_FIRST = 2_600
"""Limit of what every chat pays before its first call: the list, `call_tool`, `help` and the instructions."""
AT_MOST_A_TOOL = 120
MOST_ARGUMENTS = 5


def listed(*toolsets: str) -> list[str]:
    return [tool.name for tool in tools(frozenset(toolsets))]


def test_the_toolsets_are_core_each_category_and_all() -> None:
    assert ("core", *CATEGORIES, "session", "utility", "all") == toolsets.NAMES
    assert {*listed("sessions")} == {*listed("session")} < {*listed("utility")}
    for name in CATEGORIES:
        assert listed(name) == [action.name() for action in ACTIONS.values() if category(action) == name]


def test_core_has_what_nearly_every_task_needs() -> None:
    assert {*listed("core")} == {*CORE}
    assert listed() == []


def test_all_is_every_action_but_those_that_say_in_other_words_what_there_is_already() -> None:
    assert listed("all") == [name for name, action in ACTIONS.items() if category(action) not in {"seven", "hands"}]
    assert listed("all", "seven", "hands") == [*ACTIONS]
    assert not {*listed("all")} & (NAMES.keys() - ACTIONS.keys())


def test_several_toolsets_list_each_tool_once_in_the_order_of_the_catalogue() -> None:
    both = listed("core", "interaction")
    expected = {*CORE, *listed("interaction")}
    assert both == [name for name in ACTIONS if name in expected]


def test_unlisted_tools_can_be_called() -> None:
    assert "mouse" not in listed("core")
    assert parse({"action": "mouse", "do": "up", "x": 1, "y": 1}).name() == "mouse"


def test_the_list_of_core_and_the_instructions_cost_little() -> None:
    sizes = [tokens(tool) for tool in tools(frozenset({"core"}))]
    assert sum(sizes) <= MOST_TOKENS_OF_CORE
    assert sum(sizes) + len(INSTRUCTIONS.encode()) / 4 <= MOST_TOKENS_AT_FIRST


@each({name: name for name in toolsets.NAMES})
def test_a_toolset_costs_little_for_each_of_its_tools(toolset: str) -> None:
    sizes = [tokens(tool) for tool in tools(frozenset({toolset}))]
    assert sum(sizes) / len(sizes) <= AT_MOST_A_TOOL


@each(ACTIONS)
def test_a_tool_lists_its_everyday_arguments_which_are_few(action: type[Action]) -> None:
    schema = listed_schema(action)
    listed = [*properties_of(schema)]
    own = full_schema(action)["properties"]
    everyday = {*cast("Schema", own)} | {*action.option_bags}
    assert {*(action.everyday or ())} <= everyday
    assert len({*listed} - {"pageId", *action.option_bags}) <= MOST_ARGUMENTS, "name the everyday ones: `everyday`"
