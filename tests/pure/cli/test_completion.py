"""Tests what a shell gets that completes what is typed."""

import pytest
from typer.testing import CliRunner

from browser_service.cli.root import COMMANDS, app


def completions(*words: str) -> list[str]:
    """Return what the last word may become."""
    typed = ["browse-together", *words]
    asked = {
        "COMP_WORDS": " ".join(typed),
        "COMP_CWORD": str(len(typed) - 1),
        "_BROWSE_TOGETHER_COMPLETE": "complete_bash",
    }
    return CliRunner().invoke(app, [], prog_name="browse-together", env=asked).output.split()


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        (["sta"], ["status"]),
        (["up", "--max-p"], ["--max-pages"]),
        (["requests", ""], ["done", "refuse"]),
        (["run", "get_page_t"], ["get_page_title"]),
        (["run", "click", "--but"], ["--button"]),
        (["run", "click", "--button", "r"], ["right"]),
        (["run", "fill", "#name", "--sec"], ["--secret"]),
    ],
)
def test_commands_actions_options_and_choices_are_completed(typed: list[str], expected: list[str]) -> None:
    assert completions(*typed) == expected


@pytest.mark.parametrize("command", sorted(COMMANDS.keys() - {"mcp"}))  # which passes all that is typed to the gateway
def test_each_command_can_be_completed(command: str) -> None:
    assert command in completions(command)
    assert "--help" in completions(command, "--he")
