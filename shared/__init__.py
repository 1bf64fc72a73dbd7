"""Declares the contract between gateway, service and every other client, with pydantic and the standard library
only."""
