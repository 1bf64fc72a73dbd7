"""Services, processes and browsers of each test's own."""

from tests.support.sharing import start

__all__ = ["start"]
