"""Serves tools as JSON lines: one message on each line of stdin and stdout, whatever the tools do.

It knows neither the browser nor the service, so that other programs can serve their tools by it.
"""
