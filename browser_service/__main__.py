"""Runs `browse-together` as `python -m browser_service`."""

from browse_together.command import main

if __name__ == "__main__":
    main()
