"""HTTP: parses a request, calls the spine, and sends the reply."""
