"""Decides without a browser or an event loop: the clock is handed in, and the waiting is in `waits`."""
