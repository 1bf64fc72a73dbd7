"""The commands. What a command needs is imported only when it runs, so that help is quick."""

import gc
from collections.abc import Callable
from functools import partial
from importlib import import_module
from types import MappingProxyType
from typing import Annotated, Any, Final, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from shared.absent import HTTPX_COMMAND, absent
from shared.wire import VERSION


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


class Command(NamedTuple):
    module: str
    help: str


COMMANDS: Final = MappingProxyType(
    {
        "setup": Command("browser_setup", "Find a browser that works here, or install one."),
        "install": Command("install.command", "Set this browser up in a chat client, such as claude-code."),
        "uninstall": Command("install.command", "Take it away from a chat client, or everything with --data."),
        "service": Command("service", "Start the service at login."),
        "up": Command("lifecycle", "Run the service, in the foreground or detached."),
        "down": Command("lifecycle", "End the service."),
        "status": Command("lifecycle", "Whether the service runs, and where."),
        "host": Command("hosts", "Run browsers for a service on another machine, which this host dials."),
        "hosts": Command("hosts", "The hosts that have dialled in: what each has, and where it dials from."),
        "mcp": Command("gateway", "Speak MCP on stdin and stdout, as mcp-gateway does: uvx browse-together mcp."),
        "pages": Command("actions", "The open pages: yours, people's, other agents'."),
        "run": Command("actions", "Run one action, such as `run goto --url https://example.com`."),
        "save": Command("actions", "Save a file that a call made, by its artifactId."),
        "show": Command("wall", "Watch all pages live, and take them in hand, in your own browser."),
        "tabs": Command("tabs", "The tabs of your own browser that is attached to, and which are shared."),
        "share": Command("tabs", "Share a tab of your own browser with agents."),
        "unshare": Command("tabs", "Take a tab back from agents."),
        "extension": Command("extension", "Show agents in your browser's tab strip, and share tabs by dragging them."),
        "activity": Command("activity", "Who did what: the record of all clients' actions."),
        "replay": Command("replay", "Make one HTML file of what was done, with pictures, to play and to keep."),
        "flow": Command("flows", "Flows: save what was done, and do it again, once or for each row of a table."),
        "forget": Command("activity", "Remove what is kept of a client."),
        "requests": Command("requests", "What agents ask people for: see it, and answer."),
        "login": Command("logins", "Sign in yourself, in an ordinary window of the shared browser."),
        "check-login": Command("logins", "Whether sites still know you; if not, ask you to sign in."),
        "import": Command("logins", "Bring logins from another browser."),
        "attach": Command(
            "attach", "Let agents work in your own running browser; your tabs stay yours until you share one."
        ),
        "detach": Command("attach", "Take your browser back from agents."),
        "secret": Command("named_secrets", "Keep secrets that agents type by name, without knowing them."),
        "config": Command("config", "The settings that hold for every start: show, set, edit."),
        "doctor": Command("upkeep", "Check what the service needs, and say what to do."),
        "logs": Command("upkeep", "Show the log of a detached service."),
        "token": Command("tokens", "Tokens: print one, or make, list and take back those with a name and limits."),
        "revoke": Command("activity", "Refuse a token, or a client whichever token it has."),
    }
)


class Root(TyperGroup):
    """All commands. Errors are printed as code, message and hint."""

    def __init__(self, **attributes: Any) -> None:  # Any: whatever typer passes
        super().__init__(**attributes)
        for name, (module, text) in COMMANDS.items():
            self.add_command(Late(name, text, partial(command_in, module, name)))

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
        with absent(HTTPX_COMMAND):
            app()
    finally:
        gc.freeze()  # otherwise the interpreter collects once more before it ends, which takes a tenth of a second
