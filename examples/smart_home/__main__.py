"""Starts the house from the command line: as a site, or as a tool server on stdio."""

import argparse
import contextlib
import sys

from examples.smart_home.server import SiteServer
from examples.smart_home.state import Home
from mcp_home_simulator.__main__ import serve
from mcp_home_simulator.state import HomeState


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m examples.smart_home", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    parser.add_argument("--port", type=int, default=8900, help="0 takes a free one (default: %(default)s)")
    parser.add_argument("--mcp", action="store_true", help="serve the tools as JSON lines on stdin and stdout")
    return parser.parse_args()


def announce(url: str) -> None:
    print(f"Smart home: {url} (log in as ana, password casa)", file=sys.stderr, flush=True)
    print(f"SMART_HOME {url}", flush=True)


def main() -> None:
    options = parse_options()
    with contextlib.suppress(KeyboardInterrupt):
        if options.mcp:
            serve(HomeState())
        else:
            SiteServer(Home(), options.host, options.port, announce).run()


if __name__ == "__main__":
    main()
