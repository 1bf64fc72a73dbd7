"""Makes a replay: one HTML file of what was done, which needs no service and no network."""
