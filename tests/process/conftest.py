"""Provides services, processes and browsers for each test alone."""

from tests.support.sharing import start

__all__ = ["start"]
