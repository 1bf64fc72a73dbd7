"""The stdio wire. A launcher answers a chat's host at once, and passes the rest to the process that serves the chat."""
