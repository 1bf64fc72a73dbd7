"""The contract between gateway, service and every other client: pydantic and the standard library only."""
