"""Who may call, what, and where to."""
