"""Has a gateway imported without what it does not use, for which a chat would wait."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module

from shared.absent import CRYPTOGRAPHY, HTTPX_COMMAND, RICH, absent, apart


@contextmanager
def spared() -> Iterator[None]:
    """Import within the block no command line, no colours, and of the SDK neither its client nor its own framework."""
    apart("mcp", "mcp.server")
    with absent(CRYPTOGRAPHY):
        import_module("client.credentials")
    with absent(HTTPX_COMMAND, RICH):
        yield
