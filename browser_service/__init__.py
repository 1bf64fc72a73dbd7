"""Owns the browser's pages, and offers them over HTTP."""
