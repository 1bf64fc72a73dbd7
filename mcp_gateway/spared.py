"""Lets a gateway skip unneeded imports, for which a chat would wait."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module

from browse_together.contract.absent import CRYPTOGRAPHY, HTTPX_COMMAND, RICH, absent, apart


@contextmanager
def spared() -> Iterator[None]:
    """Within the block, replace unneeded imports: command line, colours, and the SDK's client and framework."""
    apart("mcp", "mcp.server")
    with absent(CRYPTOGRAPHY):
        import_module("browse_together.client.credentials")
    with absent(HTTPX_COMMAND, RICH):
        yield
