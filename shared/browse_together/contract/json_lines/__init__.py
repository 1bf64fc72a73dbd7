"""Serves any tools as JSON lines: one message on each line of stdin and stdout. It knows neither the browser nor the
service, so other programs can serve their tools with it."""
