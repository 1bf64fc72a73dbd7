"""Runs the gateway under the name of this command, because `uvx browse-together` reaches no other."""

import runpy
import sys

import typer

from browser_service.cli.options import new_app

app = new_app()


@app.command(
    add_help_option=False,
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True, "allow_interspersed_args": False},
)
def mcp(context: typer.Context) -> None:
    """Speak MCP on stdin and stdout: the same as `mcp-gateway`, with the same flags."""
    sys.argv = [context.command_path, *context.args]
    runpy.run_module("mcp_gateway", run_name="__main__")
