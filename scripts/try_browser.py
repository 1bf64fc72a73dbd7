"""Starts the browser that a service would start here, and prints its path. If none works, it says why and fails."""

import asyncio
import sys
from pathlib import Path

from browse_together.contract.errors import BrowseError
from browser_service.cli.browser_check import try_browser
from browser_service.host.sessions.options import LaunchOptions


def main() -> None:
    # `browse-together doctor` answers whether its sandbox works.
    options = LaunchOptions(profile_dir=Path(), sandbox="off")
    try:
        print(asyncio.run(try_browser(options)))  # noqa: T201 - for setup.sh
    except (BrowseError, TimeoutError) as error:
        sys.exit(str(error) or "it did not start in time")


if __name__ == "__main__":
    main()
