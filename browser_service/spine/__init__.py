"""The front half of the spine. Every call passes through it, but no live page does."""
