"""The command `browse-together`."""

import sys
from typing import Annotated

import typer

from browser_service.serving import AlreadyRunning, serve
from browser_service.settings import Settings

app = typer.Typer(no_args_is_help=True, add_completion=False, help="One logged-in browser, shared by many agents.")


@app.callback()
def root() -> None:
    """One logged-in browser, shared by many agents."""


@app.command()
def up(port: Annotated[int | None, typer.Option(help="Port; 0 takes a free one.")] = None) -> None:
    """Run the service in the foreground."""
    try:
        serve(Settings() if port is None else Settings(port=port))
    except AlreadyRunning as error:
        typer.echo(str(error), err=True)
        sys.exit(1)


def main() -> None:
    app()
