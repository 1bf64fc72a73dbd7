"""Finds or starts the browser service, proves to it who calls, and calls it."""
