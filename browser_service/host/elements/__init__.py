"""Finds elements by selectors, acts on them, and explains failures."""
