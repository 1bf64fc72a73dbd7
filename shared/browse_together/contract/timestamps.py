"""Formats points in time for replies."""

from datetime import UTC, datetime


def iso(at: datetime | float, precision: str = "milliseconds") -> str:
    """Return a UTC time in ISO 8601 with a Z. A number means seconds since 1970."""
    time = at if isinstance(at, datetime) else datetime.fromtimestamp(at, UTC)
    return time.isoformat(timespec=precision).replace("+00:00", "Z")
