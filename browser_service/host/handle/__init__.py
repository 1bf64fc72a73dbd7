"""What a handler is given of a page or a session."""
