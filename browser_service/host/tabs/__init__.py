"""Live tabs, and what is observed in each while acts run there."""
