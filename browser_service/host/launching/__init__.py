"""Starts the browsers of this machine, attaches to one that runs, watches them, and ends them."""
