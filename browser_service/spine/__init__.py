"""Is the front half of the spine, through which every call passes, and no live page."""
