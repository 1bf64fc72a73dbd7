"""The fixtures of the tests of sharing serve here too."""

from tests.service.conftest import start

__all__ = ["start"]
