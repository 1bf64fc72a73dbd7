"""What tests and the service say to each other, recorded and compared: a change of structure changes none of it.

    BROWSE_GOLDENS=record:/tmp/before .venv/bin/python -m pytest tests/actions      # and the same again: /tmp/before2
    BROWSE_GOLDENS=record:/tmp/after .venv/bin/python -m pytest tests/actions       # after the change
    .venv/bin/python -m tests.support.goldens compare /tmp/before /tmp/before2 /tmp/after

Recordings depend on httpx, the MCP client and pytest alone, and on nothing of the product: the same recorder serves
before and after. What differs between recordings of the same tree is not compared.
"""
