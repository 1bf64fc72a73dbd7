"""Runs `browse-together` as `python -m browser_service`."""

from browser_service.cli import main

if __name__ == "__main__":
    main()
