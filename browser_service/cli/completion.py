"""Gives a shell that completes what is typed the commands themselves, and `run` every action with its options."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from typer.core import TyperCommand, TyperGroup
from typer.main import get_command


class Late(TyperCommand):
    """A command that is made when a shell completes it: there are more than a hundred."""

    make: Callable[[], Any]  # Any: a command, whose class typer keeps private

    def make_context(self, *given: Any, **options: Any) -> Any:  # Any: the signature, whose classes typer keeps private
        if options.get("resilient_parsing"):
            return self.make().make_context(*given, **options)
        return super().make_context(*given, **options)


def stand_in(name: str, module: str) -> type[Late]:
    """Return the class of a stand-in for a command of a module."""

    class Standing(Late):
        def make(self) -> Any:  # Any: as above
            return _actions() if name == "run" else _command(name, module)

    return Standing


def _command(name: str, module: str) -> Any:  # Any: as above
    made = get_command(_module(module).app)
    return made.commands[name] if isinstance(made, TyperGroup) else made


def _actions() -> TyperGroup:
    command_of, named = _module("actions").command_of, import_module("shared.catalogue").ACTIONS

    def late(name: str) -> Late:
        command = Late(name, help=named[name].whole_description())
        command.make = lambda: get_command(command_of(name, named[name]))
        return command

    return TyperGroup(name="run", commands={name: late(name) for name in named})


def _module(name: str) -> Any:  # Any: whatever the module has
    return import_module(f"browser_service.cli.{name}")
