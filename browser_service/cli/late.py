"""Commands that are made only when they run or a shell completes them: there are over a hundred, and their imports are
slow."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from typer.core import TyperCommand, TyperGroup
from typer.main import get_command


class Late(TyperCommand):
    """A command that has only name and help until it is used."""

    def __init__(self, name: str, text: str, make: Callable[[], Any]) -> None:  # Any: typer's own class
        super().__init__(name, help=text)
        self._make, self._line = make, f"{text.partition('. ')[0].removesuffix('.')}."

    def get_short_help_str(self, limit: int = 0) -> str:  # noqa: ARG002 - a list breaks lines, and cuts none
        return self._line

    def make_context(self, *given: Any, **options: Any) -> Any:  # Any: the signature has typer's own classes
        return self._make().make_context(*given, **options)


def command_in(module: str, name: str) -> Any:  # Any: as above
    """Return a command of one of our modules."""
    made = get_command(import_module(f"browser_service.cli.{module}").app)
    return made.commands[name] if isinstance(made, TyperGroup) else made
