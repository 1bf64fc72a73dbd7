"""Holds all that touches a live page."""
