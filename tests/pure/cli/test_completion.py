"""Tests what a shell gets that completes what is typed."""

from pathlib import Path

import pytest

from browser_service.cli.root import COMMANDS
from tests.support.completion import completions
from tests.support.each import each


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        (["sta"], ["status"]),
        (["up", "--max-p"], ["--max-pages"]),
        (["requests", ""], ["done", "refuse", "tab"]),
        (["run", "get_page_t"], ["get_page_title"]),
        (["run", "click", "--but"], ["--button"]),
        (["run", "click", "--button", "r"], ["right"]),
        (["run", "fill", "#name", "--sec"], ["--secret"]),
    ],
)
def test_commands_actions_options_and_choices_are_completed(typed: list[str], expected: list[str]) -> None:
    assert completions(*typed) == expected


@each({name: name for name in sorted(COMMANDS.keys() - {"mcp"})})  # which passes all that is typed to the gateway
def test_each_command_can_be_completed(command: str) -> None:
    assert command in completions(command)
    assert "--help" in completions(command, "--he")


def test_without_a_service_there_is_no_page_to_complete(tmp_path: Path) -> None:
    assert completions("run", "click", "--page", "", BROWSE_DATA_DIR=str(tmp_path)) == []
