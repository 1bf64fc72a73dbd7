"""HTTP only: parse, call, reply."""
