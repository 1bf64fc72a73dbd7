"""A reply becomes text here, once, for every kind of caller."""
