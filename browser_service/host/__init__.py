"""All that touches a live page."""
