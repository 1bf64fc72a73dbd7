"""JSON, as tests write it and look into it."""

from typing import Any

AnyJson = Any
"""Any: a test reads as deep as it likes, and what is not there fails it."""
