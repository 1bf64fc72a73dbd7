"""Handles the actions on pages and sessions: each handler holds only Playwright."""
