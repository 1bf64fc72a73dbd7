"""Spells moments for replies."""

from datetime import UTC, datetime


def iso(at: datetime | float, precision: str = "milliseconds") -> str:
    """Return a UTC moment in ISO 8601 with a Z; a number means seconds since 1970."""
    moment = at if isinstance(at, datetime) else datetime.fromtimestamp(at, UTC)
    return moment.isoformat(timespec=precision).replace("+00:00", "Z")
