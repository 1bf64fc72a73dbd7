"""Observes a page's requests, and decides what they meet."""
