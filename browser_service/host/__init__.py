"""All code that touches a live page."""
