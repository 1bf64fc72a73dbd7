"""Actions on pages and sessions: each handler holds only Playwright."""
