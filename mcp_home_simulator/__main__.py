"""Serves the house on stdin and stdout: a JSON message on each line."""

import argparse
import asyncio
import contextlib

from browse_together.contract.json_lines.lines import Lines
from browse_together.contract.json_lines.messages import VERSION, ready
from browse_together.contract.json_lines.server import Server
from mcp_home_simulator.state import HomeState
from mcp_home_simulator.tools import HomeTools, listed


def parse_options() -> None:
    parser = argparse.ArgumentParser(prog="python -m mcp_home_simulator", description=__doc__, allow_abbrev=False)
    parser.add_argument("--mcp", action="store_true", help="serve the tools; nothing else is done without it either")
    parser.add_argument("--version", action="version", version=VERSION)
    parser.parse_args()


def serve(home: HomeState) -> None:
    """Serve a house to the client of this process until it ends."""
    lines = Lines.claim()
    lines.write(ready(listed()))
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_answer(lines, home))


async def _answer(lines: Lines, home: HomeState) -> None:
    await Server(lines, HomeTools(home).run).serve()


def main() -> None:
    parse_options()
    serve(HomeState())


if __name__ == "__main__":
    main()
