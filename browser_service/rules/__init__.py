"""Rules without a browser: pure data and decisions, with the clock handed in."""
