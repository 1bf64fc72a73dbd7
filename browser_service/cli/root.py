"""The commands. What a command needs is imported only when it runs, so that help is quick."""

import gc
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Final, NamedTuple

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup
from typer.main import get_command

from browse_together.contract.wire import VERSION

_VALUES: Final[Mapping[Any, str]] = {int: "N", str: "TEXT", Path: "FILE"}  # Any: what typer reads, mostly a type


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
    return _worded(made.commands[name] if isinstance(made, TyperGroup) else made)


def _worded(command: Any) -> Any:  # Any: as above
    """Return the command with values named as people name them, and with no line of its help cut."""
    for parameter in command.params:
        if isinstance(parameter, TyperArgument):
            vars(parameter)["display_type_rich"] = lambda ctx: ""  # noqa: ARG005 - "ID" says more than "ID <str>"
        elif parameter.metavar is None and not parameter.is_flag:
            parameter.metavar = _VALUES.get(parameter.type_descriptor.annotation)
    for each in getattr(command, "commands", {}).values():
        each.short_help = f"{each.help.partition('. ')[0].partition(chr(10) * 2)[0].removesuffix('.')}."
        _worded(each)
    return command


class Command(NamedTuple):
    module: str
    help: str


GROUPS: Final = MappingProxyType(
    {
        "Start": {
            "setup": Command("browser_setup", "Find a browser that works here, or install one."),
            "install": Command("install.command", "Set this browser up in a chat client, such as claude-code."),
            "uninstall": Command("install.command", "Take it from a chat client, or from all."),
            "up": Command("lifecycle", "Run the service, in the foreground or detached."),
            "down": Command("lifecycle", "End the service."),
            "status": Command("lifecycle", "Whether the service runs, where, and who is there."),
            "service": Command("service", "Start the service at login, on Linux."),
            "mcp": Command("gateway", "Speak MCP on stdin and stdout, as mcp-gateway does."),
        },
        "Pages": {
            "pages": Command("actions", "The open pages: yours, people's, other agents'."),
            "run": Command("actions", "Run one action: `run goto --url https://example.com`."),
            "save": Command("actions", "Save a file that a call made, by its artifactId."),
            "flow": Command("flows", "Save what was done, and do it again, also for each row."),
        },
        "People": {
            "show": Command("wall", "Watch all pages live in your browser, and take them over."),
            "clients": Command("clients", "The chats that are there; give one another name."),
            "requests": Command("requests", "What agents ask people for: see it, and answer."),
            "activity": Command("activity", "Who did what: the record of all clients' actions."),
            "replay": Command("replay", "Make one HTML file of what was done, with pictures."),
            "attach": Command("attach", "Let agents work in tabs of your own browser that you share."),
            "detach": Command("attach", "Take your browser back from agents."),
            "tabs": Command("tabs", "The tabs of your own browser, and which are shared."),
            "share": Command("tabs", "Share a tab of your own browser with agents."),
            "unshare": Command("tabs", "Take a tab back from agents."),
            "extension": Command("extension", "Show agents in your tab strip; share tabs by dragging."),
        },
        "Logins": {
            "login": Command("logins", "Sign in yourself, in an ordinary window of the browser."),
            "logins": Command("logins", "Where you are signed in, until when, and by whom."),
            "check-login": Command("logins", "Whether sites still know you; if not, ask you to sign in."),
            "import": Command("logins", "Bring logins from another browser."),
            "secret": Command("named_secrets", "Keep secrets that agents type by name, unseen."),
        },
        "Settings": {
            "config": Command("config", "The settings: what holds, where from, which file."),
            "token": Command("tokens", "Tokens: print one, or make, list and take back named ones."),
            "revoke": Command("activity", "Refuse a token, or a client whichever token it has."),
        },
        "Upkeep": {
            "doctor": Command("upkeep", "Check what the service needs, and say what to do."),
            "logs": Command("upkeep", "Show the log of a detached service."),
            "forget": Command("activity", "Remove what is kept of a client."),
            "host": Command("hosts", "Run browsers for a service on another machine."),
            "hosts": Command("hosts", "The hosts that have dialled in: what each has."),
        },
    }
)
COMMANDS: Final = MappingProxyType({name: each for group in GROUPS.values() for name, each in group.items()})


class Root(TyperGroup):
    """All commands. Errors are printed as code, message and hint."""

    def __init__(self, **attributes: Any) -> None:  # Any: whatever typer passes
        super().__init__(**attributes)
        for name, (module, text) in COMMANDS.items():
            self.add_command(Late(name, text, partial(command_in, module, name)))

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 # Any: typer's own classes
        """Write the commands in groups, with their names in one column."""
        width = max(map(len, COMMANDS))
        for title, commands in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), each.help) for name, each in commands.items()])

    def invoke(self, ctx: Any) -> Any:  # Any: typer's own class
        try:
            return super().invoke(ctx)
        except Exception:
            with import_module("browser_service.cli.output").print_errors():
                raise


app = typer.Typer(cls=Root, no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None)


def _say_version(asked: bool) -> None:  # noqa: FBT001 - typer's signature
    if asked:
        typer.echo(VERSION)
        raise typer.Exit


@app.callback()
def root(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_say_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """One logged-in browser, shared by many agents."""


def main() -> None:
    gc.disable()  # imports create many objects and no garbage; the service, which lasts, enables it when all is loaded
    try:
        app()
    finally:
        gc.freeze()  # otherwise the interpreter collects once more before it ends, which takes a tenth of a second
