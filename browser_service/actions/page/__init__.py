"""Handlers of the actions on pages and sessions. Each holds only Playwright."""
