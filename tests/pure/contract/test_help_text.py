"""Tests what `help` says of each action: all of it, and an example that can be sent as it stands."""

import pytest

from browse_together.contract import toolsets
from browse_together.contract.actions.base import Action
from browse_together.contract.actions.help import CallTool
from browse_together.contract.catalogue import ACTIONS, CATEGORIES, parse
from browse_together.contract.errors import InvalidRequest
from browse_together.contract.help_text import action_help, example, overview, toolset_help
from browse_together.contract.schema import full_schema, inherited_names, properties_of, required_of
from browse_together.contract.wire import INLINE_TEXT
from tests.support.each import each

every_action = each(ACTIONS)


@every_action
def test_every_argument_is_explained(action: type[Action]) -> None:
    text = action_help(action.name())
    assert text.startswith(f"{action.name()}: {action.whole_description()}\n")
    for name, node in properties_of(full_schema(action)).items():
        if name in inherited_names(action):
            (line,) = [line for line in text.splitlines() if line.startswith("As every tool of a page: pageId, ")]
            assert f", {name}" in line or name == "pageId"
            continue
        (line,) = [
            line for line in text.splitlines() if line.startswith((f"- {name} (", f"- {name}:", f"- {name} or "))
        ]
        assert line.endswith(f": {node['description']}")
        assert ("required" in line) >= (name in required_of(full_schema(action)))
    for alias in action.aliases:
        assert f"`{alias.name}`" in text


def test_the_help_for_an_action_takes_few_tokens() -> None:
    assert len(action_help("upload_file").encode()) / 4 <= 240


@every_action
def test_the_example_can_be_sent_as_it_stands(action: type[Action]) -> None:
    meant = "drag_and_drop" if action is CallTool else action.name()
    assert parse({"action": action.name(), **example(action)}).name() == meant


def test_without_a_name_all_tools_are_listed_by_category() -> None:
    lines = overview().splitlines()
    assert [line.partition(":")[0] for line in lines[:-1]] == [*CATEGORIES]
    assert [name for line in lines[:-1] for name in line.partition(": ")[2].split(", ")] == [*ACTIONS]


def test_a_toolset_lists_one_line_per_tool() -> None:
    first, *lines, last = toolset_help("files").splitlines()
    assert first == f"files has {len(lines)} tools:"
    assert "- upload_file: " in "\n".join(lines)
    assert 'call_tool {"name": "upload_file", "arguments": {...}}' in last
    with pytest.raises(InvalidRequest, match=r"There is no toolset 'file'\.") as caught:
        toolset_help("file")
    assert caught.value.advice is not None
    assert "files" in caught.value.advice


@each({name: name for name in toolsets.NAMES})
def test_no_toolsets_help_is_long_enough_to_be_cut(toolset: str) -> None:
    assert len(toolset_help(toolset)) < INLINE_TEXT


def test_a_second_name_leads_to_the_action_that_it_means() -> None:
    text = action_help("double_click")
    assert text.startswith("click: ")
    assert "double_click is another name of it: clickCount is 2." in text


def test_a_misspelt_name_gets_the_nearest() -> None:
    with pytest.raises(InvalidRequest, match=r"There is no tool 'clik'\.") as caught:
        action_help("clik")
    assert caught.value.advice is not None
    assert caught.value.advice.startswith("Did you mean click")
