"""Live tabs: what happens in each, what is observed of an act, and what is recorded."""
