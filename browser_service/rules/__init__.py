"""Rules that need neither browser nor event loop. They are given a clock; the module `waits` does the waiting."""
