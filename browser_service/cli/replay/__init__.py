"""Makes a replay: one HTML file of past acts, which needs no service and no network."""
