"""Makes text of a reply, once, for every kind of caller."""
