"""Observes a page's requests, and decides what happens to them."""
