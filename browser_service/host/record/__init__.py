"""What lasts of a page, whichever tab is behind it: its record, its life, its settings, and what is kept of it."""
