"""The checks of `make lint` that ruff does not have: sizes, scripts of pages, named calls, documents and set-up."""
