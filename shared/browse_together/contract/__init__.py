"""The contract between gateway, service and all other clients, using only pydantic and the standard library."""
