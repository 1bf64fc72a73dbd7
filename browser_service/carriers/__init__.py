"""The link between the front and hosts elsewhere, which dial in: the messages, and both of its ends."""
