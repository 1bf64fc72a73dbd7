"""Rules without a browser or an event loop: data and decisions, with the clock handed in. Waiting stands in `waits`."""
