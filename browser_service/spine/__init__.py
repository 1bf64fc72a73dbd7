"""The front half of the spine: every call passes here, and no live page does."""
