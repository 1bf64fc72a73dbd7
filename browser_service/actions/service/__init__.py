"""Handles actions that touch no browser: each handler asks the service itself."""
