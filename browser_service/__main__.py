"""`python -m browser_service`: the same as `browse-together`."""

from browser_service.cli import main

if __name__ == "__main__":
    main()
