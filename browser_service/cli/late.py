"""Commands that are made when they run or a shell completes them: there are more than a hundred, and what they import
takes long."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from typer.core import TyperCommand, TyperGroup
from typer.main import get_command


class Late(TyperCommand):
    """A command of which only the name and the help are there until it is used."""

    def __init__(self, name: str, text: str, make: Callable[[], Any]) -> None:  # Any: its class is typer's own
        super().__init__(name, help=text)
        self._make, self._line = make, f"{text.partition('. ')[0].removesuffix('.')}."

    def get_short_help_str(self, limit: int = 0) -> str:  # noqa: ARG002 - a list breaks lines, and cuts none
        return self._line

    def make_context(self, *given: Any, **options: Any) -> Any:  # Any: the signature, whose classes are typer's own
        return self._make().make_context(*given, **options)


def command_in(module: str, name: str) -> Any:  # Any: as above
    """Return a command of one of our modules."""
    made = get_command(import_module(f"browser_service.cli.{module}").app)
    return made.commands[name] if isinstance(made, TyperGroup) else made
