"""Starts the house from the command line: as a site, or as a tool server on stdio."""

import argparse
import contextlib
import io
import sys

from examples.smart_home.server import SiteServer
from examples.smart_home.state import Home
from examples.smart_home.tools import serve_json_lines


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m examples.smart_home", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    parser.add_argument("--port", type=int, default=8900, help="0 takes a free one (default: %(default)s)")
    parser.add_argument("--mcp", action="store_true", help="serve the tools as JSON lines on stdin and stdout")
    return parser.parse_args()


def serve_stdio() -> None:
    # Half a surrogate pair, which JSON allows and UTF-8 does not, goes back as the escape it came as.
    source = io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8", errors="replace", newline="\n")
    sink = io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8", errors="backslashreplace", newline="\n")
    serve_json_lines(Home.unoccupied(), source, sink)


def announce(url: str) -> None:
    print(f"Smart home: {url} (log in as ana, password casa)", file=sys.stderr, flush=True)
    print(f"SMART_HOME {url}", flush=True)


def main() -> None:
    options = parse_options()
    with contextlib.suppress(KeyboardInterrupt):
        if options.mcp:
            serve_stdio()
        else:
            SiteServer(Home(), options.host, options.port, announce).run()


if __name__ == "__main__":
    main()
