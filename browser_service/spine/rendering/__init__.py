"""Makes text of a reply, in one place for every kind of caller."""
