"""The stdio wire: a launcher answers a chat's host at once, and passes the rest to who serves the chat."""
