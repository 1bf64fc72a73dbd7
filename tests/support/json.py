"""Types JSON as tests write and read it."""

from typing import Any

AnyJson = Any
"""JSON as Any, because a test reads as deep as it likes, and fails where something is missing."""
